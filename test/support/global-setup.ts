// Starts what tests ask for, once a run and only when asked: a file of pure tests waits for no server.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isAlive } from '../../stack/child.js';
import { startTemporal } from '../../stack/temporal.js';
import { findTemporalCli, findTimeSkippingServer } from '../../stack/temporal-binaries.js';
import { databases } from './databases.js';
import { KEPT_BY_CLIENTS } from './keep-alive.js';

declare module 'vitest' {
  interface ProvidedContext {
    services: string;
  }
}

export type ServiceName = 'database' | 'empty-database' | 'temporal' | 'temporal-cli-path' | 'time-skipping-server-path';

/** Shared between runs: the programs are 240 MB. */
const binDir = resolve(import.meta.dirname, '../../.barista/bin');

const DATA_DIR_PREFIX = 'barista-test-';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  removeLeftovers();
  const dataDir = mkdtempSync(join(tmpdir(), `${DATA_DIR_PREFIX}${process.pid}-`));
  const stops: (() => Promise<void>)[] = [() => Promise.resolve(rmSync(dataDir, { recursive: true, force: true }))];

  const temporalCli = once(() => findTemporalCli({ binDir }));
  const timeSkippingServer = once(async () => guarded(await findTimeSkippingServer({ binDir }), dataDir));
  const database = once(async () => {
    const service = await databases(dataDir);
    stops.unshift(service.stop);
    return service;
  });
  const temporal = once(async () => {
    if (process.env.TEMPORAL_ADDRESS) return process.env.TEMPORAL_ADDRESS;
    const server = await startTemporal({ dataDir, inMemory: true, ui: false, cliPath: await temporalCli() });
    stops.unshift(server.stop);
    return server.address;
  });
  const services: Record<ServiceName, () => Promise<string>> = {
    database: async () => (await database()).create(),
    'empty-database': async () => (await database()).createEmpty(),
    temporal,
    'temporal-cli-path': temporalCli,
    'time-skipping-server-path': timeSkippingServer,
  };

  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const [, key, name] = request.url!.split('/');
    const service = services[name as ServiceName];
    if (key !== secret || !service) return response.writeHead(404).end();
    service().then(
      (answer) => response.end(answer),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.keepAliveTimeout = KEPT_BY_CLIENTS;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('services', `http://127.0.0.1:${(server.address() as AddressInfo).port}/${secret}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    for (const stop of stops) await stop();
  };
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= start());
}

/**
 * A program that runs `server` and ends it with whoever started it. The SDK starts the time-skipping server from a
 * test's own process, and leaves it behind when that process is killed.
 */
function guarded(server: string, dir: string): string {
  const file = join(dir, 'time-skipping-server');
  const script = `#!/bin/sh
'${server}' "$@" &
child=$!
trap 'kill "$child"' INT TERM
( while kill -0 "$PPID" && kill -0 "$$" && kill -0 "$child"; do sleep 1; done; kill "$child" ) 2>/dev/null >&2 &
wait "$child"
`;
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}

/** The folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${DATA_DIR_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

// Starts what tests ask for, once a run and only when asked: a file of pure tests waits for no server.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTemporal } from '../../stack/temporal.js';
import { findTemporalCli, findTimeSkippingServer } from '../../stack/temporal-binaries.js';
import { databases } from './databases.js';

declare module 'vitest' {
  interface ProvidedContext {
    services: string;
  }
}

export type ServiceName = 'database' | 'empty-database' | 'temporal' | 'temporal-cli-path' | 'time-skipping-server-path';

/** Shared between runs: the programs are 240 MB. */
const binDir = resolve(import.meta.dirname, '../../.barista/bin');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'barista-test-'));
  const stops: (() => Promise<void>)[] = [() => Promise.resolve(rmSync(dataDir, { recursive: true, force: true }))];

  const temporalCli = once(() => findTemporalCli({ binDir }));
  const timeSkippingServer = once(() => findTimeSkippingServer({ binDir }));
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

// 25 reviewers submit at once in one room while 25 others poll it: results, never times.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastLogLines, startChild, type Child } from '../../stack/child.js';
import { freePort } from '../../stack/ports.js';
import { startWorld, type World } from '../support/world.js';
import { PATIENCE } from '../support/patience.js';
import { temporalCliPath } from '../support/services.js';
import { crowd, everybodyAtOnce } from './crowd.js';

describe('25 submit at once while 25 others read', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  test('on one server', async () => {
    await everybodyAtOnce(world, await crowd(world, 'one'), [world.server.url]);
  });

  test('on two servers', async () => {
    const other = await world.anotherServer();
    await everybodyAtOnce(world, await crowd(world, 'two'), [world.server.url, other.url]);
  });
});

describe('on a Temporal server as it comes, which takes 10 Updates of a room at once and no more', () => {
  let temporal: PlainTemporal;
  let world: World;
  beforeAll(async () => {
    temporal = await startPlainTemporal();
    world = await startWorld({ temporal: temporal.address });
  });
  afterAll(async () => {
    await world.stop();
    await temporal.stop();
  });

  test('two servers stay within that: 25 submit while 25 others read', async () => {
    const other = await world.anotherServer();
    await everybodyAtOnce(world, await crowd(world, 'plain'), [world.server.url, other.url]);
  });
});

interface PlainTemporal {
  readonly address: string;
  stop(): Promise<void>;
}

/** Temporal's dev server with none of the settings that `npm start` gives it. */
async function startPlainTemporal(): Promise<PlainTemporal> {
  const dir = mkdtempSync(join(tmpdir(), 'barista-plain-'));
  const logFile = join(dir, 'temporal.log');
  const command = await temporalCliPath();
  const deadline = performance.now() + PATIENCE.timeout;
  for (;;) {
    const port = String(await freePort());
    const child: Child = await startChild({
      command,
      args: ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', port, '--log-level', 'error'],
      stopSignal: 'SIGTERM',
      logFile,
    });
    const address = `127.0.0.1:${port}`;
    if (await answers(child, address, deadline)) {
      return {
        address,
        async stop() {
          await child.stop();
          rmSync(dir, { recursive: true, force: true });
        },
      };
    }
    await child.stop();
    // It ended, as where its port went to somebody else meanwhile.
    expect(performance.now(), lastLogLines(logFile)).toBeLessThan(deadline);
  }
}

/** False: it ended, or the deadline has passed. */
async function answers(child: Child, address: string, deadline: number): Promise<boolean> {
  let ended = false;
  void child.exited.then(() => (ended = true));
  while (!ended && performance.now() < deadline) {
    const connecting = Connection.connect({ address, connectTimeout: PATIENCE.timeout });
    const connection = await Promise.race([connecting.catch(() => null), child.exited.then(() => null)]);
    if (connection !== null) {
      await connection.close();
      return true;
    }
    await delay(PATIENCE.interval);
  }
  return false;
}

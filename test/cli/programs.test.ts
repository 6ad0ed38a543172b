import { afterEach, expect, test } from 'vitest';
import { createEmptyDatabase, temporalAddress } from '../support/services.js';
import { barista, firstJson, start, type Running } from '../support/command.js';

let started: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGTERM');
    await ended;
  }
  started = [];
});

test('migrate, server and worker make a stack of a database and a Temporal that are given, and end on SIGTERM', async () => {
  const env = { DATABASE_URL: await createEmptyDatabase(), TEMPORAL_ADDRESS: await temporalAddress(), PORT: '0', LOG_LEVEL: 'warn' };
  const migrated = await barista(['migrate', '--json'], env);
  expect(firstJson(migrated.out).applied).toContain('0001_init');
  const server = start(['server', '--json'], env);
  const worker = start(['worker', '--json'], env);
  started = [server, worker];
  const { url } = await server.saw(firstJson);
  expect(await worker.saw(firstJson)).toEqual({ ready: true });
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ ready: true, database: true, temporal: true });
  for (const { child, ended } of started) {
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, err: '' });
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

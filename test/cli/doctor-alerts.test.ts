import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEdge, type Edge } from '../support/edge.js';
import { ProjectedRoom } from '../support/store.js';
import { barista, firstJson } from '../support/command.js';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

/** What doctor says of alerts; its other checks are not what is tested here. */
async function said(env: Record<string, string>, check = 'alerts'): Promise<{ ok: boolean; says: string }> {
  const { out } = await barista(['doctor', '--json'], { DATABASE_URL: edge.databaseUrl, BARISTA_URL: edge.server.url, ...env });
  return firstJson(out).checks.find(({ what }: { what: string }) => what === check);
}

test('B29: doctor shows where alerts go, and the secret that a receiver needs before the first of them', async () => {
  expect(await said({})).toMatchObject({ ok: true, says: expect.stringContaining('BARISTA_NOTIFY_URL is not set') });
  const url = { BARISTA_NOTIFY_URL: 'https://hooks.example.com/token-in-path' };
  const kept = await said(url);
  expect(kept).toMatchObject({ ok: true, says: `sent to https://hooks.example.com, signed with ${await edge.store.alerts.secret()}` });
  const own = await said({ ...url, BARISTA_NOTIFY_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}` });
  expect(own.says).toBe('sent to https://hooks.example.com, signed with BARISTA_NOTIFY_SECRET');
  expect(await said({ BARISTA_NOTIFY_URL: 'hooks' }, 'settings')).toMatchObject({
    ok: false,
    says: expect.stringMatching(/^BARISTA_NOTIFY_URL must be/),
  });
});

test('B29: doctor says that a receiver does not take them', async () => {
  const room = await ProjectedRoom.open(edge.store, 'refused', { barista: true });
  const at = Date.now() - 60_000;
  await room.act((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
  const { from, events } = room.outbox;
  await edge.store.project(room.slug, { from, events: events.map((event) => ({ ...event, at })) });
  expect(await edge.store.alerts.claim(Date.now() + 60_000, 0)).not.toBeNull();
  const { ok, says } = await said({ BARISTA_NOTIFY_URL: 'https://hooks.example.com' });
  expect({ ok, says }).toEqual({ ok: false, says: 'https://hooks.example.com has not taken 1 of them yet; they are sent again' });
});

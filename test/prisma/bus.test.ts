import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDatabaseAway } from '../../prisma/store.js';
import { Gate } from '../support/gate.js';
import { openRow, testStore, type TestStore } from '../support/store.js';

let db: TestStore;
beforeAll(async () => {
  db = await testStore();
});
afterAll(() => db[Symbol.asyncDispose]());

const olga = { id: 'us_olga', name: 'olga' };

test('DESIGN 4: a message posted by one server wakes a waiter of another', async () => {
  const { slug } = await openRow(db.store, 'wake');
  const other = db.second();
  let checks = 0;
  const waited = db.store.bus.waitFor(slug, async () => (checks++, (await db.store.messages.list(slug, 0)).messages[0] ?? null), {
    timeoutMs: 10_000,
  });
  await expect.poll(() => checks).toBeGreaterThan(1); // the first look, and one when listening began
  const started = performance.now();
  await other.messages.post(slug, { from: olga, text: 'hello', mentions: [] });
  expect((await waited)?.text).toBe('hello');
  expect(performance.now() - started).toBeLessThan(4_500); // a wake-up, not the look every 5 s
});

test('DESIGN 4: what happens while the check runs is not missed', async () => {
  const { slug } = await openRow(db.store, 'during');
  await db.store.bus.waitFor(slug, () => Promise.resolve(true), { timeoutMs: 0 }); // the connection listens
  let looks = 0;
  const started = performance.now();
  const found = await db.store.bus.waitFor(
    slug,
    async () => {
      const seen = await db.store.messages.lastId(slug);
      if (looks++ === 1) await db.store.messages.post(slug, { from: olga, text: 'in between', mentions: [] });
      return seen || null;
    },
    { timeoutMs: 20_000 },
  );
  expect(found).toBe(1);
  expect(performance.now() - started).toBeLessThan(9_500); // a wake-up at the second look, which comes after 5 s
});

test('a wait ends with null when its time is over, and at once when aborted', async () => {
  const { slug } = await openRow(db.store, 'over');
  const nothing = (): Promise<null> => Promise.resolve(null);
  expect(await db.store.bus.waitFor(slug, nothing, { timeoutMs: 30 })).toBeNull();
  const abort = new AbortController();
  const waited = db.store.bus.waitFor(slug, nothing, { timeoutMs: 10_000, signal: abort.signal });
  abort.abort(new Error('the caller left'));
  await expect(waited).rejects.toThrow('the caller left');
  await expect(db.store.bus.waitFor(slug, nothing, { timeoutMs: 10, signal: abort.signal })).rejects.toThrow('the caller left');
});

test('what a check throws of its own ends the wait', async () => {
  await expect(db.store.bus.waitFor('none', () => Promise.reject(new Error('ours')), { timeoutMs: 5_000 })).rejects.toThrow('ours');
});

test('DESIGN 4: a database that goes away and comes back costs a waiter nothing but time', async () => {
  const { slug } = await openRow(db.store, 'away');
  await using gate = await Gate.before(() => db.url);
  const cut = db.second(gate.url);
  let checks = 0;
  const waited = cut.bus.waitFor(slug, async () => (checks++, (await cut.messages.lastId(slug)) || null), { timeoutMs: 30_000 });
  await expect.poll(() => checks).toBeGreaterThan(1);
  gate.close();
  await expect(cut.ping()).rejects.toThrow();
  // Said while nobody listens: found because all look again after a reconnect.
  await db.store.messages.post(slug, { from: olga, text: 'while you were away', mentions: [] });
  gate.open();
  expect(await waited).toBe(1);
  expect(await cut.rooms.seq(slug)).toBe(0);
});

test('while the database stays away the wait is over in time and says why', async () => {
  await using gate = await Gate.before(() => db.url);
  const cut = db.second(gate.url);
  await cut.ping();
  gate.close();
  await expect(cut.bus.waitFor('any', () => cut.rooms.seq('any'), { timeoutMs: 300 })).rejects.toThrow();
});

test('DESIGN 4: a database to whose host there is no way is away, as is one whose name cannot be looked up just now', async () => {
  const nowhere = db.second('postgresql://nobody:none@255.255.255.255:5432/none');
  const failed = (read: Promise<unknown>) => read.catch((error: unknown) => error);
  const failures = await Promise.all([nowhere.rooms.seq('any'), nowhere.rooms.snapshot('any'), nowhere.ping()].map(failed));
  expect(failures.map(isDatabaseAway)).toEqual([true, true, true]);
  expect(isDatabaseAway(Object.assign(new Error('getaddrinfo EAI_AGAIN db'), { code: 'EAI_AGAIN' }))).toBe(true);
  // What Node says where a name has several addresses.
  expect(isDatabaseAway(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe(true);
  expect(isDatabaseAway(Object.assign(new Error('spawn git ENOENT'), { code: 'ENOENT' }))).toBe(false);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isDatabaseAway } from '../../prisma/store.js';
import { Gate } from '../support/gate.js';
import { query } from '../support/query.js';
import { soon, TOO_LATE_MS } from '../support/soon.js';
import { openRow, testStore, type TestStore } from '../support/store.js';

let db: TestStore;
beforeAll(async () => {
  // Whoever is not woken looks too late.
  db = await testStore({ lookEveryMs: TOO_LATE_MS });
});
afterAll(() => db[Symbol.asyncDispose]());

const olga = { id: 'us_olga', name: 'olga' };
const patient = { timeoutMs: TOO_LATE_MS };

test('DESIGN 4: a message posted by one server wakes a waiter of another', async () => {
  const { slug } = await openRow(db.store, 'wake');
  const [own, other] = [db.second(), db.second()];
  let checks = 0;
  const waited = own.bus.waitFor(slug, async () => (checks++, (await own.messages.list(slug, 0)).messages[0] ?? null), patient);
  await expect.poll(() => checks).toBeGreaterThan(1); // the first look, and one when listening began
  await other.messages.post(slug, { from: olga, text: 'hello', mentions: [] });
  expect((await soon(waited))?.text).toBe('hello');
});

test('DESIGN 4: what happens while the check runs is not missed', async () => {
  const { slug } = await openRow(db.store, 'during');
  const [own, other] = [db.second(), db.second()];
  const newest = async () => (await own.messages.lastId(slug)) || null;
  let [looks, others] = [0, 0];
  let woken: Promise<number | null> | undefined;
  const found = own.bus.waitFor(
    slug,
    async () => {
      const seen = await newest();
      // The second look comes as listening begins: from now on every wake-up is heard.
      if (looks++ === 1) {
        woken = own.bus.waitFor(slug, async () => newest().finally(() => others++), patient);
        await expect.poll(() => others).toBe(1); // it waits for what comes next
        await other.messages.post(slug, { from: olga, text: 'in between', mentions: [] });
        await woken; // so the wake-up has come, and this look has missed what it tells of
      }
      return seen;
    },
    patient,
  );
  expect([await soon(found), await woken]).toEqual([1, 1]);
});

test('DESIGN 4: what no wake-up tells of is found all the same, by looking again', async () => {
  await using often = await testStore({ lookEveryMs: 20 });
  const { slug } = await openRow(often.store, 'silent');
  let looks = 0;
  const found = often.store.bus.waitFor(slug, async () => (looks++, (await often.store.messages.lastId(slug)) || null), patient);
  await expect.poll(() => looks).toBeGreaterThan(2); // more than at first, and as listening began
  await query(often.url, `UPDATE rooms SET last_message_id = 7 WHERE slug = '${slug}'`);
  expect(await soon(found)).toBe(7);
});

test('a wait ends with null when its time is over, and at once when aborted', async () => {
  const { slug } = await openRow(db.store, 'over');
  const nothing = (): Promise<null> => Promise.resolve(null);
  expect(await db.store.bus.waitFor(slug, nothing, { timeoutMs: 30 })).toBeNull();
  const abort = new AbortController();
  const waited = db.store.bus.waitFor(slug, nothing, { ...patient, signal: abort.signal });
  abort.abort(new Error('the caller left'));
  await expect(waited).rejects.toThrow('the caller left');
  await expect(db.store.bus.waitFor(slug, nothing, { timeoutMs: 10, signal: abort.signal })).rejects.toThrow('the caller left');
});

test('what a check throws of its own ends the wait', async () => {
  await expect(db.store.bus.waitFor('none', () => Promise.reject(new Error('ours')), patient)).rejects.toThrow('ours');
});

test('DESIGN 4: a database that goes away and comes back costs a waiter nothing but time', async () => {
  const { slug } = await openRow(db.store, 'away');
  await using gate = await Gate.before(() => db.url);
  const cut = db.second(gate.url);
  let checks = 0;
  const waited = cut.bus.waitFor(slug, async () => (checks++, (await cut.messages.lastId(slug)) || null), patient);
  await expect.poll(() => checks).toBeGreaterThan(1);
  gate.close();
  await expect(cut.ping()).rejects.toThrow();
  // Said while nobody listens: found because all look again after a reconnect.
  await db.store.messages.post(slug, { from: olga, text: 'while you were away', mentions: [] });
  gate.open();
  expect(await soon(waited)).toBe(1);
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

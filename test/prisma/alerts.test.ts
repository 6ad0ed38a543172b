import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownerTopic, type Store } from '../../prisma/store.js';
import { soon, TOO_LATE_MS } from '../support/soon.js';
import { ProjectedRoom, testStore, type TestStore } from '../support/store.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let db: TestStore;
beforeAll(async () => {
  // Whoever is not woken looks too late.
  db = await testStore({ lookEveryMs: TOO_LATE_MS });
});
afterAll(() => db[Symbol.asyncDispose]());

const ownerOf = async (store: Store): Promise<string> => (await store.accounts.users()).find(({ name }) => name === 'olga')!.id;

/** A room whose idle time runs out without a review. */
async function neglected(name: string): Promise<ProjectedRoom> {
  const room = await ProjectedRoom.open(db.store, name, { barista: true });
  return room.do((r) => r.join('ana').open('ana').after(30).emit({ type: 'IdleRanOut', number: 1 }));
}

const alertsOf = async (slug: string) => (await db.store.alerts.list(await ownerOf(db.store), 0)).filter(({ room }) => room === slug);

test('B29: an alert is written once with its event, whoever projects it and however often', async () => {
  const room = await ProjectedRoom.open(db.store, 'once', { barista: true });
  await room.do((r) => r.join('ana').open('ana'));
  const outbox = await room.act((r) => r.after(30).emit({ type: 'IdleRanOut', number: 1 }));
  const other = db.second();
  await Promise.all([db.store, other, db.store, other].map((store) => store.project(room.slug, outbox)));
  await db.store.project(room.slug, { from: 0, events: room.room.events });
  const [alert, ...more] = await alertsOf(room.slug);
  expect(more).toEqual([]);
  expect(alert).toMatchObject({ kind: 'no_review', round: 1, link: `/rooms/${room.slug}`, at: room.room.now });
  expect(alert!.id).toMatch(/^al_[\w-]{22}$/);
});

test('B29: a projection that fails writes no alert', async () => {
  const room = await ProjectedRoom.open(db.store, 'fails', { barista: true });
  const { events } = await room.act((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
  await expect(
    db.store.project(room.slug, { from: 1, events: [...events, events[0]!, { type: 'RoomOpened' } as never] }),
  ).rejects.toThrow();
  expect(await alertsOf(room.slug)).toEqual([]);
});

test("B29: an owner's alerts have one order however many rooms write at once, and whoever waits is woken", async () => {
  const owner = await ownerOf(db.store);
  const before = await db.store.alerts.newest(owner);
  const rooms = await Promise.all(
    ['p', 'q', 'r', 's'].map(async (name) => {
      const room = await ProjectedRoom.open(db.store, `order-${name}`, { barista: true });
      await room.act((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
      return room;
    }),
  );
  const woken = db
    .second()
    .bus.waitFor(
      ownerTopic(owner),
      async () => ((await db.store.alerts.list(owner, before?.position ?? 0)).length === rooms.length ? true : null),
      { timeoutMs: TOO_LATE_MS },
    );
  await Promise.all(rooms.map((room) => room.flush()));
  expect(await soon(woken)).toBe(true);
  const after = await db.store.alerts.list(owner, before?.position ?? 0);
  expect(after.map(({ position }) => position)).toEqual(after.map((_, index) => (before?.position ?? 0) + 1 + index));
  expect(new Set(after.map(({ room }) => room))).toEqual(new Set(rooms.map(({ slug }) => slug)));
  expect(await db.store.alerts.newest(owner)).toEqual(after.at(-1));
});

test("B29: another owner's alerts are not in the list, and their ids are unknown", async () => {
  const room = await neglected('private');
  const oscar = await db.store.accounts.addUser('oscar');
  const [alert] = await alertsOf(room.slug);
  expect(await db.store.alerts.list(oscar.id, 0)).toEqual([]);
  expect(await db.store.alerts.newest(oscar.id)).toBeNull();
  expect(await db.store.alerts.positionOf(oscar.id, alert!.id)).toBeNull();
  expect(await db.store.alerts.positionOf(await ownerOf(db.store), alert!.id)).toBe(alert!.position);
});

test('B29: of notifiers at once each takes another alert, and one that died gives its own back', async () => {
  await using fresh = await testStore();
  const { store, clock } = fresh;
  for (const name of ['a', 'b', 'c']) {
    const room = await ProjectedRoom.open(store, name, { barista: true });
    await room.do((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
  }
  clock.at += MINUTE;
  const claim = (from: Store) => from.alerts.claim(clock.at + MINUTE, clock.at - DAY);
  const other = fresh.second();
  const taken = await Promise.all([store, other, store, other, store].map(claim));
  const ids = taken.flatMap((alert) => alert?.id ?? []);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toHaveLength(3);

  const [first, second, third] = taken.flatMap((alert) => alert ?? []);
  await store.alerts.delivered(first!.id);
  await store.alerts.failed(second!, null);
  expect(await claim(other)).toBeNull();
  clock.at += MINUTE;
  expect(await store.alerts.refused()).toBe(1);
  const again = await claim(other);
  expect(again).toMatchObject({ id: third!.id, tries: 2 });
  // The one that was thought dead comes back: what it says of its own try is of no use any more.
  await store.alerts.failed(third!, clock.at);
  expect(await claim(store)).toBeNull();
  await other.alerts.failed(again!, clock.at);
  expect(await claim(store)).toMatchObject({ id: third!.id, tries: 3 });
});

test('B29: an alert of more than a day ago is not sent any more', async () => {
  await using fresh = await testStore();
  const room = await ProjectedRoom.open(fresh.store, 'old', { barista: true });
  await room.do((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
  fresh.clock.at += DAY + 1;
  expect(await fresh.store.alerts.claim(fresh.clock.at + MINUTE, fresh.clock.at - DAY)).toBeNull();
});

test('B29: the secret is made once, whichever process needs it first', async () => {
  const secrets = await Promise.all([db.store, db.second(), db.store].map((store) => store.alerts.secret()));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});

import { on } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_REPOSITORY_SETTINGS, FORGES_TOPIC, type RepositorySettings } from '../../prisma/store.js';
import { testStore, type TestStore } from '../support/store.js';

let db: TestStore;
let olga: { id: string };
let adam: { id: string };
beforeAll(async () => {
  db = await testStore();
  olga = await db.store.accounts.addUser('olga');
  adam = await db.store.accounts.addUser('adam');
});
afterAll(() => db[Symbol.asyncDispose]());

const place = (id: number) => ({
  forge: 'github' as const,
  repository: `github:github.com/${id}`,
  url: `https://github.com/acme/shop-${id}`,
});
const automatic = { recipe: 'panel' as const, crew: ['ag_1', 'ag_2'], barista: true, label: 'review' };
const set = (settings: Partial<RepositorySettings>): RepositorySettings => ({ ...DEFAULT_REPOSITORY_SETTINGS, ...settings });

test('a repository has its defaults until its owner sets something, and each owner its own', async () => {
  const { repositories } = db.store;
  expect(await repositories.settings(olga.id, 'github', place(1).repository)).toEqual(DEFAULT_REPOSITORY_SETTINGS);
  await repositories.keep(olga.id, place(1), set({ automatic, postAs: 'operator' }));
  await repositories.keep(olga.id, place(1), set({ automatic, commentInstead: true }));
  expect(await repositories.ofOwner(olga.id)).toEqual([{ ...place(1), settings: set({ automatic, commentInstead: true }) }]);
  expect(await repositories.settings(adam.id, 'github', place(1).repository)).toEqual(DEFAULT_REPOSITORY_SETTINGS);
});

test('automatic rooms are those of every owner that turned them on, of this repository of this forge', async () => {
  const { repositories } = db.store;
  for (const { id } of [olga, adam]) await repositories.keep(id, place(2), set({ automatic }));
  await repositories.keep(olga.id, place(3), set({ commentInstead: true }));
  expect((await repositories.automatic('github', place(2).repository)).map(({ owner }) => owner.name)).toEqual(['adam', 'olga']);
  expect(await repositories.automatic('gitlab', place(2).repository)).toEqual([]);
  expect(await repositories.automatic('github', place(3).repository)).toEqual([]);
  await repositories.keep(olga.id, place(2), set({ automatic: null }));
  expect((await repositories.automatic('github', place(2).repository)).map(({ rooms }) => rooms)).toEqual([automatic]);
});

test('trouble keeps its beginning while it is of one kind, and each identity has its own', async () => {
  const { forgeStates } = db.store;
  const { repository } = place(4);
  const trouble = { identity: 'operator' as const, kind: 'unavailable' as const, message: 'busy', since: 1_000, until: 61_000 };
  await forgeStates.troubled('github', repository, trouble);
  await forgeStates.troubled('github', repository, { ...trouble, since: 2_000, message: 'still busy', until: null });
  await forgeStates.troubled('github', repository, { ...trouble, identity: 'reviewer', kind: 'refused', since: 3_000, until: null });
  expect(await forgeStates.of('github', repository)).toEqual([
    { ...trouble, message: 'still busy', until: null },
    { ...trouble, identity: 'reviewer', kind: 'refused', since: 3_000, until: null },
  ]);
  await forgeStates.troubled('github', repository, { ...trouble, kind: 'refused', since: 4_000 });
  await forgeStates.mended('github', repository, 'reviewer');
  await forgeStates.mended('github', repository, 'reviewer');
  expect(await forgeStates.of('github', repository)).toEqual([{ ...trouble, kind: 'refused', since: 4_000 }]);
});

test('a part that is shut out by itself has a trouble of its own, which the whole being mended does not end', async () => {
  const { forgeStates } = db.store;
  const { repository } = place(5);
  const trouble = { identity: 'operator' as const, kind: 'refused' as const, message: 'suspended', since: 1_000, until: null };
  const ofCi = { ...trouble, part: 'ci' as const, message: 'lacks checks=read' };
  for (const each of [trouble, ofCi]) await forgeStates.troubled('github', repository, each);
  await forgeStates.mended('github', repository, 'operator');
  expect(await forgeStates.of('github', repository)).toEqual([ofCi]);
  await forgeStates.mended('github', repository, 'operator', 'ci');
  expect(await forgeStates.of('github', repository)).toEqual([]);
});

test('a limit is known by its latest end to whoever asks, and is no trouble of a repository', async () => {
  const { forgeStates } = db.store;
  const { repository } = place(6);
  const trouble = { identity: 'reviewer' as const, kind: 'unavailable' as const, message: 'waiting', since: 1_000, until: 61_000 };
  await forgeStates.troubled('github', repository, trouble);
  for (const until of [50_000, 90_000, 70_000]) await forgeStates.limited({ forge: 'github', name: 'api app 1', until });
  const { troubles, limits } = await forgeStates.all();
  expect(troubles).toContainEqual({ forge: 'github', repository, trouble });
  expect(limits).toEqual([{ forge: 'github', name: 'api app 1', until: 90_000 }]);
});

test('every process is told of what changes, and of nothing that did not', async () => {
  const { forgeStates } = db.store;
  const { repository } = place(7);
  const trouble = { identity: 'operator' as const, kind: 'refused' as const, message: 'suspended', since: 1_000, until: null };
  const listener = new pg.Client({ connectionString: db.url });
  await listener.connect();
  await listener.query('LISTEN barista_room');
  const told = on(listener, 'notification');
  const next = async () => ((await told.next()).value as [{ payload: string }])[0].payload;
  for (const change of [
    () => forgeStates.troubled('github', repository, trouble),
    () => forgeStates.mended('github', repository, 'operator'),
    () => forgeStates.limited({ forge: 'github', name: 'api app 7', until: 1_000 }),
  ]) {
    await change();
    expect(await next()).toBe(FORGES_TOPIC);
  }
  await forgeStates.mended('github', repository, 'operator');
  await listener.query("SELECT pg_notify('barista_room', 'the next')");
  expect(await next()).toBe('the next');
  await listener.end();
});

test('the last delivery is the newest, and what was heard of CI is kept by its newest time', async () => {
  const { deliveries } = db.store;
  expect(await deliveries.last('gitlab')).toBeNull();
  await deliveries.came('gitlab', { id: 'b', what: 'pushed', at: 2_000 });
  await deliveries.came('gitlab', { id: 'a', what: 'opened', at: 1_000 });
  expect(await deliveries.last('gitlab')).toEqual({ id: 'b', what: 'pushed', at: 2_000 });
  await deliveries.ciHeard('github:github.com/1', 'a'.repeat(40), 2_000);
  await deliveries.ciHeard('github:github.com/1', 'a'.repeat(40), 1_000);
  await deliveries.ciHeard('github:github.com/1', 'b'.repeat(40), 1_500);
  await deliveries.sweepCi(2_000);
  expect(await deliveries.ciHeardAt('github:github.com/1', 'a'.repeat(40))).toBe(2_000);
  expect(await deliveries.ciHeardAt('github:github.com/1', 'b'.repeat(40))).toBeNull();
});

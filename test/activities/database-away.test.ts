// One of the two that a room's activities stand on is away: that is never told as the absence of the other.
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createActivities } from '../../activities/index.js';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { DEFAULT_DURATIONS, type PullRequest, type RoomState } from '../../workflows/room/state.js';
import { silent } from '../support/edge.js';
import { Gate } from '../support/gate.js';
import { GitWorld } from '../support/git-world.js';
import { testStore, type TestStore } from '../support/store.js';

let db: TestStore;
let gate: Gate;
let git: GitWorld;
let room: RoomState;
let activities: ReturnType<typeof createActivities>;
beforeAll(async () => {
  db = await testStore();
  gate = await Gate.before(() => db.url);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
});

beforeEach(async (context) => {
  git = new GitWorld();
  gate.open();
  context.onTestFinished(() => git.dispose());
  git.push({ 'a.ts': 'one\n' }, 'Add a');
  const forge = createLocalForge({ allowedRoots: [git.path], now: db.clock.now });
  activities = createActivities({ store: db.second(gate.url), forge, now: db.clock.now, log: silent });
  const ref = await forge.resolve(parsePullRequest(git.pullRequest));
  const pullRequest: PullRequest = { forge: 'local', key: ref.key, repository: ref.repository, url: ref.url };
  const owner = (await db.store.accounts.users())[0] ?? (await db.store.accounts.addUser('olga'));
  const { room: row } = await db.store.rooms.open({ ownerId: owner.id, pullRequest, title: 'a', recipe: 'panel', another: false });
  const { headSha, baseSha, state } = await forge.head(ref);
  const opened = { slug: row.slug, pullRequest, recipe: 'panel', owner, barista: true, durations: DEFAULT_DURATIONS } as const;
  const head = { sha: headSha!, baseSha: baseSha!, state };
  await db.store.project(row.slug, { from: 0, events: [{ type: 'RoomOpened', ...opened, head, at: db.clock.at }] });
  room = (await db.store.rooms.state(row.slug))!;
});

test('N2: the head is read while the database is away', async () => {
  gate.close();
  const sha = git.push({ 'a.ts': 'two\n' }, 'Change a');
  expect(await activities.readHead({ ...room, keep: false })).toMatchObject({ sha, state: 'open' });
});

test('P4: a watch that does not reach the database looks again soon, however often it has looked before', async () => {
  const { slug, pullRequest } = room;
  gate.close();
  const env = new MockActivityEnvironment({ attempt: 500 });
  await expect(env.run(activities.watchHead, { slug, pullRequest, broken: false })).rejects.toMatchObject({
    type: 'database_away',
    nextRetryDelay: 5_000,
  });
});

test('D5: a posting that does not reach the database is tried again soon, and no failure of it is counted', async () => {
  const { slug, pullRequest } = room;
  const env = new MockActivityEnvironment({ attempt: 500, heartbeatDetails: { taken: null, failures: 9 } });
  const told: { failures: number }[] = [];
  env.on('heartbeat', (details) => told.push(details));
  const post = () => env.run(activities.postReview, { slug, pullRequest, version: 1 });
  gate.close();
  await expect(post()).rejects.toMatchObject({ type: 'database_away', nonRetryable: false, nextRetryDelay: 5_000 });
  gate.open();
  await expect(post()).rejects.toMatchObject({ type: 'not_projected', nonRetryable: false });
  // One that takes its time says that it goes on, and no more.
  expect(told.filter(({ failures }) => failures !== 9)).toEqual([]);
});

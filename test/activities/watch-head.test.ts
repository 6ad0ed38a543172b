import { renameSync } from 'node:fs';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { createWatchHead } from '../../activities/watch-head.js';
import type { RoomActivities } from '../../workflows/activities.js';
import { DEFAULT_DURATIONS, type PullRequest } from '../../workflows/room/state.js';
import { silent } from '../support/edge.js';
import { testStore, type TestStore } from '../support/store.js';
import { GitWorld } from '../support/git-world.js';

const MINUTE = 60_000;

let db: TestStore;
let git: GitWorld;
let watchHead: RoomActivities['watchHead'];
let watched: { slug: string; pullRequest: PullRequest };
beforeAll(async () => {
  db = await testStore();
});
afterAll(() => db[Symbol.asyncDispose]());

beforeEach(async (context) => {
  git = new GitWorld();
  context.onTestFinished(() => git.dispose());
  git.push({ 'a.ts': 'one\n' }, 'Add a');
  const forge = createLocalForge({ allowedRoots: [git.path], now: db.clock.now });
  watchHead = createWatchHead({ store: db.store, forge, now: db.clock.now, log: silent });
  const ref = await forge.resolve(parsePullRequest(git.pullRequest));
  const pullRequest: PullRequest = { forge: 'local', key: ref.key, repository: ref.repository, url: ref.url };
  const owner = (await db.store.accounts.users())[0] ?? (await db.store.accounts.addUser('olga'));
  const { room } = await db.store.rooms.open({ ownerId: owner.id, pullRequest, title: 'a', recipe: 'panel', another: false });
  const { headSha, baseSha, state } = await forge.head(ref);
  const opened = { slug: room.slug, pullRequest, recipe: 'panel', owner, barista: true, durations: DEFAULT_DURATIONS } as const;
  const head = { sha: headSha!, baseSha: baseSha!, state };
  await db.store.project(room.slug, { from: 0, events: [{ type: 'RoomOpened', ...opened, head, at: db.clock.at }] });
  watched = { slug: room.slug, pullRequest };
});

/** One attempt after another, each with what the one before left, as the server keeps it. */
function attempts() {
  let details: unknown;
  return async (broken = false): Promise<unknown> => {
    const env = new MockActivityEnvironment({ heartbeatDetails: details });
    env.on('heartbeat', (left) => (details = left));
    try {
      return await env.run(watchHead, { ...watched, broken });
    } catch (error) {
      if (error instanceof ApplicationFailure && error.type === 'not_moved') return 'again';
      throw error;
    }
  };
}

test('B29: a head that cannot be read is looked at again for five minutes, and then told of with its beginning', async () => {
  const attempt = attempts();
  expect(await attempt()).toBe('again');
  renameSync(git.path, `${git.path}.away`);
  const since = db.clock.at;
  try {
    expect(await attempt()).toBe('again');
    db.clock.at += 5 * MINUTE - 1;
    expect(await attempt()).toBe('again');
    db.clock.at += 1;
    expect(await attempt()).toEqual({ brokenSince: since, trouble: 'not_found' });
    // The room knows: nothing more is told while it lasts.
    const knowing = attempts();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      expect(await knowing(true)).toBe('again');
      db.clock.at += MINUTE;
    }
  } finally {
    renameSync(`${git.path}.away`, git.path);
  }
  expect(await attempts()(true)).toMatchObject({ sha: git.git('rev-parse', git.topic), state: 'open' });
});

test('B29: one good read in between, and the five minutes begin anew', async () => {
  const attempt = attempts();
  for (let turn = 0; turn < 3; turn += 1) {
    renameSync(git.path, `${git.path}.away`);
    expect(await attempt()).toBe('again');
    db.clock.at += 4 * MINUTE;
    expect(await attempt()).toBe('again');
    renameSync(`${git.path}.away`, git.path);
    expect(await attempt()).toBe('again');
  }
  git.push({ 'a.ts': 'two\n' }, 'Change a');
  expect(await attempt()).toMatchObject({ sha: git.git('rev-parse', git.topic) });
});

import { inspect } from 'node:util';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Forge, PullRequestRef } from '../../activities/forge/port.js';
import { Troubles } from '../../activities/forge/troubles.js';
import { watchedForge } from '../../activities/forge/watched.js';
import { createGitLabForge } from '../../activities/forge/gitlab/index.js';
import { createWatchHead } from '../../activities/watch-head.js';
import { wireTroubles } from '../../mcp-server/views/troubles.js';
import { createStore, type Store } from '../../prisma/store.js';
import { DEFAULT_DURATIONS } from '../../workflows/room/state.js';
import { silent } from '../support/edge.js';
import { secondaryLimit } from '../support/fake-github/index.js';
import { GitHubWorld, NOON } from '../support/fake-github/world.js';
import { aReview } from '../support/review.js';
import { testStore, type TestStore } from '../support/store.js';
import { GitLabWorld } from './gitlab-world.js';

let db: TestStore;
beforeAll(async () => {
  db = await testStore();
});
afterAll(() => db[Symbol.asyncDispose]());

/** A server or a worker: its own forge, and what it knows of the others. `writes`: what it wrote down, in order. */
interface Process {
  readonly forge: Forge;
  readonly troubles: Troubles;
  readonly writes: string[];
}

function processOn(store: Store, now: () => number, forge: (troubles: Troubles) => Forge): Process {
  const writes: string[] = [];
  const { forgeStates, bus } = store;
  const counted: Store['forgeStates'] = {
    ...forgeStates,
    troubled: (name, repository, trouble) => (writes.push(trouble.message), forgeStates.troubled(name, repository, trouble)),
    mended: (name, repository, identity, part) => (writes.push(`${identity} mended`), forgeStates.mended(name, repository, identity, part)),
  };
  const troubles = new Troubles({ store: { forgeStates: counted, bus }, log: silent, now });
  return { forge: watchedForge(forge(troubles), troubles), troubles, writes };
}

describe('GitHub', () => {
  let world: GitHubWorld;
  let ref: PullRequestRef;
  let stop: AbortController;
  beforeEach(async () => {
    world = await GitHubWorld.start({ reviewer: true });
    world.git.push({ 'a.ts': 'a\n' });
    // A repository of the test's own.
    world.github.repo = { ...world.github.repo, id: world.github.repo.id + Math.floor(Math.random() * 1e9) };
    ref = await world.forge.resolve(world.ref);
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort();
    world.stop();
  });

  const aProcess = (): Process =>
    processOn(
      db.store,
      () => world.now,
      (troubles) => world.again(troubles.heard),
    );
  const states = () => db.store.forgeStates.of('github', ref.repository);
  const review = (marker: string) => aReview({ marker, headSha: world.git.head('topic') });
  const settings = () => `${world.github.urls.web}/organizations/octo-org/settings/installations/110`;

  test('issue 5: a suspended App is a state with where to lift it, written once, and gone with the next call that works', async () => {
    const { forge, troubles, writes } = aProcess();
    await forge.head(ref);
    world.operator.suspended = true;
    for (let minute = 0; minute < 10; minute += 1, world.now += 60_000)
      await expect(forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
    await troubles.written();
    const message = `The GitHub App barista is suspended for octo-org/hello. Lift it at ${settings()}.`;
    expect(await states()).toEqual([
      { identity: 'operator', kind: 'refused', message: expect.stringContaining('is suspended') as string, since: NOON, until: null },
    ]);
    expect((await states())[0]?.message).toBe(message);
    world.operator.suspended = false;
    await forge.head(ref);
    await forge.head(ref);
    await troubles.written();
    expect(await states()).toEqual([]);
    expect(writes.filter((written) => written === 'operator mended')).toHaveLength(1);
    // GitHub words it in two ways: from the token, and from the installation.
    expect(writes.length).toBeLessThanOrEqual(3);
  });

  test('issue 5: a permission that is missing shuts out its own kind of work, and nothing else proves it given', async () => {
    const { forge, troubles } = aProcess();
    delete world.operator.permissions.checks;
    await expect(forge.ci(ref, world.git.head('topic'))).rejects.toMatchObject({ kind: 'refused' });
    await forge.head(ref);
    await troubles.written();
    const message = `The GitHub App barista lacks a permission in octo-org/hello: checks=read. Accept its permissions at ${settings()}.`;
    expect(await states()).toEqual([{ identity: 'operator', part: 'ci', kind: 'refused', message, since: NOON, until: null }]);
    world.operator.permissions.checks = 'read';
    // The token that runs does not get it: a new one does.
    world.now += 60_000;
    await forge.ci(ref, world.git.head('topic'));
    await troubles.written();
    expect(await states()).toEqual([]);
  });

  test('W9: a reviewer App that is not there is its own state, which reading as the operator does not end', async () => {
    const { forge, troubles } = aProcess();
    world.reviewer!.installed = false;
    await expect(forge.post(ref, review('a/1/1'))).rejects.toMatchObject({ kind: 'refused' });
    await forge.head(ref);
    await troubles.written();
    expect(await states()).toMatchObject([
      { identity: 'reviewer', kind: 'refused', message: expect.stringContaining('not installed on octo-org/hello') as string },
    ]);
    world.reviewer!.installed = true;
    await forge.post(ref, review('a/1/1'));
    await troubles.written();
    expect(await states()).toEqual([]);
  });

  test('a key that was revoked is a state; what is not there, or asked wrongly, is none of the repository', async () => {
    const { forge, troubles } = aProcess();
    const gone = { ...ref, number: 999 } as PullRequestRef;
    await expect(forge.head(gone)).rejects.toMatchObject({ kind: 'not_found' });
    await troubles.written();
    expect(await states()).toEqual([]);
    Object.assign(world.operator, { publicKey: world.reviewer!.publicKey, id: 99 });
    const restarted = aProcess();
    await expect(restarted.forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
    await restarted.troubles.written();
    expect(await states()).toMatchObject([
      { identity: 'operator', message: expect.stringContaining('does not take the key of') as string },
    ]);
  });

  test('what a process wrote that is gone since, another mends', async () => {
    const [dead, other] = [aProcess(), aProcess()];
    world.operator.suspended = true;
    await expect(dead.forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
    await dead.troubles.written();
    world.operator.suspended = false;
    void other.troubles.follow(stop.signal);
    await expect.poll(async () => (await other.forge.head(ref), await states())).toEqual([]);
    expect(other.writes).toEqual(['operator mended']);
  });

  test('what a process mends while it reads what all of them wrote, it does not take for broken again', async () => {
    const dead = aProcess();
    world.operator.suspended = true;
    await expect(dead.forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
    await dead.troubles.written();
    world.operator.suspended = false;
    let answers = 0;
    const all = async () => {
      const read = await db.store.forgeStates.all();
      if (answers === 1) await mends();
      answers += 1;
      return read;
    };
    const slow = processOn(
      { ...db.store, forgeStates: { ...db.store.forgeStates, all } },
      () => world.now,
      (troubles) => world.again(troubles.heard),
    );
    const mends = async () => {
      await slow.forge.head(ref);
      await slow.troubles.written();
    };
    void slow.troubles.follow(stop.signal);
    await expect.poll(() => answers).toBeGreaterThanOrEqual(2);
    await mends();
    expect(slow.writes).toEqual(['operator mended']);
    expect(await states()).toEqual([]);
  });

  test('issue 5: an owner sees until when GitHub is waited for, and nothing of it once that is over', async () => {
    const { forge, troubles } = aProcess();
    world.github.faults.push(secondaryLimit(/\/pulls\/7$/, 2_370));
    await expect(forge.head(ref)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(forge.describe(ref)).rejects.toMatchObject({ kind: 'unavailable' });
    await troubles.written();
    expect(wireTroubles(await states(), world.now)).toEqual([
      {
        identity: 'operator',
        kind: 'unavailable',
        message: 'waiting for GitHub until 12:40 UTC (its rate limit)',
        since: '2030-01-01T12:00:00.000Z',
        until: '2030-01-01T12:39:30.000Z',
      },
    ]);
    expect(wireTroubles(await states(), NOON + 2_370_000)).toEqual([]);
  });

  test('a limit that one process was told of is kept by the others, which ask nothing until it is over', async () => {
    const [told, other] = [aProcess(), aProcess()];
    void other.troubles.follow(stop.signal);
    await other.forge.head(ref);
    world.github.faults.push(secondaryLimit(/\/pulls\/7$/, 600));
    await expect(told.forge.head(ref)).rejects.toMatchObject({ retryAfter: 600 });
    const limit = `${world.github.urls.api} App 11 installation 110`;
    await expect.poll(() => other.troubles.heard(limit)).toBe(NOON + 600_000);
    const asked = world.github.requests.length;
    world.now = NOON + 599_000;
    await expect(other.forge.head(ref)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 1 });
    expect(world.github.requests.length).toBe(asked);
    world.now = NOON + 600_000;
    expect(await other.forge.head(ref)).toMatchObject({ state: 'open' });
  });

  test('30 rooms and a limit of an hour: GitHub is asked no more than a few times, and afterwards not by all in one second', async () => {
    const { forge } = aProcess();
    const { key, repository, url } = ref;
    const pullRequest = { forge: 'github' as const, key, repository, url };
    const owner = (await db.store.accounts.users())[0] ?? (await db.store.accounts.addUser('olga'));
    const { headSha, baseSha } = await world.head();
    const opened = { pullRequest, recipe: 'panel', owner, barista: true, durations: DEFAULT_DURATIONS } as const;
    const rooms: { slug: string; next: number; left: unknown }[] = [];
    for (let count = 0; count < 30; count += 1) {
      const { room } = await db.store.rooms.open({ ownerId: owner.id, pullRequest, title: 'a', recipe: 'panel', another: true });
      const head = { sha: headSha, baseSha, state: 'open' as const };
      await db.store.project(room.slug, { from: 0, events: [{ type: 'RoomOpened', slug: room.slug, ...opened, head, at: world.now }] });
      rooms.push({ slug: room.slug, next: world.now, left: undefined });
    }
    let drawn = 0;
    const random = () => (drawn = (drawn + 0.37) % 1);
    const watchHead = createWatchHead({ store: db.store, forge, now: () => world.now, log: silent }, random);
    world.github.faults.push(secondaryLimit(/\/pulls\/7$/, 3_600));
    const before = world.github.requests.length;
    const end = NOON + 3_600_000;
    const seconds = new Set<number>();
    for (;;) {
      const room = rooms.reduce((first, other) => (other.next < first.next ? other : first));
      if (room.next > end + 60_000) break;
      world.now = Math.max(world.now, room.next);
      const asked = world.github.requests.length;
      const env = new MockActivityEnvironment({ heartbeatDetails: room.left });
      env.on('heartbeat', (left) => (room.left = left));
      const broken = true; // The room was told after five minutes.
      const ended: unknown = await env.run(watchHead, { slug: room.slug, pullRequest, broken }).catch((error: unknown) => error);
      if (ended instanceof ApplicationFailure) room.next = world.now + Number(ended.nextRetryDelay);
      else room.next = Infinity;
      if (world.now < end) expect(world.github.requests.length - before).toBeLessThanOrEqual(3);
      else if (world.github.requests.length > asked) seconds.add(Math.floor(world.now / 1_000));
    }
    expect(seconds.size).toBeGreaterThan(20);
  });

  test('B29: a room that knows that its App is suspended asks again at the pace of its watch', async () => {
    const { forge } = aProcess();
    const { key, repository, url } = ref;
    const pullRequest = { forge: 'github' as const, key, repository, url };
    const owner = (await db.store.accounts.users())[0] ?? (await db.store.accounts.addUser('olga'));
    const { room } = await db.store.rooms.open({ ownerId: owner.id, pullRequest, title: 'a', recipe: 'panel', another: true });
    const { headSha: sha, baseSha } = await world.head();
    const durations = { ...DEFAULT_DURATIONS, headPoll: 7 * 60_000 };
    const opened = { slug: room.slug, pullRequest, recipe: 'panel', owner, barista: true, durations } as const;
    const head = { sha, baseSha, state: 'open' as const };
    await db.store.project(room.slug, { from: 0, events: [{ type: 'RoomOpened', ...opened, head, at: world.now }] });
    const watchHead = createWatchHead({ store: db.store, forge, now: () => world.now, log: silent });
    const delay = (broken: boolean) =>
      new MockActivityEnvironment().run(watchHead, { slug: room.slug, pullRequest, broken }).then(
        () => null,
        (error: ApplicationFailure) => error.nextRetryDelay,
      );
    world.operator.suspended = true;
    expect(await delay(false)).toBe(30_000);
    expect(await delay(true)).toBe(7 * 60_000);
    world.operator.suspended = false;
    expect(await delay(true)).toBeNull();
  });

  test('a database that is away costs no call anything, and is told of once', async () => {
    const store = createStore({ url: 'postgresql://nobody@127.0.0.1:9/none', now: () => world.now });
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const troubles = new Troubles({ store, log, now: () => world.now });
    const forge = watchedForge(world.again(troubles.heard), troubles);
    expect(await forge.head(ref)).toMatchObject({ state: 'open' });
    world.operator.suspended = true;
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
      await troubles.written();
    }
    world.operator.suspended = false;
    expect(await forge.head(ref)).toMatchObject({ state: 'open' });
    await troubles.written();
    expect(lines).toHaveLength(1);
    await store.close();
  });

  test('no key and no token is in what is written down, told or logged', async () => {
    const { forge, troubles } = aProcess();
    const seen: unknown[] = [];
    const collect = async (work: Promise<unknown>) => seen.push(await work.catch((error: unknown) => error));
    const shutOut: (() => void)[] = [
      () => (world.reviewer!.suspended = true),
      () => (world.reviewer!.permissions.pull_requests = 'read'),
      () => Object.assign(world.reviewer!, { publicKey: world.operator.publicKey }),
      () => (world.operator.suspended = true),
      () => world.github.faults.push(secondaryLimit(/./, 60, 99)),
    ];
    await collect(forge.post(ref, review('s/1/1')));
    for (const [index, shut] of shutOut.entries()) {
      shut();
      await collect(forge.head(ref));
      await collect(forge.post(ref, review(`s/2/${index}`)));
      await troubles.written();
      seen.push(await states());
    }
    seen.push(await db.store.forgeStates.all());
    expect(seen.filter((each) => each instanceof Error).length).toBeGreaterThan(5);
    const text = inspect(seen, { depth: 10, showHidden: true }) + JSON.stringify(seen);
    expect(world.secrets().length).toBeGreaterThan(2);
    for (const secret of world.secrets()) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/ghs_|BEGIN (?:RSA )?PRIVATE KEY|eyJ[\w-]+\.eyJ/);
  });
});

describe('a GitLab below a path', () => {
  const world = new GitLabWorld();
  afterAll(() => world.stop());

  test('issue 5: a revoked token and a limit on notes are states; reading goes on beside the latter, and both end by themselves', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start({}, '/gitlab');
    const { forge, troubles } = processOn(
      db.store,
      () => world.now,
      ({ heard }) =>
        createGitLabForge({ url: world.gitlab.url, token: () => Promise.resolve(world.gitlab.token), heard, now: () => world.now }),
    );
    const ref = await forge.resolve(world.ref);
    const states = async () => (await troubles.written(), db.store.forgeStates.of('gitlab', ref.repository));
    const review = aReview({ marker: 'g/1/1', headSha: world.git.head('topic') });

    world.gitlab.failures.push({ on: /^GET/, status: 401 });
    await expect(forge.head(ref)).rejects.toMatchObject({ kind: 'refused' });
    expect(await states()).toMatchObject([
      { identity: 'operator', kind: 'refused', message: expect.stringContaining('GITLAB_TOKEN') as string },
    ]);
    await forge.head(ref);
    expect(await states()).toEqual([]);

    world.gitlab.failures.push({ on: /^POST/, status: 429, headers: { 'retry-after': '42' } });
    await expect(forge.post(ref, review)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await forge.head(ref)).toMatchObject({ state: 'open' });
    expect(await states()).toMatchObject([{ part: 'posting', kind: 'unavailable', until: world.now + 42_000 }]);
    world.now += 42_000;
    expect(await forge.post(ref, review)).toMatchObject({ by: 'operator', url: expect.stringContaining(`${world.gitlab.url}/`) as string });
    expect(await states()).toEqual([]);
    expect(await forge.ci(ref, review.headSha)).toMatchObject({ state: 'none' });
  });
});

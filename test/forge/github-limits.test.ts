import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failedOf, limitedUntil, type Failed } from '../../activities/forge/github/failures.js';
import { ForgeError } from '../../activities/forge/port.js';
import { waitingFor } from '../../activities/forge/waiting.js';
import { badGateway, graphqlLimit, primaryLimit, revokedToken, secondaryLimit } from '../support/fake-github/index.js';
import { GitHubWorld, NOON } from '../support/fake-github/world.js';
import { aReview } from '../support/review.js';

let world: GitHubWorld;
beforeEach(async () => {
  world = await GitHubWorld.start({ reviewer: true });
  world.git.push({ 'a.ts': 'a\n' });
});
afterEach(() => world.stop());

const head = () => world.forge.head(world.ref);
const asked = () => world.github.requests.length;
const review = () => aReview({ marker: 'm', headSha: world.git.head('topic') });

describe('rate limits are obeyed with the times GitHub gives', () => {
  test('a secondary limit with retry-after: nothing more is sent until then, and the message says until when', async () => {
    world.github.faults.push(secondaryLimit(/\/pulls\/7$/, 2_370));
    await expect(head()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'waiting for GitHub until 12:40 UTC (its rate limit)',
      retryAfter: 2_370,
    });
    const before = asked();
    world.now = NOON + 2_369_000;
    await expect(head()).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 1 });
    await expect(world.forge.ci(world.ref, world.git.head('topic'))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(asked()).toBe(before);
    world.now = NOON + 2_370_000;
    expect(await head()).toMatchObject({ state: 'open' });
  });

  test('without retry-after it is a minute, and longer each time in a row', async () => {
    for (const seconds of [60, 120, 240]) {
      world.github.faults.push(secondaryLimit(/\/pulls\/7$/, null));
      await expect(head()).rejects.toMatchObject({ kind: 'unavailable', retryAfter: seconds });
      world.now += seconds * 1_000;
    }
    await head();
    world.github.faults.push(secondaryLimit(/\/pulls\/7$/, null));
    await expect(head()).rejects.toMatchObject({ retryAfter: 60 });
  });

  test('a used up limit waits for its reset', async () => {
    world.github.faults.push(primaryLimit(/\/pulls\/7$/, NOON / 1_000 + 2_399));
    await expect(head()).rejects.toMatchObject({ message: 'waiting for GitHub until 12:40 UTC (its rate limit)', retryAfter: 2_400 });
  });

  test('GraphQL says it with a 200, and its limit stops the whole read instead of costing the issue', async () => {
    world.github.faults.push(graphqlLimit(NOON / 1_000 + 99));
    await expect(world.forge.describe(world.ref)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 100 });
  });

  test('one App waiting is no stop for the other, nor for another process that was not told', async () => {
    await world.forge.post(world.ref, review());
    world.github.faults.push(secondaryLimit(/^POST .*\/reviews$/, 600));
    await expect(world.forge.post(world.ref, { ...review(), marker: 'n' })).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 600 });
    expect(await head()).toMatchObject({ state: 'open' });
    expect(world.github.reviews).toHaveLength(1);
  });

  test('a 403 that is no limit is none', () => {
    const failed = (more: Partial<Failed>): Failed => ({
      status: 403,
      headers: { 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': '1893500000' },
      message: 'Resource not accessible by integration',
      details: [],
      ...more,
    });
    expect(limitedUntil(failed({}), NOON, 0)).toBeNull();
    expect(limitedUntil(failed({ status: 404 }), NOON, 0)).toBeNull();
    expect(limitedUntil(failed({ status: 429 }), NOON, 0)).toBe(NOON + 60_000);
    expect(limitedUntil(failed({ headers: { 'retry-after': 'soon' }, message: 'secondary rate limit' }), NOON, 0)).toBe(NOON + 60_000);
    expect(limitedUntil(failed({ status: 429 }), NOON, 50)).toBe(NOON + 15 * 60_000);
    expect(limitedUntil(failed({ status: 422, details: ['was submitted too quickly'] }), NOON, 0)).toBe(NOON + 60_000);
    expect(limitedUntil(failed({ status: 422, details: ['Line could not be resolved'] }), NOON, 0)).toBeNull();
    // A clock that is wrong by days, or a proxy's word, shuts nobody out for days.
    for (const headers of [{ 'retry-after': '99999999' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOON) }])
      expect(limitedUntil(failed({ headers }), NOON, 0)).toBe(NOON + 3_600_000);
    // Its clock is behind ours: never a tight loop.
    expect(limitedUntil(failed({ headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } }), NOON, 0)).toBe(NOON + 1_000);
  });

  test('the minute that is named is one at which it is over', () => {
    const waiting = (until: number) => waitingFor('GitHub', { name: 'x', until }, NOON, { identity: 'operator' }).message;
    expect(waiting(NOON + 1)).toContain('12:01');
    expect(waiting(NOON + 60_000)).toContain('12:01');
    expect(waiting(NOON + 60_001)).toContain('12:02');
  });
});

describe('failures are sorted by who must act', () => {
  test('W9: an App that is not installed is named with its repository and where to install it', async () => {
    world.operator.installed = false;
    await expect(head()).rejects.toMatchObject({
      kind: 'refused',
      message: `The GitHub App barista is not installed on octo-org/hello. Install it at ${world.github.urls.web}/apps/barista/installations/new, or check the address.`,
    });
    world.operator.installed = true;
    expect(await head()).toMatchObject({ state: 'open' });
  });

  test('an App taken off, or suspended, while its token still runs is told at the next call but one', async () => {
    await head();
    world.operator.suspended = true;
    await expect(head()).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is suspended for octo-org/hello. Lift it at http') as string,
    });
    await expect(head()).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('is suspended') as string });
    world.operator.suspended = false;
    expect(await head()).toMatchObject({ state: 'open' });
    world.operator.installed = false;
    await expect(head()).rejects.toBeInstanceOf(ForgeError);
    await expect(head()).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('is not installed') as string });
  });

  test('a permission that is missing is named as GitHub names it', async () => {
    world.reviewer!.permissions.pull_requests = 'read';
    await expect(world.forge.post(world.ref, review())).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(
        /^The GitHub App barista-review lacks a permission in octo-org\/hello: pull_requests=write\. Accept its permissions at http/,
      ) as string,
    });
  });

  test('a permission that the owner has accepted since is there within a minute, though the token runs for an hour', async () => {
    const ci = () => world.forge.ci(world.ref, world.git.head('topic'));
    const tokens = () => world.github.count(/access_tokens$/);
    delete world.operator.permissions.checks;
    await expect(ci()).rejects.toMatchObject({ message: expect.stringContaining('checks=read') as string });
    world.operator.permissions.checks = 'read';
    await expect(ci()).rejects.toMatchObject({ kind: 'refused' });
    expect(tokens()).toBe(1);
    world.now += 60_000;
    expect(await ci()).toMatchObject({ state: 'none' });
    expect(await ci()).toMatchObject({ state: 'none' });
    expect(tokens()).toBe(2);
  });

  test('a 403 for another reason is told in its own words, though GitHub names the permission beside every answer', async () => {
    const body = { message: 'Repository was archived so is read-only.' };
    const headers = { 'x-accepted-github-permissions': 'pull_requests=write' };
    world.github.faults.push({ on: /^POST .*\/reviews$/, status: 403, body, headers });
    await expect(world.forge.post(world.ref, review())).rejects.toMatchObject({
      kind: 'refused',
      message: 'The GitHub App barista-review is refused this in octo-org/hello: Repository was archived so is read-only.',
      facts: { identity: 'reviewer', partial: true },
    });
  });

  // GitHub's client gives a token that is younger than five seconds time to come into force.
  test('a token that was taken back is replaced once', async () => {
    await head();
    world.github.tokens.clear();
    expect(await head()).toMatchObject({ state: 'open' });
    expect(world.github.tokens.size).toBe(1);
  });

  test('a key GitHub does not take, however new the token, is told', async () => {
    world.github.faults.push({ ...revokedToken(/^GET \/repos.*\/pulls/), times: 50 });
    await expect(head()).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('does not take the key of The GitHub App barista') as string,
    });
  });

  test('a private key of another App is told', async () => {
    Object.assign(world.operator, { publicKey: world.reviewer!.publicKey, id: 99 });
    await expect(head()).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('does not take the key') as string });
  });

  test('W9: trouble that passes is passing: asked again, then left to the caller', async () => {
    world.github.faults.push(badGateway(/\/pulls\/7$/, { times: 2 }));
    expect(await head()).toMatchObject({ state: 'open' });
    world.github.faults.push(badGateway(/\/pulls\/7$/, { times: 9 }));
    await expect(head()).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 15, message: 'GitHub answers 502 for octo-org/hello.' });
  });

  test('no answer at all is passing trouble', async () => {
    const { ref, forge } = world;
    world.github.stop();
    await expect(forge.head(ref)).rejects.toMatchObject({ kind: 'unavailable', message: 'GitHub does not answer for octo-org/hello.' });
  });

  test('a page of something in between that says 200 is no answer of GitHub', async () => {
    await head();
    const login = { 'content-type': 'text/html; charset=utf-8' };
    world.github.faults.push({ on: /\/pulls\/7$/, status: 200, body: '<html>Sign in</html>', headers: login, times: 9 });
    await expect(head()).rejects.toMatchObject({ kind: 'unavailable', message: 'GitHub does not answer for octo-org/hello.' });
  });

  test('a fault of ours is no answer of GitHub', () => {
    expect(failedOf(new TypeError('x is undefined'))).toBeNull();
    expect(failedOf('text')).toBeNull();
  });
});

test('no key and no token is in any message, error or posted text', async () => {
  const { github, forge, ref } = world;
  const seen: unknown[] = [];
  const collect = async (work: Promise<unknown>) => seen.push(await work.catch((error: unknown) => error));
  world.git.push({ image: Buffer.from([1, 0]) });
  const commits = await world.head();
  const faults = [
    revokedToken(/./, 1),
    badGateway(/./, { times: 3 }),
    { on: /^GIT /, status: 401, body: {}, times: 2 },
    { on: /./, status: 418, body: { message: 'tea' }, times: 30 },
  ];
  for (const fault of faults) {
    github.faults.splice(0, github.faults.length, fault);
    await collect(forge.head(ref));
    await collect(forge.diff(ref, commits));
    await collect(forge.ci(ref, commits.headSha));
    await collect(forge.post(ref, { ...review(), marker: `m${seen.length}` }));
  }
  github.faults.splice(0);
  for (const app of github.apps) app.suspended = true;
  await collect(world.again().head(ref));
  await collect(world.again().post(ref, { ...review(), marker: 'last' }));
  const errors = seen.filter((each) => each instanceof Error);
  expect(errors.length).toBeGreaterThan(5);
  expect(errors.every((error) => error instanceof ForgeError && error.cause === undefined)).toBe(true);
  const text = [
    inspect(seen, { depth: 10, showHidden: true }),
    JSON.stringify(seen),
    ...errors.map((error) => String(error.stack)),
    JSON.stringify(github.reviews),
    github.requests.map(({ line, body }) => `${line} ${body}`).join('\n'),
  ].join('\n');
  expect(world.secrets().length).toBeGreaterThan(2);
  for (const secret of world.secrets()) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/ghs_|BEGIN (?:RSA )?PRIVATE KEY|eyJ[\w-]+\.eyJ/);
});

import { afterEach, expect, test } from 'vitest';
import { createGitHubForge } from '../../activities/forge/github/index.js';
import type { Identity, PostAs, ReviewToPost } from '../../activities/forge/port.js';
import { badGateway } from '../support/fake-github/index.js';
import { GitHubWorld } from '../support/fake-github/world.js';
import { aReview } from '../support/review.js';

let world: GitHubWorld;
afterEach(() => world.stop());

async function start(options: { reviewer: boolean }): Promise<void> {
  world = await GitHubWorld.start(options);
  world.git.push({ 'a.ts': 'one\n' });
}

const as = (identity: Identity | null, commentInstead = false): PostAs => ({ identity, commentInstead });
const review = (more: Partial<ReviewToPost> = {}): ReviewToPost =>
  aReview({ marker: 'quiet-fox/1/1', headSha: world.git.head('topic'), verdict: 'request_changes', body: 'Two things.', ...more });
const submitted = () => world.github.reviews.filter(({ state }) => state !== 'PENDING');
const shown = () => submitted().map(({ author, state, body }) => [author, state, body.startsWith('**Verdict: request changes**')]);
const posts = () => world.github.count(/^POST .*\/reviews$/);

const OPERATOR = 'barista[bot]';
const REVIEWER = 'barista-review[bot]';
const VERDICT = 'CHANGES_REQUESTED';

/** What the server has, what the owner set, who opened the pull request: who posts, and how. */
const WHO_POSTS = [
  { reviewer: true, set: as(null), opened: 'robin', by: 'reviewer', is: [REVIEWER, VERDICT, false] },
  { reviewer: true, set: as('reviewer'), opened: 'robin', by: 'reviewer', is: [REVIEWER, VERDICT, false] },
  { reviewer: true, set: as('operator'), opened: 'robin', by: 'operator', is: [OPERATOR, VERDICT, false] },
  { reviewer: true, set: as('operator', true), opened: 'robin', by: 'operator', is: [OPERATOR, VERDICT, false] },
  { reviewer: true, set: as('operator'), opened: OPERATOR, by: 'operator', is: [OPERATOR, 'COMMENTED', true] },
  { reviewer: true, set: as(null), opened: OPERATOR, by: 'reviewer', is: [REVIEWER, VERDICT, false] },
  { reviewer: true, set: as(null), opened: REVIEWER, by: 'reviewer', is: [REVIEWER, 'COMMENTED', true] },
  { reviewer: false, set: as(null), opened: 'robin', by: 'operator', is: [OPERATOR, VERDICT, false] },
  { reviewer: false, set: as('operator'), opened: 'robin', by: 'operator', is: [OPERATOR, VERDICT, false] },
  { reviewer: false, set: as('reviewer', true), opened: 'robin', by: 'operator', is: [OPERATOR, 'COMMENTED', true] },
] as const;

test.each(WHO_POSTS)(
  'issue 5: $by posts (reviewer App: $reviewer, set: $set, opened by $opened)',
  async ({ reviewer, set, opened, by, is }) => {
    await start({ reviewer });
    world.github.pull.author = opened;
    expect(await world.forge.post(world.ref, review({ as: set }))).toMatchObject({ by });
    expect(shown()).toEqual([is]);
  },
);

test('issue 5: a reviewer that is asked for where the server has none is told at once', async () => {
  await start({ reviewer: false });
  await expect(world.forge.post(world.ref, review({ as: as('reviewer') }))).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('REVIEWER_APP_ID') as string,
  });
  expect(posts()).toBe(0);
});

test('W9: a reviewer App taken off after it was known is named with its repository, whatever GitHub hides from it', async () => {
  await start({ reviewer: true });
  await world.forge.post(world.ref, review());
  world.reviewer!.installed = false;
  const next = review({ marker: 'quiet-fox/2/1' });
  await expect(world.forge.post(world.ref, next)).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/^The GitHub App barista-review is not installed on octo-org\/hello\. Install it at http/) as string,
    facts: { identity: 'reviewer', mendAt: expect.stringContaining('/apps/barista-review/installations/new') as string },
  });
  await world.forge.post(world.ref, { ...next, as: as(null, true) });
  expect(shown()[1]).toEqual([OPERATOR, 'COMMENTED', true]);
});

test('D5: what one identity posted is found when the owner has set the other since, also once its App is taken off', async () => {
  await start({ reviewer: true });
  world.github.faults.push(badGateway(/^POST .*\/reviews$/, { works: true }));
  // The looks that follow it end as unclear.
  world.github.before.push({
    on: /^POST .*\/reviews$/,
    run: () => void world.github.faults.push(badGateway(/^GET .*\/reviews/, { times: 9 })),
  });
  await expect(world.forge.post(world.ref, review({ as: as('reviewer') }))).rejects.toMatchObject({ kind: 'unavailable' });
  world.github.faults.splice(0);
  expect(shown()).toEqual([[REVIEWER, VERDICT, false]]);
  world.reviewer!.installed = false;
  const retried = review({ as: as('operator') });
  const another = world.again();
  const found = await another.findPosted(world.ref, retried);
  expect(found).not.toBeNull();
  expect(await another.post(world.ref, retried)).toEqual(found);
  expect(await another.readBack(world.ref, retried)).toMatchObject({ found: true, url: found?.url });
  expect(posts()).toBe(1);
});

test('issue 5: both identities reach an Enterprise Server by the address of its API, with or without a slash at the end', async () => {
  await start({ reviewer: true });
  const { operator, reviewer, dataDir, github } = world;
  const forge = createGitHubForge({
    apiUrl: `${github.urls.api}/`,
    app: { id: operator.id, privateKey: operator.privateKey },
    reviewer: { id: reviewer!.id, privateKey: reviewer!.privateKey },
    dataDir,
    now: () => world.now,
  });
  expect(new URL(github.urls.api).pathname).toBe('/api/v3');
  const ref = await forge.resolve(world.ref);
  expect(ref.url).toBe(github.pullRequest);
  expect(await forge.ci(ref, world.git.head('topic'))).toMatchObject({ state: 'none' });
  expect(await forge.post(ref, review())).toEqual({ url: expect.stringContaining(`${github.pullRequest}#`) as string, by: 'reviewer' });
  expect(await forge.post(ref, review({ marker: 'quiet-fox/2/1', as: as('operator') }))).toMatchObject({ by: 'operator' });
});

test('issue 5: a reviewer whose key was taken back keeps the operator from nothing', async () => {
  await start({ reviewer: true });
  Object.assign(world.reviewer!, { publicKey: world.operator.publicKey });
  await expect(world.forge.post(world.ref, review({ as: as('reviewer', true) }))).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('does not take the key') as string,
    facts: { identity: 'reviewer' },
  });
  expect(await world.forge.post(world.ref, review({ as: as('operator') }))).toMatchObject({ by: 'operator' });
});

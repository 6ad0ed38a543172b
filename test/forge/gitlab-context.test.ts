import { afterEach, beforeEach, expect, test } from 'vitest';
import { readContext, type ContextQuery } from '../../activities/context/read-context.js';
import type { ReadFacts, RoundCommits } from '../../activities/context/types.js';
import { MemoryContextStore } from '../support/memory-context-store.js';
import { GitLabWorld } from './gitlab-world.js';

let world: GitLabWorld;
let store: MemoryContextStore;
beforeEach(() => {
  world = new GitLabWorld();
  store = new MemoryContextStore();
});
afterEach(() => world.stop());

const round = async (number: number): Promise<RoundCommits> => {
  const { headSha, baseSha } = await world.head();
  return { number, headSha, baseSha };
};
async function facts(rounds: readonly RoundCommits[]): Promise<ReadFacts> {
  return { ref: world.ref, openRound: rounds.at(-1) ?? null, rounds, findings: [], currentHead: await world.head() };
}
const page = async (given: ReadFacts, query: ContextQuery = {}) => (await readContext({ forge: world.forge, store }, given, query)).answer;

test('C4: since an earlier round of a merge request: the short view, and a hint that a rebase cannot be seen', async () => {
  world.git.push({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
  await world.start();
  const one = await round(1);
  world.git.push({ 'b.ts': 'c\n' });
  const given = await facts([one, await round(2)]);
  const answer = await page(given, { sinceRound: 1 });
  expect(answer.since).toMatchObject({ status: 'unknown', commits: 1, left_out: 0 });
  expect(answer.since_hint).toContain('a rebase cannot be seen here');
  expect(answer.files).toEqual([expect.objectContaining({ path: 'b.ts', patch: '@@ -1 +1 @@\n-b\n+c' })]);
  expect(answer.manifest?.map(({ path, changed_since_round: changed }) => [path, changed])).toEqual([
    ['a.ts', false],
    ['b.ts', true],
  ]);
  const asked = world.gitlab.asked(/compare/).length;
  await page(given, { sinceRound: 1 });
  expect(world.gitlab.asked(/compare/)).toHaveLength(asked);
});

test('C6: a comparison that GitLab capped marks every file as changed', async () => {
  world.git.push({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
  await world.start({ compareOverflow: true });
  const one = await round(1);
  world.git.push({ 'b.ts': 'c\n' });
  const answer = await page(await facts([one, await round(2)]), { sinceRound: 1 });
  expect(answer.since_hint).toContain('every file is marked changed');
  expect(answer.manifest?.every((entry) => entry.changed_since_round)).toBe(true);
});

test('C9: what GitLab left out and git cannot have is named on page 1', async () => {
  world.git.push({ 'a.ts': 'a\n', 'big.ts': 'big\n' });
  await world.start({ noRawDiffs: true, noGit: true, leftOut: { 'big.ts': 'too_large' } });
  const answer = await page(await facts([await round(1)]));
  expect(JSON.stringify(answer.gaps)).toContain('GitLab left out the patch of big.ts.');
  expect(answer.files).toContainEqual(expect.objectContaining({ path: 'big.ts', patch_omitted: true, patch_reason: 'too_large' }));
  expect(answer.files).toContainEqual(expect.objectContaining({ path: 'a.ts', patch: '@@ -0,0 +1 @@\n+a' }));
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { missingEvents, missingPermissions, permissionsOf } from '../../activities/forge/github/app-needs.js';
import type { Forge } from '../../activities/forge/port.js';
import type { FakeApp } from '../support/fake-github/index.js';
import { GitHubWorld } from '../support/fake-github/world.js';
import { aReview } from '../support/review.js';

let world: GitHubWorld;
afterEach(() => world.stop());

function allow({ permissions }: FakeApp, wanted: Record<string, string>): void {
  for (const name of Object.keys(permissions)) delete (permissions as Record<string, string>)[name];
  Object.assign(permissions, wanted);
}

async function start(): Promise<void> {
  world = await GitHubWorld.start({ reviewer: true });
  allow(world.operator, permissionsOf('operator'));
  if (world.reviewer !== null) allow(world.reviewer, permissionsOf('reviewer'));
  world.git.push({ 'a.ts': 'a\nb\n' });
  world.git.push({ 'a.ts': 'a\nb\nc\n' });
  world.github.pull.closes.push({ number: 3, title: 'An issue', body: 'Do it.' });
}

const REVIEW = {
  marker: 'quiet-fox/1/1',
  verdict: 'approve',
  body: 'Good.',
  comments: [{ path: 'a.ts', line: 1, side: 'new', body: 'Here.' }],
} as const;

/** Everything that is done on GitHub for a room; the words for what could not be known. */
async function everything(forge: Forge): Promise<string> {
  const { ref } = world;
  const head = await world.head();
  const review = aReview({ ...REVIEW, headSha: head.headSha });
  const [before] = world.git.git('rev-parse', 'topic~1').split('\n');
  const { issue } = await forge.describe(ref);
  await forge.diff(ref, head);
  await forge.compare(ref, String(before), head.headSha);
  await forge.commitsBetween(ref, String(before), head.headSha);
  await forge.file(ref, head.headSha, 'a.ts');
  const ci = await forge.ci(ref, head.headSha);
  await forge.post(ref, review);
  expect(await forge.readBack(ref, review)).toMatchObject({ found: true, differences: [] });
  return JSON.stringify({ issue, ci });
}

describe('the permissions that an App is made with', () => {
  test('are enough for all that is done on GitHub', async () => {
    await start();
    const known = await everything(world.forge);
    expect(await everything(world.again())).toBe(known);
    expect(known).toContain('An issue');
    expect(JSON.parse(known)).toMatchObject({ ci: { state: 'none' } });
  });

  test.each(['contents', 'pull_requests', 'issues', 'checks', 'statuses'])('without %s something does not work', async (name) => {
    await start();
    const all = await everything(world.again());
    const { [name]: _, ...rest } = permissionsOf('operator');
    allow(world.operator, rest);
    const less = await everything(world.again()).catch((error: Error) => error.message);
    expect(less).not.toBe(all);
  });

  test('of the reviewer App: without its one the review is not posted', async () => {
    await start();
    if (world.reviewer !== null) allow(world.reviewer, { metadata: 'read', pull_requests: 'read' });
    await expect(everything(world.forge)).rejects.toThrow(/pull_requests=write/);
  });
});

test('what is missing is found by how far it goes: more than is needed is enough', () => {
  const names = (held: Record<string, string>) => missingPermissions('reviewer', held).map(({ permission }) => permission);
  expect(names({ metadata: 'read', pull_requests: 'admin' })).toEqual([]);
  expect(names({ metadata: 'read', pull_requests: 'read' })).toEqual(['pull_requests']);
  expect(names({})).toEqual(['metadata', 'pull_requests']);
  expect(missingEvents('operator', ['push', 'status'])).toEqual(['pull_request', 'check_run', 'check_suite']);
  expect(missingEvents('reviewer', [])).toEqual([]);
});

test('the page that says what they are for names the same', () => {
  const rows = readFileSync(join(import.meta.dirname, '../../docs/forges.md'), 'utf8').matchAll(/^\| (\w+) +\| (\w*) +\| (\w*) +\|.*$/gm);
  const shown = [...rows].filter(([, name]) => name !== 'permission').map(([, name, operator, reviewer]) => ({ name, operator, reviewer }));
  const [operator, reviewer] = [permissionsOf('operator'), permissionsOf('reviewer')];
  expect(shown).toEqual(Object.keys(operator).map((name) => ({ name, operator: operator[name], reviewer: reviewer[name] ?? '' })));
});

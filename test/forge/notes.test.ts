import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge, ReviewToPost } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { GitWorld } from '../support/git-world.js';
import { aReview } from '../support/review.js';

const NOW = 1_893_500_000_000;
let world: GitWorld;
let forge: Forge;
beforeEach(() => {
  world = new GitWorld();
  world.push({ 'a.ts': 'a\n' });
  forge = createLocalForge({ allowedRoots: null, now: () => NOW });
});
afterEach(() => world.dispose());

const ref = () => parsePullRequest(world.pullRequest);
const review = (marker: string, body = 'Looks right.', more: Partial<ReviewToPost> = {}): ReviewToPost =>
  aReview({
    marker,
    headSha: world.head('topic'),
    verdict: 'request_changes',
    body,
    comments: [{ path: 'a.ts', line: 1, side: 'new', body: 'Why a?' }],
    ...more,
  });
const branches = () => world.git('for-each-ref', 'refs/heads', 'refs/tags');

test('D5: posting twice posts once, and what was posted is found by its marker and reads as sent', async () => {
  const before = branches();
  expect(await forge.findPosted(ref(), review('draft-1'))).toBeNull();
  expect(await forge.readBack(ref(), review('draft-1'))).toEqual({ found: false, url: null, inBody: [], differences: [] });
  const posted = await forge.post(ref(), review('draft-1'));
  expect(await forge.post(ref(), review('draft-1'))).toEqual(posted);
  expect(await forge.findPosted(ref(), review('draft-1'))).toEqual(posted);
  expect(await forge.findPosted(ref(), review('draft-10'))).toBeNull();
  expect(await forge.readBack(ref(), review('draft-1'))).toEqual({ found: true, url: posted.url, inBody: [], differences: [] });
  expect((await forge.readBack(ref(), review('draft-1', 'Other words.'))).differences).toHaveLength(1);
  expect(world.git('notes', '--ref=barista', 'show', 'topic')).toMatchInlineSnapshot(`
    "<!-- barista:draft-1 -->

    Looks right.

    ## a.ts:1

    Why a?

    <!-- /barista:draft-1 -->"
  `);
  expect(branches()).toBe(before);
  expect(world.git('log', '-1', '--format=%an %ae %aI', 'refs/notes/barista')).toBe('Barista barista@localhost 2030-01-01T12:13:20+00:00');
});

test('D4: a range, a line of the old file and a remark on a whole file stand in the note as such', async () => {
  const what = review('draft-1', 'b', {
    comments: [
      { path: 'a.ts', startLine: 3, line: 7, side: 'new', body: 'A range.' },
      { path: 'a.ts', line: 2, side: 'old', body: 'An old line.' },
    ],
    fileComments: [{ path: 'b.ts', body: 'The whole of it.' }],
  });
  await forge.post(ref(), what);
  const shown = world.git('notes', '--ref=barista', 'show', 'topic');
  expect(shown.match(/^## .*$/gm)).toEqual(['## a.ts:3-7', '## a.ts:2 (old)', '## b.ts']);
  expect(shown).toContain('## b.ts\n\nThe whole of it.');
  expect((await forge.readBack(ref(), what)).differences).toEqual([]);
});

test('D5: markers that somebody wrote into a text are none', async () => {
  const what = review('draft-1', 'See <!-- barista:draft-2 --> and <!-- /barista:draft-1 --> and <!-- /barista:draft-2 -->.');
  await forge.post(ref(), what);
  expect(await forge.findPosted(ref(), review('draft-2'))).toBeNull();
  expect((await forge.readBack(ref(), what)).differences).toEqual([]);
});

test('D9: reviews of several drafts stand side by side on one commit, and notes of others stay', async () => {
  world.git('notes', '--ref=barista', 'add', '-m', 'A note by hand', 'topic');
  world.git('notes', '--ref=barista', 'add', '-m', 'On the base', 'main');
  await forge.post(ref(), review('draft-1'));
  await forge.post(ref(), review('draft-2', 'Second.'));
  const shown = world.git('notes', '--ref=barista', 'show', 'topic');
  expect(shown).toMatch(/^A note by hand\n\n<!-- barista:draft-1 -->[^]*<!-- barista:draft-2 -->[^]*Second\./);
  expect(world.git('notes', '--ref=barista', 'show', 'main')).toBe('On the base');
  expect((await forge.readBack(ref(), review('draft-1'))).differences).toEqual([]);
});

test('D5: posters at once, in two processes, lose nothing', async () => {
  const second = createLocalForge({ allowedRoots: null, now: () => NOW });
  const markers = Array.from({ length: 6 }, (_, at) => `draft-${at}`);
  await Promise.all(markers.flatMap((marker) => [forge.post(ref(), review(marker)), second.post(ref(), review(marker))]));
  const shown = world.git('notes', '--ref=barista', 'show', 'topic');
  for (const marker of markers) expect(shown.split(`<!-- barista:${marker} -->`)).toHaveLength(2);
});

test('D4: a note tree that git fanned out is read and kept', async () => {
  for (let at = 0; at < 260; at++) world.git('commit', '-q', '--allow-empty', '-m', `c${at}`);
  const commits = world.git('rev-list', 'topic').split('\n');
  const blob = world.gitBytes(['hash-object', '-w', '--stdin'], 'x\n').toString().trim();
  for (const commit of commits.slice(1)) world.git('notes', '--ref=barista', 'add', '-C', blob, commit);
  expect(world.git('ls-tree', 'refs/notes/barista').split('\n')[0]).toContain(' tree ');
  await forge.post(ref(), review('draft-1'));
  expect(world.git('notes', '--ref=barista', 'list').split('\n')).toHaveLength(commits.length);
  expect(await forge.findPosted(ref(), review('draft-1'))).not.toBeNull();
});

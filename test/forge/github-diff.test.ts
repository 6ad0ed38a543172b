import { mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { listRows } from '../../activities/forge/github/listing.js';
import type { Row } from '../../activities/forge/github/pull.js';
import type { Diff, KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { badGateway } from '../support/fake-github/index.js';
import { GitHubWorld, NOON } from '../support/fake-github/world.js';

let world: GitHubWorld;
beforeEach(async () => {
  world = await GitHubWorld.start();
});
afterEach(() => world.stop());

const numbered = (count: number, lines: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${String(at).padStart(4, '0')}`, `${at}\n`.repeat(lines)]));
const diff = async () => world.forge.diff(world.ref, await world.head());
/** What the local forge says of the same commits: one reader, one truth. */
async function local(commits?: { baseSha: string; headSha: string }): Promise<Diff> {
  const forge = createLocalForge({ allowedRoots: null, now: () => NOON });
  const ref = parsePullRequest(world.git.pullRequest);
  return forge.diff(ref, commits ?? ((await forge.head(ref)) as KnownHead));
}
const gitFetches = () => world.github.count(/^GIT POST/);
const NO_GIT = { on: /^GIT /, status: 403, body: {} };

describe('C1: files with their patches', () => {
  test('a listing alone gives what git gives, for every change that has a patch', async () => {
    const { git } = world;
    const long = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n') + '\n';
    git.checkout('main');
    for (const name of ['changed', 'gone', 'moved', 'moved-changed']) git.write(name, `${name}\n`.repeat(20) + long);
    git.write('gone', 'nothing alike\n'.repeat(31)).submodule('vendor', '1'.repeat(40)).commit('Ground');
    git.git('checkout', '-q', '-B', 'topic');
    git
      .write('changed', 'changed\n'.repeat(20) + long.replace('line 3\n', 'line three\n'))
      .remove('gone')
      .rename('moved', 'deep/moved');
    git.remove('moved-changed').write('moved-too', 'moved-changed\n'.repeat(20) + long.replace('line 9', 'line nine'));
    git
      .write('new', 'one\ntwo')
      .write('nothing', '')
      .write('grün & "odd".ts', 'x\n')
      .submodule('vendor', '2'.repeat(40))
      .commit('All of it');
    expect(await diff()).toEqual(await local());
    expect(gitFetches()).toBe(0);
  });

  test('what a listing cannot tell apart, binary, mode, link, kind, is read with git', async () => {
    const { git } = world;
    git
      .checkout('main')
      .write('script', 'x\n')
      .write('becomes-link', 'x\n')
      .write('image', Buffer.from([1, 0]))
      .commit('Ground');
    git.git('checkout', '-q', '-B', 'topic');
    git
      .write('script', 'x\n', 0o755)
      .remove('becomes-link')
      .symlink('becomes-link', 'script')
      .write('image', Buffer.from([2, 0]))
      .write('a.ts', 'a\n')
      .commit('Kinds');
    const read = await diff();
    expect(read).toEqual(await local());
    expect(read.files.map((file) => [file.path, file.noPatch ?? file.kind])).toEqual([
      ['a.ts', 'file'],
      ['becomes-link', 'symlink'],
      ['image', 'binary'],
      ['script', 'mode_only'],
    ]);
    expect(gitFetches()).toBeGreaterThan(0);
  });

  test('a link looks in a listing like a file of one line: it is named with git, and where that cannot be it is a gap', async () => {
    const { git } = world;
    git.checkout('main').symlink('moves', 'one').symlink('goes', 'one').write('line', 'a\n').commit('Ground');
    git.git('checkout', '-q', '-B', 'topic');
    git.symlink('moves', 'two').remove('goes').symlink('comes', '/etc/passwd').write('line', 'b\n').commit('Links');
    const read = await diff();
    expect(read).toEqual(await local());
    expect(read.files.map(({ path, kind }) => [path, kind])).toEqual([
      ['comes', 'symlink'],
      ['goes', 'symlink'],
      ['line', 'file'],
      ['moves', 'symlink'],
    ]);
    world.github.faults.push(NO_GIT);
    expect((await diff()).gaps[0]).toBe('GitHub does not say whether comes, goes, moves is a file or a link.');
  });

  test('no difference is no file and no request', async () => {
    const sha = world.git.head('topic');
    expect(await world.forge.diff(world.ref, { baseSha: sha, headSha: sha })).toEqual({ files: [], gaps: [] });
    expect(world.github.requests).toEqual([]);
  });
});

describe('C9: GitHub zeroes rows without a word once a response is large', () => {
  test('such rows are read again on smaller pages, until each has its numbers and its patch', async () => {
    world.git.push(numbered(45, 1_000));
    const whole = await local();
    expect(await diff()).toEqual(whole);
    expect(whole.files.every((file) => file.additions === 1_000 && file.patch !== null)).toBe(true);
    expect(gitFetches()).toBe(0);
    const asked = world.github.requests.map(({ line }) => line).filter((line) => line.includes('/files'));
    expect(asked.filter((line) => line.includes('per_page=100'))).toHaveLength(1);
    expect(asked.filter((line) => line.includes('per_page=10&'))).toHaveLength(3);
  });

  test('a page of ten that is still too large is read one by one', async () => {
    world.git.push(numbered(12, 6_000));
    expect((await diff()).files.map((file) => file.additions)).toEqual(Array.from({ length: 12 }, () => 6_000));
    expect(world.github.count(/per_page=1&page=\d+$|per_page=1$/)).toBeGreaterThan(0);
    expect(gitFetches()).toBe(0);
  });

  test('zeroed rows of a comparison, which has one page only, are read with git', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push(numbered(30, 1_000));
    world.git.push({ 'a.ts': 'b\n' });
    const commits = { baseSha: one, headSha: two };
    expect(await world.forge.diff(world.ref, commits)).toEqual(await local(commits));
    expect(gitFetches()).toBeGreaterThan(0);
  });
});

describe('C9: listings that are capped and patches that are left out are read with git, or are a named gap', () => {
  test('3 400 files where GitHub lists 3 000', async () => {
    world.git.push(numbered(3_400, 1));
    const read = await diff();
    expect(read.files).toHaveLength(3_400);
    expect(read).toEqual(await local());
    // A listing that is cut for certain is not read first.
    expect(world.github.requests.map(({ line }) => line).filter((line) => line.includes('/files'))).toEqual([]);
    world.github.faults.push(NO_GIT);
    const capped = await diff();
    expect(capped.files).toHaveLength(3_000);
    expect(capped.gaps).toEqual([
      'GitHub lists 3000 of 3400 changed files; the others are not shown.',
      expect.stringMatching(/^The commits could not be read with git instead: .*may not read it/),
    ]);
  });

  test('one line of 17 MB costs its own patch and no other', async () => {
    world.git.push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(17_000_000), 'z.ts': 'z\n' });
    const read = await diff();
    expect(read.files.map((file) => [file.path, file.noPatch ?? file.patch])).toEqual([
      ['a.ts', '@@ -0,0 +1 @@\n+a'],
      ['data.jsonl', 'too_large'],
      ['z.ts', '@@ -0,0 +1 @@\n+z'],
    ]);
    world.github.faults.push(NO_GIT);
    const listed = await diff();
    expect(listed.files.map((file) => [file.path, file.noPatch ?? file.patch])).toEqual(
      read.files.map((file) => [file.path, file.noPatch ?? file.patch]),
    );
    expect(listed.gaps[0]).toBe('GitHub shows no patch of data.jsonl, and does not say why.');
  });

  test('a patch GitHub finds too long is there by git', async () => {
    world.git.push({ 'long.ts': 'x\n'.repeat(25_000), 'a.ts': 'a\n' });
    expect((await diff()).files.find((file) => file.path === 'long.ts')).toMatchObject({
      additions: 25_000,
      patch: expect.stringContaining('@@ -0,0 +1,25000 @@') as string,
    });
  });

  test('the diff media type, which GitHub refuses past its caps, is never asked for', async () => {
    world.git.push(numbered(310, 1));
    expect((await diff()).files).toHaveLength(310);
    expect(world.github.count(/\.diff|\.patch/)).toBe(0);
  });

  test('trouble with git that passes is no gap: the diff would be kept with it for ever', async () => {
    world.git.push({ image: Buffer.from([1, 0]) });
    world.github.faults.push({ on: /^GIT /, status: 502, body: {}, times: 1 });
    await expect(diff()).rejects.toMatchObject({ kind: 'unavailable' });
    expect((await diff()).gaps).toEqual([]);
  });
});

describe('O1: every page is of the same commits', () => {
  test('a push between two pages: the diff is made of the commits that were asked for', async () => {
    world.git.push(numbered(150, 1));
    const commits = await world.head();
    const whole = await local();
    world.github.before.push({ on: /\/files\?.*page=2/, run: () => void world.git.push({ 'late.ts': 'late\n', f0001: 'changed\n' }) });
    expect(await world.forge.diff(world.ref, commits)).toEqual(whole);
  });

  test('C3: an earlier round is read by its commits, after a push and after a force-push', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    const round = await world.head();
    const whole = await local();
    world.git.push({ 'b.ts': 'b\n' });
    expect(await world.forge.diff(world.ref, round)).toEqual(whole);
    world.git.forcePush({ 'c.ts': 'c\n' });
    expect(await world.forge.diff(world.ref, round)).toEqual(whole);
  });

  test('C4: between two diverged heads it is tree against tree, which no comparison of GitHub is', async () => {
    const one = world.git.push({ 'a.ts': 'a\n', 'kept.ts': 'k\n' });
    const two = world.git.forcePush({ 'b.ts': 'b\n', 'kept.ts': 'k\n' });
    const commits = { baseSha: one, headSha: two };
    const read = await world.forge.diff(world.ref, commits);
    expect(read).toEqual(await local(commits));
    expect(read.files.map((file) => [file.status, file.path])).toEqual([
      ['removed', 'a.ts'],
      ['added', 'b.ts'],
    ]);
  });

  test('a commit that is gone is not found', async () => {
    await expect(world.forge.diff(world.ref, { baseSha: 'a'.repeat(40), headSha: world.git.head('topic') })).rejects.toMatchObject({
      kind: 'not_found',
    });
    await expect(world.forge.diff(world.ref, { baseSha: '--output=x', headSha: world.git.head('topic') })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });
});

describe('commits fetched with git', () => {
  const fetched = () => join(world.dataDir, 'fetched');

  test('are gone once they were read, also after a failure; those of a process that died go after an hour', async () => {
    world.git.push({ image: Buffer.from([1, 0]) });
    for (const name of ['barista-fetch-dead', 'barista-fetch-alive', 'other']) mkdirSync(join(fetched(), name), { recursive: true });
    for (const name of ['barista-fetch-dead', 'other']) utimesSync(join(fetched(), name), 1, 1);
    await diff();
    world.github.faults.push({ ...NO_GIT, times: 1 });
    await diff();
    expect(readdirSync(fetched()).sort()).toEqual(['barista-fetch-alive', 'other']);
  });

  test('hold no history, and only the files that differ; no token is in any file of theirs', async () => {
    const { git, github } = world;
    git.checkout('main').write('elsewhere', 'not of this diff\n').commit('Ground');
    git.git('checkout', '-q', '-B', 'topic');
    git.push({ 'a.ts': 'a\n' });
    git.push({ image: Buffer.from([1, 0]), 'a.ts': 'b\n' });
    const commits = await world.head();
    const seen: string[] = [];
    let objects = '';
    const files = () =>
      readdirSync(fetched(), { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile())
        .map((file) => join(file.parentPath, file.name));
    github.onGit = () => {
      for (const file of files()) seen.push(readFileSync(file, 'latin1'));
      const gitDir = files()
        .find((file) => file.endsWith('/HEAD'))
        ?.replace(/\/HEAD$/, '');
      objects = git.git('--git-dir', String(gitDir), 'cat-file', '--batch-check=%(objecttype)', '--batch-all-objects');
    };
    await world.forge.diff(world.ref, commits);
    expect(seen.join('\n')).toContain(github.urls.web);
    expect(github.tokens.size).toBeGreaterThan(0);
    for (const secret of world.secrets()) expect(seen.join('\n')).not.toContain(secret);
    // Seen when the files were asked for: two commits, their trees, and no file yet.
    expect(objects.split('\n').sort()).toEqual(['commit', 'commit', 'tree', 'tree']);
  });

  test('of a renamed repository are fetched under its present name', async () => {
    world.git.push({ image: Buffer.from([1, 0]) });
    const ref = world.ref;
    const commits = await world.head();
    world.github.rename('new-org', 'renamed');
    expect((await world.forge.diff(ref, commits)).gaps).toEqual([]);
    expect(world.github.count(/^GIT .*new-org\/renamed/)).toBeGreaterThan(0);
  });

  test('two readers at once do not meet', async () => {
    world.git.push({ image: Buffer.from([1, 0]) });
    const commits = await world.head();
    const [one, two] = await Promise.all([world.forge.diff(world.ref, commits), world.again().diff(world.ref, commits)]);
    expect(one).toEqual(two);
  });
});

test('a 502 on a read is asked again, and a page is never taken for the last one by it', async () => {
  world.git.push(numbered(150, 1));
  world.github.faults.push(badGateway(/\/files\?.*page=2/));
  expect((await diff()).files).toHaveLength(150);
});

test('D9: a listing that is read for some files holds the patches of no other, and ends for none of them', async () => {
  const row = (filename: string): Row => ({
    filename,
    status: 'modified',
    sha: null,
    additions: 1,
    deletions: 0,
    changes: 1,
    patch: '+'.repeat(100),
  });
  const pages = [1, 2, 3].map((page) => Array.from({ length: page === 3 ? 1 : 100 }, (_, at) => row(`${page}-${at}.ts`)));
  const rows = await listRows(async (page) => Promise.resolve(pages[page - 1]!), {
    maxPatches: 1_000,
    wanted: ({ filename }) => filename === '3-0.ts',
  });
  expect(rows.map(({ filename }) => filename)).toEqual(['3-0.ts']);
});

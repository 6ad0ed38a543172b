import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { localRef } from '../../activities/forge/pull-request.js';
import { cloneOf, lookAt, type Clone } from '../../cli/demo/repository.js';
import { GitWorld } from '../support/git-world.js';
import { fingerprint } from './fingerprint.js';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'barista-demo-'))));
afterEach(() => rmSync(dir, { recursive: true }));

/** Looks and clones, and reads the pull request of the clone as Barista will; the repository shown must not notice. */
async function shown(git: GitWorld, wish: { base?: string; head?: string } = {}) {
  const before = fingerprint(git.path);
  const found = await lookAt(git.path, wish);
  const clone = await cloneOf(found, join(dir, 'clone'));
  expect(fingerprint(git.path)).toEqual(before);
  return { found, clone, files: await filesOf(clone) };
}

async function filesOf(clone: Clone): Promise<string[]> {
  const forge = createLocalForge({ allowedRoots: null, now: () => 0 });
  const ref = await forge.resolve(localRef(clone.path, clone.base, clone.head));
  const head = await forge.head(ref);
  expect(head.state).toBe('open');
  if (head.headSha === null) throw new Error(head.reason);
  return (await forge.diff(ref, { headSha: head.headSha, baseSha: head.baseSha })).files.map(({ path }) => path);
}

test('the current branch is reviewed against main', async () => {
  using git = new GitWorld();
  git.push({ 'a.ts': 'a\n' });
  git.pushBase({ 'b.ts': 'b\n' });
  const { clone, files } = await shown(git);
  expect(clone).toMatchObject({ base: 'main', head: 'topic' });
  expect(files).toEqual(['a.ts']);
});

test('on the only branch there is, against a commit some way back', async () => {
  using git = new GitWorld();
  git.checkout('main').deleteBranch('topic').git('checkout', '-q', 'main');
  for (let n = 1; n <= 8; n++) git.write(`f${n}.ts`, `${n}\n`).commit(`Number ${n}`);
  const { clone, files } = await shown(git);
  expect(clone).toMatchObject({ base: 'demo-base', head: 'main' });
  expect(files).toEqual(['f4.ts', 'f5.ts', 'f6.ts', 'f7.ts', 'f8.ts']);
});

test('a single commit is reviewed as something wholly new', async () => {
  using git = new GitWorld();
  git.checkout('main').deleteBranch('topic').git('checkout', '-q', 'main');
  expect((await shown(git)).files).toEqual(['README.md']);
});

test('a detached head, a merged branch, a folder below the top and a linked work tree are taken as they are', async () => {
  using git = new GitWorld();
  git.push({ 'src/a.ts': 'a\n' });
  git.git('checkout', '-q', '--detach');
  expect((await lookAt(git.path, {})).head.name).toBe('demo-head');
  git.git('worktree', 'add', '-q', join(dir, 'tree'), 'topic');
  expect(await lookAt(join(dir, 'tree'), {})).toMatchObject({ head: { name: 'topic' }, base: { name: 'main' } });
  git.git('worktree', 'remove', join(dir, 'tree'));
  git.checkout('topic').merge();
  git.checkout('topic');
  expect(await lookAt(join(git.path, 'src'), {})).toMatchObject({ head: { name: 'topic' }, base: { name: 'demo-base' } });
});

test('base and head can be named, and what is wrong with them is one line', async () => {
  using git = new GitWorld();
  git.push({ 'a.ts': 'a\n' });
  git.checkout('main');
  expect((await shown(git, { base: 'main', head: 'topic' })).files).toEqual(['a.ts']);
  await expect(lookAt(git.path, { head: 'nope' })).rejects.toThrow(`${git.path} has no branch or commit nope.`);
  await expect(lookAt(git.path, { base: 'topic', head: 'main' })).rejects.toThrow(
    'main has nothing that topic has not. Name two branches that differ.',
  );
  await expect(lookAt(dir, {})).rejects.toThrow(`${dir} is not in a git repository. Start the demo in one, or show one with --repo PATH.`);
});

test('a repository without a commit is told to get one', async () => {
  using git = new GitWorld();
  git.git('checkout', '-q', '--orphan', 'empty');
  await expect(lookAt(git.path, {})).rejects.toThrow('has no commit yet. Make one, or show another with --repo PATH.');
});

test('a line in another encoding is found by how it reads', async () => {
  using git = new GitWorld();
  git.push({ 'a.txt': Buffer.from('un caf\u00e9\nand more\n', 'latin1') });
  const { clone } = await shown(git);
  const commit = await clone.takeOut([{ path: 'a.txt', line: 1, text: 'un caf\ufffd' }], 'First');
  expect(git.git('--git-dir', clone.path, 'show', `${commit}:a.txt`)).toBe('and more');
});

test("lines are taken out in the clone's head alone, whatever moved above them, and what is not there is left", async () => {
  using git = new GitWorld();
  git.push({ 'a b.ts': 'one\ntwo\nthree\ntwo\n', 'c.ts': 'last' });
  const { clone } = await shown(git);
  const before = fingerprint(git.path);
  await clone.takeOut([{ path: 'a b.ts', line: 1, text: 'one' }], 'First');
  const commit = await clone.takeOut(
    [
      { path: 'a b.ts', line: 4, text: 'two' },
      { path: 'a b.ts', line: 1, text: 'gone' },
      { path: 'nowhere.ts', line: 1, text: 'x' },
    ],
    'Second',
  );
  const read = (path: string) => git.git('--git-dir', clone.path, 'show', `${commit}:${path}`);
  expect(read('a b.ts')).toBe('two\nthree');
  expect(read('c.ts')).toBe('last');
  expect(git.git('--git-dir', clone.path, 'log', '--format=%s', 'main..topic')).toBe('Second\nFirst\nMore');
  expect(fingerprint(git.path)).toEqual(before);
});

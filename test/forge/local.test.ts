import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge, KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { GitWorld } from '../support/git-world.js';

const NOW = 1_893_500_000_000;
let world: GitWorld;
let forge: Forge;
beforeEach(() => {
  world = new GitWorld();
  forge = createLocalForge({ allowedRoots: null, now: () => NOW });
});
afterEach(() => world.dispose());

const ref = () => parsePullRequest(world.pullRequest);
const head = async () => (await forge.head(ref())) as KnownHead;
const diff = async () => forge.diff(ref(), await head());

describe('O1: places and branches', () => {
  test('a shallow clone without the merge base is refused and says what to run', async () => {
    world.push({ 'a.ts': 'a\n' });
    world.push({ 'a.ts': 'b\n' });
    world.pushBase({ 'b.ts': 'b\n' });
    const clone = mkdtempSync(join(tmpdir(), 'barista-shallow-'));
    execFileSync('git', ['clone', '-q', '--depth=1', '--no-single-branch', `file://${world.path}`, clone]);
    const shallow = parsePullRequest(`local:${clone}?base=origin/main&head=origin/topic`);
    await expect(forge.head(shallow)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('git fetch --unshallow') as string,
    });
    rmSync(clone, { recursive: true });
  });

  test('bare repositories, linked work trees and remote branches are read; work trees share one key', async () => {
    world.push({ 'a.ts': 'a\n' });
    const place = realpathSync(mkdtempSync(join(tmpdir(), 'barista-places-')));
    world.git('clone', '-q', '--bare', '.', join(place, 'bare.git'));
    world.git('worktree', 'add', '-q', '--detach', join(place, 'tree'));
    const bare = parsePullRequest(`local:${place}/bare.git?base=main&head=topic`);
    expect(await forge.head(bare)).toEqual(await head());
    expect((await forge.diff(bare, await head())).files).toEqual((await diff()).files);
    const tree = parsePullRequest(`local:${place}/tree?base=main&head=topic`);
    expect((await forge.resolve(tree)).key).toBe((await forge.resolve(ref())).key);
    expect((await forge.resolve(tree)).key).not.toBe((await forge.resolve(bare)).key);
    rmSync(place, { recursive: true });
  });

  test.each(['-x', '--upload-pack=touch', "it's", 'grün/ä', 'a$(touch)', 'a;b', 'a"b', 'a&b', '%41'])(
    'a branch named %s is a name and nothing else',
    async (name) => {
      world.push({ 'a.ts': 'a\n' });
      world.git('update-ref', `refs/heads/${name}`, world.head('topic'));
      const odd = parsePullRequest(`local:${world.path}?base=main&head=${encodeURIComponent(name)}`);
      expect(odd).toMatchObject({ head: name });
      expect(await forge.head(odd)).toMatchObject({ headSha: world.head('topic') });
      expect(await forge.describe(odd)).toMatchObject({ title: 'More' });
    },
  );
});

describe('C1: title and description', () => {
  test('the title of one commit is its subject, of more the branch; the description has the messages, oldest first', async () => {
    world.push({ 'a.ts': 'a\n' }, 'First thing\n\nWhy it is so.');
    expect(await forge.describe(ref())).toMatchObject({ title: 'First thing', description: 'First thing\n\nWhy it is so.' });
    world.push({ 'a.ts': 'b\n' }, 'Second thing');
    world.pushBase({ 'z.ts': 'z\n' }, 'Not of this branch');
    expect(await forge.describe(ref())).toEqual({
      title: 'topic',
      description: 'First thing\n\nWhy it is so.\n\nSecond thing',
      issue: null,
      comments: [],
      gaps: [],
    });
  });
});

describe('R11: only repositories under the allowed folders', () => {
  const place = () => realpathSync(mkdtempSync(join(tmpdir(), 'barista-roots-')));
  test('a path outside, a link out, a git file that points out and borrowed objects outside are refused', async () => {
    world.push({ 'a.ts': 'a\n' });
    const root = place();
    const only = createLocalForge({ allowedRoots: [root], now: () => NOW });
    const at = (path: string) => parsePullRequest(`local:${path}?base=main&head=topic`);
    const refused = { kind: 'refused', message: expect.stringContaining('BARISTA_LOCAL_REPOS') as string };
    await expect(only.head(ref())).rejects.toMatchObject(refused);
    symlinkSync(world.path, join(root, 'link'));
    await expect(only.head(at(join(root, 'link')))).rejects.toMatchObject(refused);
    mkdirSync(join(root, 'pointer'));
    writeFileSync(join(root, 'pointer', '.git'), `gitdir: ${world.path}/.git\n`);
    await expect(only.head(at(join(root, 'pointer')))).rejects.toMatchObject(refused);
    world.git('clone', '-q', '--shared', '--bare', '.', join(root, 'borrower.git'));
    await expect(only.head(at(join(root, 'borrower.git')))).rejects.toMatchObject(refused);
    cpSync(world.path, join(root, 'inside'), { recursive: true });
    expect(await only.head(at(join(root, 'inside')))).toEqual(await head());
    await expect(only.head(at(`${root}-beside`))).rejects.toMatchObject({ kind: 'not_found' });
    rmSync(root, { recursive: true });
  });

  test('a folder inside a work tree is not the repository around it', async () => {
    world.write('deep/a.ts', 'a\n').commit('Deep');
    const inner = parsePullRequest(`local:${world.path}/deep?base=main&head=topic`);
    await expect(forge.head(inner)).rejects.toMatchObject({ kind: 'not_found', message: expect.stringContaining('not the top') as string });
  });
});

test('a stop ends running reads, and later ones', async () => {
  const stop = new AbortController();
  const stopped = createLocalForge({ allowedRoots: null, now: () => NOW, stop: stop.signal });
  const reading = stopped.head(ref());
  stop.abort();
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(stopped.head(ref())).rejects.toMatchObject({ kind: 'unavailable' });
});

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { ChangedFile, Forge, KnownHead } from '../../activities/forge/port.js';
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
const byPath = async () => Object.fromEntries((await diff()).files.map((file) => [file.path, file])) as Record<string, ChangedFile>;

describe('O1: the head and the merge base', () => {
  test('the base commit is the merge base, not the head of the base branch', async () => {
    const base = world.head('main');
    const topic = world.push({ 'a.ts': 'a\n' });
    const baseRef = world.pushBase({ 'b.ts': 'b\n' });
    expect(await forge.head(ref())).toEqual({ state: 'open', headSha: topic, baseSha: base, baseRefSha: baseRef, readAt: NOW });
    expect((await diff()).files.map((file) => file.path)).toEqual(['a.ts']);
  });

  test('P5: head contained in base is merged; a branch gone is closed', async () => {
    world.push({ 'a.ts': 'a\n' });
    world.merge();
    expect((await forge.head(ref())).state).toBe('merged');
    world.deleteBranch('topic');
    expect(await forge.head(ref())).toMatchObject({ state: 'closed', headSha: null, reason: 'The branch topic is gone.' });
    expect(await forge.headFingerprint(ref())).toBeNull();
    expect(await forge.describe(ref())).toMatchObject({ title: 'topic', description: '' });
    await expect(forge.resolve(ref())).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('no branch topic') as string,
    });
  });

  test('P4: the fingerprint changes with each head, and returns with it', async () => {
    const first = await forge.headFingerprint(ref());
    world.push({ 'a.ts': 'a\n' });
    const second = await forge.headFingerprint(ref());
    world.git('reset', '-q', '--hard', 'HEAD~1');
    expect(second).not.toBe(first);
    expect(await forge.headFingerprint(ref())).toBe(first);
  });

  test('C9: unrelated histories are compared with the base branch itself, and compare says they diverged', async () => {
    world.git('checkout', '-q', '--orphan', 'island');
    world.write('island.ts', 'alone\n').commit('Alone');
    const island = parsePullRequest(`local:${world.path}?base=main&head=island`);
    const read = (await forge.head(island)) as KnownHead;
    expect(read).toMatchObject({ state: 'open', baseSha: world.head('main') });
    expect((await forge.compare(island, read.baseSha, read.headSha)).status).toBe('diverged');
    expect((await forge.diff(island, read)).files.map((file) => file.path)).toEqual(['island.ts']);
  });

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

describe('C1: title, description and changed files', () => {
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

  test('every kind of change is named', async () => {
    world.checkout('main');
    const long = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n') + '\n';
    for (const name of ['changed', 'gone', 'moved', 'moved-changed', 'becomes-link', 'script'])
      world.write(name, `${name}\n`.repeat(20) + long);
    world.write('gone', 'nothing alike\n'.repeat(31));
    world
      .write('image', Buffer.from([1, 0, 2]))
      .symlink('link', 'script')
      .submodule('vendor', '1'.repeat(40))
      .commit('Ground');
    world.git('checkout', '-q', '-B', 'topic');
    world
      .write('changed', 'changed\n'.repeat(20) + long.replace('line 3\n', 'line three\n'))
      .remove('gone')
      .rename('moved', 'deep/moved');
    world
      .remove('moved-changed')
      .write('moved-too', 'moved-changed\n'.repeat(20) + long.replace('line 9', 'line nine'))
      .remove('becomes-link')
      .symlink('becomes-link', 'script');
    world
      .write('script', 'script\n'.repeat(20) + long, 0o755)
      .write('image', Buffer.from([3, 0, 4]))
      .symlink('link', '/etc/passwd');
    world.write('new', 'one\ntwo').write('nothing', '').submodule('vendor', '2'.repeat(40)).commit('All of it');
    const files = await byPath();
    expect(files['changed']).toMatchObject({ status: 'modified', additions: 1, deletions: 1, blobSha: world.head('topic:changed') });
    expect(files['changed']?.patch).toMatch(/^@@ -21,7 \+21,7 @@ changed\n line 0\n line 1\n line 2\n-line 3\n\+line three\n/);
    expect(files['gone']).toMatchObject({ status: 'removed', additions: 0, deletions: 31, blobSha: null });
    expect(files['deep/moved']).toMatchObject({ status: 'renamed', previousPath: 'moved', patch: null, noPatch: 'renamed_only' });
    expect(files['moved-too']).toMatchObject({ status: 'renamed', previousPath: 'moved-changed', additions: 1, deletions: 1 });
    expect(files['becomes-link']).toMatchObject({
      status: 'type_changed',
      kind: 'symlink',
      modeChange: '100644 → 120000',
      additions: 1,
      deletions: 50,
    });
    expect(files['becomes-link']?.patch).toMatch(/\n@@ -0,0 \+1 @@\n\+script\n\\ No newline at end of file$/);
    expect(files['script']).toMatchObject({ noPatch: 'mode_only', modeChange: '100644 → 100755', additions: 0 });
    expect(files['image']).toMatchObject({ noPatch: 'binary', patch: null, additions: null, deletions: null });
    expect(files['link']).toMatchObject({
      kind: 'symlink',
      patch: '@@ -1 +1 @@\n-script\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file',
    });
    expect(files['new']).toMatchObject({ status: 'added', patch: '@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file' });
    expect(files['nothing']).toMatchObject({ status: 'added', noPatch: 'empty' });
    expect(files['vendor']).toMatchObject({ kind: 'submodule', blobSha: '2'.repeat(40) });
    expect(files['vendor']?.patch).toContain(`+Subproject commit ${'2'.repeat(40)}`);
  });

  const ODD = [
    ' spaced name ',
    'quo"te',
    "apo'strophe",
    'grün/日本.ts',
    '-dash',
    '--output=x',
    'new\nline',
    'tab\there',
    'back\\slash',
    ':(glob)*',
    'diff --git a',
    '$(touch x)',
    '*',
    'a'.repeat(200),
  ];
  test('odd names are listed, patched and read, each as itself', async () => {
    world.push(Object.fromEntries(ODD.map((name, at) => [name, `content ${at}\n`])));
    const files = await byPath();
    expect(Object.keys(files).sort()).toEqual([...ODD].sort());
    for (const [at, name] of ODD.entries()) {
      expect(files[name]?.patch).toBe(`@@ -0,0 +1 @@\n+content ${at}`);
      expect(await forge.file(ref(), world.head('topic'), name)).toMatchObject({ kind: 'text', content: `content ${at}\n`, totalLines: 1 });
    }
  });

  test('content that looks like a header stays content', async () => {
    const trap = 'diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n';
    world.push({ 'a.patch': trap, 'b.ts': 'b\n' });
    world.push({ 'a.patch': `-- a\n++ b\n\\ No newline\n${trap}` });
    const files = await byPath();
    expect(files['a.patch']).toMatchObject({ additions: 6, status: 'added' });
    expect(files['b.ts']?.patch).toBe('@@ -0,0 +1 @@\n+b');
  });

  test('an empty diff and a name that is not UTF-8', async () => {
    world.push({});
    expect(await diff()).toEqual({ files: [], gaps: [] });
    const blob = world
      .gitBytes(['hash-object', '-w', '--stdin'], Buffer.from([0x66, 0xfc, 0x0a]))
      .toString()
      .trim();
    world.gitBytes(['update-index', '--index-info'], Buffer.concat([Buffer.from(`100644 ${blob}\t`), Buffer.from([0x66, 0xfc, 0x0a])]));
    world.commitIndex('Latin');
    expect((await diff()).files).toMatchObject([{ path: 'f\ufffd', notUtf8: true, patch: '@@ -0,0 +1 @@\n+f\ufffd' }]);
  });
});

describe('C9: what is too large is named and costs no other file', () => {
  test('one line of 17 MB has no patch, its neighbours have theirs', async () => {
    world.push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(17_000_000), 'z.ts': 'z\n' });
    const files = await byPath();
    expect(files['data.jsonl']).toMatchObject({ patch: null, noPatch: 'too_large', additions: 1, span: { side: 'new', from: 1, to: 1 } });
    expect(files['a.ts']?.patch).toBe('@@ -0,0 +1 @@\n+a');
    expect(files['z.ts']?.patch).toBe('@@ -0,0 +1 @@\n+z');
  });

  test('a patch of many lines over the limit keeps its counts and its span', async () => {
    world
      .checkout('main')
      .write('long.txt', `${'y'.repeat(100)}\n`.repeat(20_000))
      .commit('Long');
    world.git('checkout', '-q', '-B', 'topic');
    world.push({ 'long.txt': `${'w'.repeat(100)}\n`.repeat(15_000) });
    expect((await byPath())['long.txt']).toMatchObject({
      noPatch: 'too_large',
      additions: 15_000,
      deletions: 20_000,
      span: { side: 'new', from: 1, to: 15_000 },
    });
  });

  test('a file git itself will not look into is too large, not binary', async () => {
    world.push({ 'huge.txt': Buffer.alloc(33 * 1024 * 1024, 'h\n'), 'a.ts': 'a\n' });
    expect((await byPath())['huge.txt']).toMatchObject({ noPatch: 'too_large', additions: null });
  });

  test('past the limit of a whole diff the rest is listed without patches', async () => {
    const big = (letter: string) => `${letter.repeat(99)}\n`.repeat(9_500);
    world.push(
      Object.fromEntries(
        Array.from({ length: 27 }, (_, at) => [`f${String(at).padStart(2, '0')}`, big(String.fromCharCode(97 + (at % 26)))]),
      ),
    );
    const { files } = await diff();
    expect(files).toHaveLength(27);
    expect(files.filter((file) => file.noPatch === 'diff_too_large').map((file) => file.path)).toEqual(['f25', 'f26']);
    expect(files.every((file) => file.additions === 9_500)).toBe(true);
  });
});

describe('C4: comparing two commits', () => {
  test('ahead, identical, diverged, and unknown for a commit that is gone', async () => {
    const one = world.push({ 'a.ts': 'a\n' });
    const two = world.push({ 'b.ts': 'b\n' });
    expect(await forge.compare(ref(), one, two)).toEqual({ status: 'ahead', commits: 1, changedPaths: ['b.ts'], capped: false });
    expect(await forge.compare(ref(), two, two)).toMatchObject({ status: 'identical', commits: 0, changedPaths: [] });
    const three = world.forcePush({ 'c.ts': 'c\n' });
    expect(await forge.compare(ref(), two, three)).toMatchObject({ status: 'diverged', commits: 1 });
    expect(await forge.compare(ref(), two, one)).toMatchObject({ status: 'diverged' });
    expect(await forge.compare(ref(), 'a'.repeat(40), three)).toEqual({
      status: 'unknown',
      commits: null,
      changedPaths: null,
      capped: false,
    });
    expect(await forge.commitsBetween(ref(), one, two)).toBe(1);
    expect(await forge.commitsBetween(ref(), two, three)).toBeNull();
    await expect(forge.diff(ref(), { baseSha: 'a'.repeat(40), headSha: three })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(forge.diff(ref(), { baseSha: '--output=x', headSha: three })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('F3: what a path is', () => {
  test('text, binary, symlink, submodule, folder, missing, too large', async () => {
    world
      .write('deep/a.txt', 'one\ntwo')
      .write('bin', Buffer.from([65, 0]))
      .symlink('link', '/etc/passwd')
      .write('empty', '');
    world
      .write('big', 'x'.repeat(1_000_001))
      .write('limit', 'x'.repeat(1_000_000))
      .write('latin', Buffer.from([0xfc]));
    world.submodule('sub', '3'.repeat(40)).commit('Kinds');
    const read = (path: string) => forge.file(ref(), world.head('topic'), path);
    expect(await read('deep/a.txt')).toEqual({
      kind: 'text',
      sha: world.head('topic:deep/a.txt'),
      size: 7,
      content: 'one\ntwo',
      totalLines: 2,
      notUtf8: false,
    });
    expect(await read('bin')).toMatchObject({ kind: 'binary', size: 2 });
    expect(await read('link')).toMatchObject({ kind: 'symlink', target: '/etc/passwd' });
    expect(await read('sub')).toEqual({ kind: 'submodule', sha: '3'.repeat(40) });
    expect(await read('deep')).toEqual({ kind: 'folder' });
    expect(await read('deep/none')).toEqual({ kind: 'missing' });
    expect(await read('link/passwd')).toEqual({ kind: 'missing' });
    expect(await read('empty')).toMatchObject({ totalLines: 0, content: '' });
    expect(await read('big')).toMatchObject({ kind: 'too_large', size: 1_000_001 });
    expect(await read('limit')).toMatchObject({ kind: 'text', totalLines: 1 });
    expect(await read('latin')).toMatchObject({ kind: 'text', content: '\ufffd', notUtf8: true });
    for (const outside of ['../secret', '/etc/passwd', 'deep/../../x', '.git/config', '']) {
      expect((await read(outside).catch((error: unknown) => error as { kind: string })).kind).not.toBe('text');
    }
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

test('V5: a local repository has no CI', async () => {
  expect(await forge.ci(ref(), world.head('topic'))).toMatchObject({ state: 'none' });
});

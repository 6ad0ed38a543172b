import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { ChangedFile, KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import type { GitWorld } from '../support/git-world.js';
import { everyKindOfChange } from './gitlab-world.js';
import { FORGES_AND_OLD, headOf, type ForgeWorld } from './worlds.js';
import { aReview } from '../support/review.js';

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
  'a&b=c?d#e%41',
  'a'.repeat(200),
];

const SCENARIOS: Readonly<Record<string, (git: GitWorld) => void>> = {
  'every kind of change': everyKindOfChange,
  'odd names, each as itself': (git) => void git.push(Object.fromEntries(ODD.map((name, at) => [name, `content ${at}\n`]))),
  'odd names removed and renamed': (git) => {
    git.pushBase(Object.fromEntries(ODD.map((name, at) => [name, `content ${at}\n`.repeat(9)])));
    git.mergeBaseIn();
    for (const [at, name] of ODD.entries()) {
      if (at % 2 === 0) git.remove(name);
      else git.rename(name, `moved/${name}`);
    }
    git.commit('Away with them');
  },
  'content that looks like a header': (git) => {
    const trap = 'diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n';
    git.push({ 'a.patch': trap, 'b.ts': 'b\n' });
    git.push({ 'a.patch': `-- a\n++ b\n\\ No newline\n${trap}` });
  },
  'carriage returns, no newline at the end, bytes that are not UTF-8': (git) =>
    void git.push({
      'crlf.txt': 'a\r\nb\r\n',
      'open.txt': 'no end',
      'latin.txt': Buffer.from([0x66, 0xfc, 0x0a]),
      'form\ffeed': 'a\fb\u2028c\n',
    }),
  'one line of 3 MB between two others': (git) => void git.push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(3_000_000), 'z.ts': 'z\n' }),
  'base merged in, and moved on': (git) => {
    git.push({ 'a.ts': 'a\n' });
    git.pushBase({ 'b.ts': 'b\n' });
    git.mergeBaseIn();
    git.push({ 'a.ts': 'a\nc\n' });
    git.pushBase({ 'd.ts': 'd\n' });
  },
  'nothing changed': (git) => void git.push({}),
};

const nth = (at: number) => `f${String(at).padStart(2, '0')}`;

describe.each(FORGES_AND_OLD)('%s', (name, start) => {
  let world: ForgeWorld;
  beforeEach(async () => {
    world = await start();
  });
  afterEach(() => world.stop());

  const head = () => headOf(world);
  const diff = async () => world.forge.diff(world.ref, await head());
  const byPath = async () => Object.fromEntries((await diff()).files.map((file) => [file.path, file])) as Record<string, ChangedFile>;
  /** The object of a file, where this forge names it. */
  const named = (rev: string): unknown =>
    world.differs.namesObjects ? world.git.head(rev) : expect.toBeOneOf([world.git.head(rev), null]);

  describe('O1: the head and the merge base', () => {
    test('the base commit is the merge base, not the head of the base branch', async () => {
      const { git, differs } = world;
      const base = git.head('main');
      const topic = git.push({ 'a.ts': 'a\n' });
      await head();
      const baseRef = git.pushBase({ 'b.ts': 'b\n' });
      const read = await head();
      expect(read).toMatchObject({ state: 'open', headSha: topic, baseSha: base, baseRefSha: differs.readsBase ? baseRef : base });
      expect((await diff()).files.map((file) => file.path)).toEqual(['a.ts']);
    });

    test('P4: the fingerprint changes with each head, and returns with it', async () => {
      const { git, forge, ref } = world;
      const first = await forge.headFingerprint(ref);
      git.push({ 'a.ts': 'a\n' });
      const second = await forge.headFingerprint(ref);
      git.git('reset', '-q', '--hard', 'HEAD~1');
      expect(second).not.toBe(first);
      expect(await forge.headFingerprint(ref)).toBe(first);
    });

    test('P5: merged, with the same head; where the forge keeps what was merged, its diff stays', async () => {
      const { git, forge, ref, differs } = world;
      const headSha = git.push({ 'a.ts': 'a\n' });
      const [open, before] = [await head(), await forge.headFingerprint(ref)];
      world.merge();
      expect(await forge.headFingerprint(ref)).not.toBe(before);
      const merged = await head();
      expect(merged).toMatchObject({ state: 'merged', headSha, baseSha: differs.keepsCommits ? open.baseSha : headSha });
      expect((await diff()).files.map((file) => file.path)).toEqual(differs.keepsCommits ? ['a.ts'] : []);
      expect(await forge.diff(ref, open)).toMatchObject({ files: [{ path: 'a.ts', patch: '@@ -0,0 +1 @@\n+a' }], gaps: [] });
    });

    test('P5: closed and reopened, and the head is the same again', async () => {
      const { git, forge, ref } = world;
      git.push({ 'a.ts': 'a\n' });
      const [open, before] = [await head(), await forge.headFingerprint(ref)];
      world.close();
      expect((await forge.head(ref)).state).toBe('closed');
      expect(await forge.headFingerprint(ref)).not.toBe(before);
      world.reopen();
      expect(await head()).toEqual(open);
      expect(await forge.headFingerprint(ref)).toBe(before);
    });

    test('P5: a branch gone is closed; its commits are there where the forge keeps them, and are else said to be gone', async () => {
      const { git, forge, ref, differs } = world;
      git.push({ 'a.ts': 'a\n' });
      const open = await head();
      world.deleteBranch();
      const closed = await forge.head(ref);
      if (differs.keepsCommits) {
        expect(closed).toEqual({ ...open, state: 'closed' });
        expect(await forge.describe(ref)).toMatchObject({ gaps: [] });
      } else {
        expect(closed).toMatchObject({ state: 'closed', headSha: null, reason: 'The branch topic is gone.' });
        expect(await forge.headFingerprint(ref)).toBeNull();
        expect(await forge.describe(ref)).toMatchObject({ title: 'topic', description: '' });
        await expect(forge.resolve(ref)).rejects.toMatchObject({
          kind: 'not_found',
          message: expect.stringContaining('no branch topic') as string,
        });
      }
      // What a round pinned is read on.
      expect((await forge.diff(ref, open)).files.map((file) => file.path)).toEqual(['a.ts']);
      expect(await forge.file(ref, open.headSha, 'a.ts')).toMatchObject({ kind: 'text', content: 'a\n' });
    });

    test('C9: unrelated histories are compared with the base branch itself', async () => {
      const { git, forge, ref, differs } = world;
      git.git('checkout', '-q', '--orphan', 'island');
      git.write('island.ts', 'alone\n').commit('Alone');
      git.git('branch', '-q', '-M', 'island', 'topic');
      const read = await head();
      expect(read).toMatchObject({ state: 'open', baseSha: git.head('main') });
      expect((await forge.compare(ref, read.baseSha, read.headSha)).status).toBe(differs.rewritten);
      expect((await forge.diff(ref, read)).files.map((file) => file.path)).toEqual(['island.ts']);
      expect(await forge.commitsBetween(ref, read.baseSha, read.headSha)).toBeNull();
    });
  });

  describe('C1: changed files', () => {
    test('every kind of change is named', async () => {
      world.git.checkout('main');
      everyKindOfChange(world.git);
      const files = await byPath();
      expect(files['changed']).toMatchObject({ status: 'modified', additions: 1, deletions: 1, blobSha: named('topic:changed') });
      expect(files['changed']?.patch).toMatch(/^@@ -21,7 \+21,7 @@ changed\n line 0\n line 1\n line 2\n-line 3\n\+line three\n/);
      expect(files['gone']).toMatchObject({ status: 'removed', additions: 0, deletions: 31, blobSha: null });
      expect(files['deep/moved']).toMatchObject({ status: 'renamed', previousPath: 'moved', patch: null, noPatch: 'renamed_only' });
      expect(files['moved too']).toMatchObject({ status: 'renamed', previousPath: 'moved-changed', additions: 1, deletions: 1 });
      const link = { status: 'type_changed', kind: 'symlink', modeChange: '100644 → 120000', additions: 1, deletions: 50 };
      expect(files['becomes-link']).toMatchObject(link);
      expect(files['becomes-link']?.patch).toMatch(/\n@@ -0,0 \+1 @@\n\+script\n\\ No newline at end of file$/);
      expect(files['script']).toMatchObject({ noPatch: 'mode_only', modeChange: '100644 → 100755', additions: 0 });
      expect(files['image']).toMatchObject({ noPatch: 'binary', patch: null, additions: null, deletions: null });
      expect(files['link']).toMatchObject({
        kind: 'symlink',
        patch: '@@ -1 +1 @@\n-script\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file',
      });
      expect(files['a&b=c.ts']).toMatchObject({ patch: '@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n\\ No newline at end of file' });
      expect(files['nothing']).toMatchObject({ status: 'added', noPatch: 'empty' });
      expect(files['vendor']).toMatchObject({ kind: 'submodule' });
      expect(files['vendor']?.patch).toContain(`+Subproject commit ${'2'.repeat(40)}`);
      expect(files).not.toHaveProperty('unchanged');
    });

    test('odd names are listed, patched and read, each as itself', async () => {
      world.git.push(Object.fromEntries(ODD.map((path, at) => [path, `content ${at}\n`])));
      const files = await byPath();
      expect(Object.keys(files).sort()).toEqual([...ODD].sort());
      const { headSha } = await head();
      for (const [at, path] of ODD.entries()) {
        expect(files[path]?.patch).toBe(`@@ -0,0 +1 @@\n+content ${at}`);
        expect(await world.forge.file(world.ref, headSha, path)).toMatchObject({ kind: 'text', content: `content ${at}\n`, totalLines: 1 });
      }
    });

    test('content that looks like a header stays content', async () => {
      SCENARIOS['content that looks like a header']!(world.git);
      const files = await byPath();
      expect(files['a.patch']).toMatchObject({ additions: 6, status: 'added' });
      expect(files['b.ts']?.patch).toBe('@@ -0,0 +1 @@\n+b');
    });

    test('an empty diff and a name that is not UTF-8', async () => {
      const { git } = world;
      git.push({});
      expect(await diff()).toEqual({ files: [], gaps: [] });
      const latin = Buffer.from([0x66, 0xfc, 0x0a]);
      const blob = git.gitBytes(['hash-object', '-w', '--stdin'], latin).toString().trim();
      git.gitBytes(['update-index', '--index-info'], Buffer.concat([Buffer.from(`100644 ${blob}\t`), latin]));
      git.commitIndex('Latin');
      expect((await diff()).files).toMatchObject([{ path: 'f\ufffd', notUtf8: true, patch: '@@ -0,0 +1 @@\n+f\ufffd' }]);
    });

    test('a pull request that calls its own files binary or generated hides nothing without a word', async () => {
      world.git.push({ '.gitattributes': '*.ts -diff\n*.js linguist-generated\n*.md diff=evil filter=evil\n' });
      world.git.push({ 'a.ts': 'a\n', 'b.js': 'b\n', 'c.md': 'c\n' });
      const files = await byPath();
      const shown = { patch: '@@ -0,0 +1 @@\n+a', additions: 1 };
      expect(files['a.ts']).toMatchObject(world.differs.seesThroughAttributes ? shown : { patch: null, noPatch: 'binary' });
      expect(files['b.js']?.patch).toBe('@@ -0,0 +1 @@\n+b');
      expect(files['c.md']?.patch).toBe('@@ -0,0 +1 @@\n+c');
      expect(await world.forge.file(world.ref, world.git.head('topic'), 'a.ts')).toMatchObject({ kind: 'text', content: 'a\n' });
    });
  });

  describe('C9: what is too large is named and costs no other file', () => {
    test('one line of 17 MB has no patch, its neighbours have theirs', async () => {
      world.git.push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(17_000_000), 'z.ts': 'z\n' });
      const files = await byPath();
      const tooLarge = { patch: null, noPatch: 'too_large', additions: 1, span: { side: 'new', from: 1, to: 1 } };
      expect(files['data.jsonl']).toMatchObject(tooLarge);
      expect(files['a.ts']?.patch).toBe('@@ -0,0 +1 @@\n+a');
      expect(files['z.ts']?.patch).toBe('@@ -0,0 +1 @@\n+z');
    });

    test('a patch of many lines over the limit keeps its counts and its span', async () => {
      const { git } = world;
      git
        .checkout('main')
        .write('long.txt', `${'y'.repeat(100)}\n`.repeat(20_000))
        .commit('Long');
      git.git('checkout', '-q', '-B', 'topic');
      git.push({ 'long.txt': `${'w'.repeat(100)}\n`.repeat(15_000) });
      expect((await byPath())['long.txt']).toMatchObject({
        noPatch: 'too_large',
        additions: 15_000,
        deletions: 20_000,
        span: { side: 'new', from: 1, to: 15_000 },
      });
    });

    test('a file git itself will not look into is too large, not binary', async () => {
      world.git.push({ 'huge.txt': Buffer.alloc(33 * 1024 * 1024, 'h'), 'a.ts': 'a\n' });
      const files = await byPath();
      expect(files['huge.txt']).toMatchObject({ noPatch: 'too_large', additions: world.differs.countsHuge ? 1 : null });
      expect(files['a.ts']?.patch).toBe('@@ -0,0 +1 @@\n+a');
    });

    test('past the limit of a whole diff the rest is listed without patches', async () => {
      const big = (letter: string) => `${letter.repeat(99)}\n`.repeat(9_500);
      world.git.push(Object.fromEntries(Array.from({ length: 27 }, (_, at) => [nth(at), big(String.fromCharCode(97 + (at % 26)))])));
      const { files, gaps } = await diff();
      expect(gaps).toEqual([]);
      expect(files).toHaveLength(27);
      expect(files.filter((file) => file.noPatch === 'diff_too_large').map((file) => file.path)).toEqual(['f25', 'f26']);
      expect(files.every((file) => file.additions === 9_500)).toBe(true);
    });

    test('the same of patches of which each is small enough for any listing', async () => {
      const long = `${'x'.repeat(4_000)}\n`.repeat(100);
      world.git.push(Object.fromEntries(Array.from({ length: 62 }, (_, at) => [nth(at), `${at}\n${long}`])));
      const { files, gaps } = await diff();
      expect(gaps).toEqual([]);
      expect(files).toHaveLength(62);
      expect(files.filter((file) => file.noPatch === 'diff_too_large').map((file) => file.path)).toEqual(['f59', 'f60', 'f61']);
      expect(files.every((file) => file.additions === 101)).toBe(true);
    });
  });

  test('C4, P1: two commits: ahead, identical, rewritten, forced back, and one that is gone', async () => {
    const { git, forge, ref, differs } = world;
    const one = git.push({ 'a.ts': 'a\n' });
    const two = git.push({ 'b.ts': 'b\n' });
    expect(await forge.compare(ref, one, two)).toEqual({ status: differs.pushed, commits: 1, changedPaths: ['b.ts'], capped: false });
    expect(await forge.compare(ref, two, two)).toEqual({ status: 'identical', commits: 0, changedPaths: [], capped: false });
    const three = git.forcePush({ 'a.ts': 'a\n', 'c.ts': 'c\n' });
    const rewritten = await forge.compare(ref, two, three);
    expect(rewritten).toMatchObject({ status: differs.rewritten, commits: 1, capped: false });
    expect([...rewritten.changedPaths!].sort()).toEqual(['b.ts', 'c.ts']);
    expect(await forge.compare(ref, two, one)).toMatchObject({ status: differs.rewritten, commits: 0, changedPaths: ['b.ts'] });
    expect(await forge.compare(ref, 'a'.repeat(40), three)).toEqual({
      status: 'unknown',
      commits: null,
      changedPaths: null,
      capped: false,
    });
    expect(await forge.commitsBetween(ref, one, two)).toBe(1);
    expect(await forge.commitsBetween(ref, two, two)).toBe(0);
    expect(await forge.commitsBetween(ref, two, three)).toBeNull();
    expect(await forge.commitsBetween(ref, two, one)).toBeNull();
    expect(await forge.commitsBetween(ref, 'a'.repeat(40), three)).toBeNull();
    await expect(forge.diff(ref, { baseSha: 'a'.repeat(40), headSha: three })).rejects.toMatchObject({ kind: 'not_found' });
    for (const baseSha of ['--output=x', 'main', 'topic~1'])
      await expect(forge.diff(ref, { baseSha, headSha: three })).rejects.toMatchObject({ kind: 'invalid' });
    await expect(forge.compare(ref, 'main', three)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(forge.commitsBetween(ref, one, 'topic')).rejects.toMatchObject({ kind: 'invalid' });
    await expect(forge.file(ref, 'topic', 'a.ts')).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('C4: what changed from one head to the next, also after a rewrite, a rename and a merge of the base', async () => {
    const { git, forge, ref } = world;
    const one = git.push({ 'a.ts': 'a\n', 'named.ts': 'one\ntwo\nthree\n' });
    git.pushBase({ 'base.ts': 'base\n' });
    git.mergeBaseIn();
    git.rename('named.ts', 'renamed.ts');
    const two = git.push({ 'a.ts': 'b\n' });
    const between = async (baseSha: string, headSha: string) => {
      const { files, gaps } = await forge.diff(ref, { baseSha, headSha });
      expect(gaps).toEqual([]);
      return files.map((file) => [file.path, file.previousPath ?? file.patch]);
    };
    expect(await between(one, two)).toEqual([
      ['a.ts', '@@ -1 +1 @@\n-a\n+b'],
      ['base.ts', '@@ -0,0 +1 @@\n+base'],
      ['renamed.ts', 'named.ts'],
    ]);
    expect([...(await forge.compare(ref, one, two)).changedPaths!].sort()).toEqual(['a.ts', 'base.ts', 'named.ts', 'renamed.ts']);
    const three = git.forcePush({ 'a.ts': 'c\n' });
    expect(await between(two, three)).toEqual([
      ['a.ts', '@@ -1 +1 @@\n-b\n+c'],
      ['renamed.ts', '@@ -1,3 +0,0 @@\n-one\n-two\n-three'],
    ]);
  });

  test('F3: text, binary, symlink, submodule, folder, missing, too large', async () => {
    const { git, forge, ref } = world;
    git
      .write('deep/a.txt', 'one\ntwo')
      .write('bin', Buffer.from([65, 0]))
      .symlink('link', '/etc/passwd')
      .write('empty', '');
    git
      .write('big', 'x'.repeat(1_000_001))
      .write('limit', 'x'.repeat(1_000_000))
      .write('latin', Buffer.from([0xfc]))
      .write('short', 'no line end');
    git.write('grün & ä/100%.txt', 'odd\n').submodule('sub', '3'.repeat(40)).commit('Kinds');
    const sha = git.head('topic');
    const read = (path: string) => forge.file(ref, sha, path);
    expect(await read('deep/a.txt')).toEqual({
      kind: 'text',
      sha: git.head('topic:deep/a.txt'),
      size: 7,
      content: 'one\ntwo',
      totalLines: 2,
      notUtf8: false,
    });
    expect(await read('bin')).toEqual({ kind: 'binary', sha: git.head('topic:bin'), size: 2 });
    expect(await read('link')).toEqual({ kind: 'symlink', sha: git.head('topic:link'), target: '/etc/passwd' });
    expect(await read('sub')).toEqual({ kind: 'submodule', sha: '3'.repeat(40) });
    expect(await read('deep')).toEqual({ kind: 'folder' });
    expect(await read('deep/none')).toEqual({ kind: 'missing' });
    expect(await read('none/none')).toEqual({ kind: 'missing' });
    expect(await read('link/passwd')).toEqual({ kind: 'missing' });
    expect(await read('empty')).toMatchObject({ kind: 'text', totalLines: 0, content: '' });
    expect(await read('short')).toMatchObject({ kind: 'text', content: 'no line end' });
    expect(await read('grün & ä/100%.txt')).toMatchObject({ kind: 'text', content: 'odd\n' });
    expect(await read('big')).toEqual({ kind: 'too_large', sha: git.head('topic:big'), size: 1_000_001 });
    expect(await read('limit')).toMatchObject({ kind: 'text', totalLines: 1 });
    expect(await read('latin')).toMatchObject({ kind: 'text', content: '\ufffd', notUtf8: true });
    for (const outside of ['../secret', '/etc/passwd', 'deep/../../x', '.git/config', '']) {
      expect((await read(outside).catch((error: unknown) => error as { kind: string })).kind).not.toBe('text');
    }
    await expect(forge.file(ref, 'a'.repeat(40), 'deep/a.txt')).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('V5: with no check, status or pipeline there is no CI', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    expect(await world.forge.ci(world.ref, world.git.head('topic'))).toMatchObject({ state: 'none', url: null });
  });

  test('D5, D9: a review is posted once, found by its marker and read back as it was sent', async () => {
    const { git, forge, ref } = world;
    git.push({ 'a.ts': 'one\ntwo\nthree\n' });
    const { headSha } = await head();
    const review = aReview({
      marker: 'draft-1',
      headSha,
      body: 'Look at line two.',
      comments: [{ path: 'a.ts', line: 2, side: 'new', body: 'Two of what?' }],
    });
    expect(await forge.findPosted(ref, review)).toBeNull();
    expect(await forge.readBack(ref, review)).toMatchObject({ found: false, differences: [] });
    const posted = await forge.post(ref, review);
    expect(await forge.post(ref, review)).toEqual({ url: posted.url });
    expect(await forge.findPosted(ref, review)).toEqual({ url: posted.url });
    expect(await forge.findPosted(ref, { ...review, marker: 'draft-10' })).toBeNull();
    expect(await forge.readBack(ref, review)).toEqual({ found: true, url: posted.url, inBody: [], differences: [] });
    // The author pushes: what was posted stays where it was.
    git.push({ 'a.ts': 'one\ntwo\n' });
    expect(await forge.findPosted(ref, review)).toEqual({ url: posted.url });
    const { comments } = await forge.describe(ref);
    expect(comments.filter(({ body }) => body.includes('Two of what?'))).toHaveLength(world.differs.hasTexts ? 1 : 0);
  });

  // A local repository is what the others are held to.
  const held = name === 'local' ? [] : Object.entries(SCENARIOS);
  test.each(held)('C1, C9, F3: tells of a repository what git tells: %s', async (_, make) => {
    const { git, forge, ref } = world;
    make(git);
    const local = createLocalForge({ allowedRoots: null, now: () => 0 });
    const localRef = parsePullRequest(git.pullRequest);
    const right = (await local.head(localRef)) as KnownHead;
    const read = await head();
    expect(read).toMatchObject({ baseSha: right.baseSha, headSha: right.headSha });

    const told = await diff();
    const { files } = await local.diff(localRef, right);
    expect(told.gaps).toEqual([]);
    expect(told.files).toEqual(files.map((file, at) => (told.files[at]?.blobSha === null ? { ...file, blobSha: null } : file)));

    for (const file of files.filter((one) => one.status !== 'removed')) {
      expect(await forge.file(ref, read.headSha, file.path), file.path).toEqual(await local.file(localRef, right.headSha, file.path));
    }
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { coverage, coverageLine, mergeShown, NOTHING_SHOWN, type PathShown, type ShownFacts } from '../../activities/context/coverage.js';
import { keepDiff } from '../../activities/context/kept-diff.js';
import { readContext, type ContextAnswer, type ContextQuery } from '../../activities/context/read-context.js';
import { readFile, type FileQuery } from '../../activities/context/read-file.js';
import type { ReadFacts, RoundCommits } from '../../activities/context/types.js';
import type { Forge } from '../../activities/forge/port.js';
import { FORGES, headOf, type ForgeWorld } from '../forge/worlds.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

/** What a reviewer reads, the same on every forge; the forges' honest differences are those of `worlds.ts`. */
describe.each(FORGES)('%s', (_, start) => {
  let world: ForgeWorld;
  let store: MemoryContextStore;
  beforeEach(async () => {
    world = await start();
    store = new MemoryContextStore();
  });
  afterEach(() => world.stop());

  const push = (files: Record<string, string | Buffer>, message?: string) => world.git.push(files, message);
  const round = async (number: number): Promise<RoundCommits> => {
    const { headSha, baseSha } = await headOf(world);
    return { number, headSha, baseSha };
  };
  async function facts(rounds: readonly RoundCommits[] = [], open = true): Promise<ReadFacts> {
    return { ref: world.ref, openRound: open ? (rounds.at(-1) ?? null) : null, rounds, findings: [], currentHead: await headOf(world) };
  }
  const page = async (given: ReadFacts, query: ContextQuery = {}, forge: Forge = world.forge) =>
    (await readContext({ forge, store }, given, query)).answer;
  const read = async (given: ReadFacts, query: FileQuery) => (await readFile({ forge: world.forge, store }, given, query)).answer;
  async function allPages(given: ReadFacts, query: ContextQuery = {}): Promise<ContextAnswer[]> {
    const pages = [await page(given, query)];
    for (let at = 2; at <= pages[0]!.page_count; at++) pages.push(await page(given, { ...query, page: at, headSha: pages[0]!.head_sha }));
    for (const one of pages) {
      expect(JSON.stringify(one).length).toBeLessThanOrEqual(query.maxChars ?? 48_000);
      expect(one.last_page).toBe(one.page === pages.length);
    }
    return pages;
  }
  const many = (count: number, lines: number) =>
    Object.fromEntries(Array.from({ length: count }, (__, at) => [`src/f${String(at).padStart(4, '0')}.ts`, `line ${at}\n`.repeat(lines)]));

  test('C1, C2: texts, commits and every changed file, whole over all pages; each fetched once', async () => {
    push(many(150, 60), 'Many files\n\nBecause.');
    let diffs = 0;
    const counting: Forge = { ...world.forge, diff: (...args) => ((diffs += 1), world.forge.diff(...args)) };
    const given = await facts();
    await Promise.all(Array.from({ length: 5 }, () => page(given, {}, counting)));
    expect(diffs).toBe(1);
    const pages = await allPages(given, { maxChars: 20_000 });
    const { headSha, baseSha } = given.currentHead!;
    expect(pages[0]).toMatchObject({ head_sha: headSha, base_sha: baseSha, head_moved: false, issue: null, comments: [], gaps: [] });
    expect(pages[0]!.title).not.toBe('');
    if (!world.differs.hasTexts) expect(pages[0]).toMatchObject({ title: 'Many files', description: 'Many files\n\nBecause.' });
    expect(pages.length).toBeGreaterThan(3);
    const files = pages.flatMap((one) => one.files);
    expect(files.map((file) => file.path)).toEqual(Object.keys(many(150, 60)));
    expect(files.every((file) => file.patch_omitted === undefined && file.patch!.split('\n').length === 61)).toBe(true);
    expect(await page(given, { page: pages.length + 1, maxChars: 20_000 })).toMatchObject({ files: [], last_page: true });
  });

  test('C2: an empty pull request has one page', async () => {
    push({});
    expect(await page(await facts())).toMatchObject({ files: [], page_count: 1, last_page: true, gaps: [] });
  });

  test('C2, C5, C9: 3 400 files and one line of 17 MB are read whole, in bounded memory, and each is in the manifest once', async () => {
    push({ ...many(3_400, 2), 'z-one-line.json': 'x'.repeat(17_000_000) });
    const one = await round(1);
    push({ 'src/f0007.ts': 'changed\n', 'src/f3399.ts': 'changed\n' });
    const given = await facts([one, await round(2)]);
    const before = process.memoryUsage().rss;
    const pages = await allPages(given);
    // A forge that answers from this process holds the whole diff here too.
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
    expect(pages[0]!.gaps).toEqual([]);
    const files = pages.flatMap((one) => one.files);
    expect(files).toHaveLength(3_401);
    const line = { path: 'z-one-line.json', additions: 1, patch_omitted: true, patch_reason: 'too_large' };
    expect(files.at(-1)).toMatchObject({ ...line, omitted: { from_line: 1, to_line: 1, ref: 'head' } });
    expect(files.slice(0, -1).every((file) => file.patch !== undefined)).toBe(true);
    const since = await allPages(given, { sinceRound: 1 });
    const manifest = since.flatMap((one) => one.manifest!);
    expect(manifest.map((entry) => entry.path)).toEqual([...Object.keys(many(3_400, 2)), 'z-one-line.json']);
    expect(manifest.filter((entry) => entry.changed_since_round).map((entry) => entry.path)).toEqual(['src/f0007.ts', 'src/f3399.ts']);
    expect(since.flatMap((one) => one.files.map((file) => file.path))).toEqual(['src/f0007.ts', 'src/f3399.ts']);
  });

  test('C3, F1: the round stays pinned, its diff and its files, while the branch moves on and is rewritten', async () => {
    push({ 'a.ts': 'one\n' });
    const one = await round(1);
    push({ 'a.ts': 'two\n', 'late.ts': 'late\n' });
    world.git.forcePush({ 'a.ts': 'three\n' });
    const given = await facts([one]);
    const answer = await page(given);
    expect(answer).toMatchObject({ head_sha: one.headSha, round_head_sha: one.headSha, head_moved: true });
    expect(answer.files).toEqual([expect.objectContaining({ path: 'a.ts', patch: '@@ -0,0 +1 @@\n+one' })]);
    expect((await read(given, { path: 'a.ts' })).content).toBe('one\n');
    expect((await read(given, { path: 'a.ts', ref: world.git.head('topic') })).content).toBe('three\n');
    const closed = await page(await facts([one], false));
    expect(closed).toMatchObject({ head_sha: world.git.head('topic'), head_moved: false, round_head_sha: null });
  });

  test('O1, C3: the base moves and is merged in while the round is open, and its files stay those of its own base', async () => {
    push({ 'a.ts': 'a\n' });
    const one = await round(1);
    world.git.pushBase({ 'README.md': '# Another\n', 'base.ts': 'base\n' });
    world.git.mergeBaseIn();
    const given = await facts([one]);
    expect((await page(given)).files.map((file) => file.path)).toEqual(['a.ts']);
    expect((await read(given, { path: 'README.md', ref: 'base' })).content).toBe('# A project\n');
    expect((await page(await facts([one], false))).files.map((file) => file.path)).toEqual(['a.ts']);
  });

  test('P5, C3: what an open round pinned is read to its end after the merge, and after the branch is gone', async () => {
    push({ 'a.ts': 'a\n' });
    const one = await round(1);
    const given = await facts([one]);
    world.merge();
    expect((await page(given)).files.map((file) => file.path)).toEqual(['a.ts']);
    world.deleteBranch();
    store = new MemoryContextStore();
    const after = await page({ ...given, currentHead: null });
    expect(after).toMatchObject({ head_sha: one.headSha, head_moved: null });
    expect(after.files.map((file) => file.path)).toEqual(['a.ts']);
    expect((await read(given, { path: 'a.ts' })).content).toBe('a\n');
  });

  test('C4, C5: since an earlier round: only what changed, its commits, and every file in the manifest', async () => {
    push({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    const one = await round(1);
    push({ 'b.ts': 'bb\n', 'c.ts': 'c\n' });
    const answer = await page(await facts([one, await round(2)]), { sinceRound: 1 });
    const headSha = world.git.head('topic');
    const since = { round: 1, base_sha: one.headSha, head_sha: headSha, status: world.differs.pushed, commits: 1, left_out: 0 };
    expect(answer.since).toEqual(since);
    expect(answer.files.map((file) => [file.path, file.patch])).toEqual([
      ['b.ts', '@@ -1 +1 @@\n-b\n+bb'],
      ['c.ts', '@@ -0,0 +1 @@\n+c'],
    ]);
    const entry = (path: string, changed: boolean) => ({
      path,
      changed_since_round: changed,
      patch_complete: true,
      blob_sha: world.git.head(`topic:${path}`),
    });
    expect(answer.manifest).toEqual([entry('a.ts', false), entry('b.ts', true), entry('c.ts', true)]);
    expect(answer.manifest_complete).toBe(true);
    if (world.differs.pushed === 'ahead') expect(answer.since_hint).toBeNull();
    else expect(answer.since_hint).toContain('a rebase cannot be seen here');
  });

  test('C4: files that came with a merge of the base are left out and counted', async () => {
    push({ 'a.ts': 'a\n' });
    const one = await round(1);
    world.git.pushBase({ 'base1.ts': 'x\n', 'base2.ts': 'y\n' });
    world.git.mergeBaseIn();
    push({ 'a.ts': 'aa\n' });
    const answer = await page(await facts([one, await round(2)]), { sinceRound: 1 });
    expect(answer.files.map((file) => file.path)).toEqual(['a.ts']);
    expect(answer.since).toMatchObject({ status: world.differs.pushed, left_out: 2 });
    expect(answer.since_hint).toMatch(/2 changed files are left out/);
  });

  test('C4, C6: a rewritten branch: every file marked where it is known, else a hint that it cannot be', async () => {
    push({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
    const one = await round(1);
    world.git.forcePush({ 'a.ts': 'a\n', 'b.ts': 'b2\n' });
    const answer = await page(await facts([one, await round(2)]), { sinceRound: 1 });
    expect(answer.since).toMatchObject({ status: world.differs.rewritten, commits: 1 });
    expect(answer.files.map((file) => [file.path, file.patch])).toEqual([['b.ts', '@@ -1 +1 @@\n-b\n+b2']]);
    const seen = world.differs.rewritten === 'diverged';
    expect(answer.since_hint).toMatch(seen ? /rebase or force-push/ : /a rebase cannot be seen/);
    expect(answer.manifest?.map((file) => file.changed_since_round)).toEqual([seen, true]);
  });

  test('C4, C6: identical, and a round whose commit is gone', async () => {
    push({ 'a.ts': 'a\n' });
    const [one, two] = [await round(1), await round(2)];
    const same = await page(await facts([one, two]), { sinceRound: 1 });
    expect(same).toMatchObject({ files: [], since: { status: 'identical', commits: 0 } });
    expect(same.since_hint).toMatch(/Nothing changed since round 1/);
    const gone = await page(await facts([{ ...one, headSha: 'a'.repeat(40) }, two]), { sinceRound: 1 });
    expect(gone.since).toMatchObject({ status: 'unknown', commits: null });
    expect(gone.since_hint).toMatch(/can no longer be read/);
    expect(gone.files.map((file) => file.path)).toEqual(['a.ts']);
    expect(gone.manifest?.map((file) => file.changed_since_round)).toEqual([true]);
  });

  test('C7: a patch the page cut says where the rest is, and there it is; of a removed file at base', async () => {
    const text = (mark: string) => Array.from({ length: 1_500 }, (__, at) => `${mark} ${at + 1}`).join('\n') + '\n';
    world.git.checkout('main').write('gone.txt', text('gone')).commit('Ground');
    world.git.git('checkout', '-q', '-B', 'topic');
    world.git.remove('gone.txt');
    push({ 'long.txt': text('line') });
    const given = await facts();
    const files = (await allPages(given, { maxChars: 6_000 })).flatMap((one) => one.files);
    expect(files.map((file) => [file.path, file.patch_omitted, file.omitted?.ref])).toEqual([
      ['gone.txt', true, 'base'],
      ['long.txt', true, 'head'],
    ]);
    for (const { path, patch, omitted } of files) {
      const shown = patch!.split('\n').length - 1;
      expect(omitted).toMatchObject({ from_line: shown + 1, to_line: 1_500 });
      const rest = await read(given, { path, ref: omitted!.ref, startLine: omitted!.from_line, endLine: omitted!.to_line });
      expect(rest.content).toMatch(new RegExp(`^\\w+ ${shown + 1}\n`));
    }
  });

  test('C7: in a since view the old lines of a patch are those of its round, and are read there', async () => {
    const text = (mark: string) => Array.from({ length: 1_500 }, (__, at) => `${mark} ${at + 1}`).join('\n') + '\n';
    world.git.checkout('main').write('long.txt', text('base')).commit('Ground');
    world.git.git('checkout', '-q', '-B', 'topic');
    push({ 'long.txt': `new first line\n${text('changed')}` });
    const one = await round(1);
    world.git.remove('long.txt');
    push({});
    const given = await facts([one, await round(2)]);
    const files = (await allPages(given, { sinceRound: 1, maxChars: 6_000 })).flatMap((each) => each.files);
    expect(files).toMatchObject([
      { path: 'long.txt', status: 'removed', patch_omitted: true, omitted: { ref: one.headSha, to_line: 1_501 } },
    ]);
    const { from_line: startLine, to_line: endLine, ref } = files[0]!.omitted!;
    expect(files[0]!.patch!.split('\n').at(-1)).toBe(`-changed ${startLine - 2}`);
    expect((await read(given, { path: 'long.txt', ref, startLine, endLine })).content).toMatch(new RegExp(`^changed ${startLine - 1}\n`));
    expect((await allPages(given, { maxChars: 6_000 })).flatMap((each) => each.files)[0]?.omitted?.ref).toBe('base');
  });

  test('C7, C9: what has no patch says why, with its lines, and costs the others nothing', async () => {
    world.git.checkout('main').write('script', 'echo\n').write('name', 'some text\n'.repeat(10)).commit('Ground');
    world.git.git('checkout', '-q', '-B', 'topic');
    world.git.write('script', 'echo\n', 0o755).rename('name', 'other').symlink('link', '/etc/passwd').submodule('vendor', '2'.repeat(40));
    push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(2_000_000), 'image.png': Buffer.from([0, 1]), empty: '' });
    const { files, gaps } = await page(await facts());
    expect(gaps).toEqual([]);
    expect(files).toMatchObject([
      { path: 'a.ts', patch: '@@ -0,0 +1 @@\n+a' },
      { path: 'data.jsonl', patch_omitted: true, patch_reason: 'too_large', omitted: { from_line: 1, to_line: 1, ref: 'head' } },
      { path: 'empty', patch_reason: 'empty' },
      { path: 'image.png', patch_omitted: true, patch_reason: 'binary', additions: null },
      { path: 'link', kind: 'symlink', patch: '@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file' },
      { path: 'other', previous_path: 'name', patch_reason: 'renamed_only' },
      { path: 'script', patch_reason: 'mode_only', mode_change: '100644 → 100755' },
      { path: 'vendor', kind: 'submodule', patch: `@@ -0,0 +1 @@\n+Subproject commit ${'2'.repeat(40)}` },
    ]);
    for (const at of [2, 5, 6]) expect(files[at]).not.toHaveProperty('patch_omitted');
  });

  test('C9: unrelated histories are named', async () => {
    const { git } = world;
    git.git('checkout', '-q', '--orphan', 'island');
    git.write('island.ts', 'alone\n').commit('Alone');
    git.git('branch', '-q', '-M', 'island', 'topic');
    const answer = await page(await facts());
    expect(answer.gaps).toEqual([expect.stringContaining('share no history')]);
    expect(answer.files.map((file) => file.path)).toContain('island.ts');
  });

  test('C10: a later page of a head that is no longer served is a conflict', async () => {
    push(many(60, 100));
    const first = await page(await facts(), { maxChars: 6_000 });
    push({ 'a.ts': 'a\n' });
    const asked = { page: 2, headSha: first.head_sha, maxChars: 6_000 };
    await expect(page(await facts(), asked)).rejects.toMatchObject({ code: 'conflict', hint: 'Start again at page 1.' });
  });

  test('F1, F2: every commit of the review by its name, pages that join to the file, nothing else', async () => {
    const text = Array.from({ length: 1_000 }, (__, at) => `line ${at + 1} "quoted"\t`).join('\n');
    const one = push({ 'a.ts': text });
    const first = await round(1);
    push({ 'b.ts': 'b\n' });
    const given = await facts([first, await round(2)]);
    const parts: string[] = [];
    for (let at = 1, last = false; !last; at++) {
      const part = await read(given, { path: 'a.ts', ref: one, page: at, maxChars: 6_000 });
      parts.push(part.content!);
      last = part.last_page!;
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join('')).toBe(text);
    expect(await read(given, { path: 'README.md', ref: 'base' })).toMatchObject({ sha: first.baseSha, content: '# A project\n' });
    await expect(read(given, { path: 'a.ts', ref: 'base' })).rejects.toMatchObject({ code: 'not_found' });
    for (const ref of ['topic', 'HEAD', 'refs/heads/main', '--help', 'f'.repeat(40)])
      await expect(read(given, { path: 'a.ts', ref })).rejects.toMatchObject({ code: 'invalid', field: 'ref' });
  });

  test('F3, F4: what has no lines is refused by name, and only the tree of the commit is read', async () => {
    world.git
      .write('bin', Buffer.from([0, 1]))
      .symlink('link', '/etc/passwd')
      .write('deep/a', 'a\n')
      .submodule('sub', '3'.repeat(40))
      .write('big', 'x'.repeat(1_000_001))
      .commit('Kinds');
    const given = await facts();
    for (const [path, code, message] of [
      ['bin', 'invalid', /binary \(2 bytes\)/],
      ['link', 'invalid', /symlink to "\/etc\/passwd"/],
      ['sub', 'invalid', /submodule at 3333/],
      ['deep', 'invalid', /is a folder/],
      ['none', 'not_found', /There is no "none" at/],
      ['link/passwd', 'not_found', /There is no/],
      ['.git/config', 'not_found', /There is no/],
    ] as const) {
      await expect(read(given, { path }), path).rejects.toMatchObject({ code, field: 'path', message: expect.stringMatching(message) });
    }
    expect(await read(given, { path: 'big' })).toMatchObject({ too_large: true, size: 1_000_001 });
    for (const path of ['/etc/passwd', '../x', 'deep//a', './deep/a', '..'])
      await expect(read(given, { path })).rejects.toMatchObject({ code: 'invalid', field: 'path' });
  });

  test('G1: what a reviewer was shown over two rounds, by pages, a since view and the lines that were cut', async () => {
    const rounds: RoundCommits[] = [];
    const records = new Map<number, Map<string, ShownFacts>>();
    const remember = (shown: readonly PathShown[]) => {
      const paths = records.get(rounds.length) ?? new Map<string, ShownFacts>();
      records.set(rounds.length, paths);
      for (const { path, facts: seen } of shown) paths.set(path, mergeShown(paths.get(path) ?? NOTHING_SHOWN, seen));
    };
    const deps = { forge: world.forge, store };
    const pages = async (query: ContextQuery = {}) => {
      for (let at = 1, last = false; !last; at++) {
        const { answer, shown } = await readContext(deps, await facts(rounds), { maxChars: 6_000, ...query, page: at });
        remember(shown);
        last = answer.last_page;
      }
    };
    const line = async () => {
      const { files } = await keepDiff(deps, world.ref, rounds.at(-1)!);
      const all = files.map(({ path, status }) => ({ path, removed: status === 'removed' }));
      return coverageLine('grok', coverage(all, records, rounds.length));
    };
    push({
      'a.ts': 'a\n',
      'image.png': Buffer.from([0, 1]),
      'long.txt': Array.from({ length: 1_500 }, (__, at) => `line ${at}`).join('\n'),
    });
    rounds.push(await round(1));
    await pages();
    expect(await line()).toBe('@grok read 1 of 3 files through Barista; in part: long.txt; not: image.png');
    remember((await readFile(deps, await facts(rounds), { path: 'long.txt' })).shown);
    expect(await line()).toBe('@grok read 2 of 3 files through Barista; not: image.png');
    world.git.remove('image.png');
    push({ 'a.ts': 'b\n', 'new.ts': 'new\n' });
    rounds.push(await round(2));
    await pages({ sinceRound: 1 });
    expect(await line()).toBe('@grok read all 3 files through Barista');
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge, KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { readFile, type FileAnswer, type FileQuery } from '../../activities/context/read-file.js';
import type { ReadFacts, RoundCommits } from '../../activities/context/types.js';
import { GitWorld } from '../support/git-world.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

let world: GitWorld;
let forge: Forge;
let store: MemoryContextStore;
beforeEach(() => {
  world = new GitWorld();
  forge = createLocalForge({ allowedRoots: null, now: () => 0 });
  store = new MemoryContextStore();
});
afterEach(() => world.dispose());

const ref = () => parsePullRequest(world.pullRequest);
async function facts(rounds: readonly RoundCommits[] = [], open = true): Promise<ReadFacts> {
  const currentHead = (await forge.head(ref())) as KnownHead;
  return { ref: ref(), openRound: open ? (rounds.at(-1) ?? null) : null, rounds, findings: [], currentHead };
}
const read = async (query: FileQuery, given?: ReadFacts) => (await readFile({ forge, store }, given ?? (await facts()), query)).answer;
const round = (number: number): RoundCommits => ({ number, headSha: world.head('topic'), baseSha: world.head('main') });

async function allPages(query: FileQuery): Promise<FileAnswer[]> {
  const first = await read(query);
  const pages = [first];
  for (let page = 2; page <= (first.page_count as number); page++) pages.push(await read({ ...query, page }));
  for (const one of pages) expect(JSON.stringify(one).length).toBeLessThanOrEqual(query.maxChars ?? 48_000);
  return pages;
}

describe('F1: which commits can be read', () => {
  test('head is the open round, base its base, and any round and the current head go by name', async () => {
    world.write('a.ts', 'zero\n');
    const one = world.push({ 'a.ts': 'one\n' });
    const first = round(1);
    const two = world.push({ 'a.ts': 'two\n' });
    const second = round(2);
    const three = world.push({ 'a.ts': 'three\n' });
    const given = await facts([first, second]);
    const content = async (at?: string) => (await read({ path: 'a.ts', ref: at }, given)).content;
    expect(await content()).toBe('two\n');
    expect(await content('head')).toBe('two\n');
    expect(await content(one)).toBe('one\n');
    expect(await content(three)).toBe('three\n');
    expect(await content(three.slice(0, 10))).toBe('three\n');
    expect(await read({ path: 'a.ts', ref: two }, given)).toMatchObject({
      ref: two,
      sha: two,
      blob_sha: world.head(`${two}:a.ts`),
      size: 4,
    });
    await expect(content('base')).rejects.toMatchObject({ code: 'not_found' });
    expect(await read({ path: 'README.md', ref: 'base' }, given)).toMatchObject({ ref: 'base', sha: world.head('main') });
    expect((await read({ path: 'a.ts' }, await facts([first, second], false))).content).toBe('three\n');
  });

  test('anything else is refused: other commits, branches, expressions', async () => {
    const between = world.push({ 'a.ts': 'a\n' });
    world.push({ 'a.ts': 'b\n' });
    for (const other of [
      between,
      'topic',
      'main',
      'HEAD',
      'head~1',
      'refs/heads/topic',
      '--help',
      '',
      world.head('topic').slice(0, 6),
      'stash@{0}',
    ]) {
      await expect(read({ path: 'a.ts', ref: other })).rejects.toMatchObject({ code: 'invalid', field: 'ref' });
    }
  });
});

describe('F2: lines and pages', () => {
  const text = Array.from({ length: 4_000 }, (_, at) => `line ${at + 1} "quoted"\t`).join('\n');

  test('the whole file, a range, and joined pages are what was committed', async () => {
    world.push({ 'a.ts': text });
    expect(await read({ path: 'a.ts', startLine: 10, endLine: 12 })).toMatchObject({
      content: 'line 10 "quoted"\t\nline 11 "quoted"\t\nline 12 "quoted"\t\n',
      start_line: 10,
      end_line: 12,
      total_lines: 4_000,
      truncated: false,
      page_count: 1,
      last_page: true,
    });
    for (const maxChars of [6_000, 48_000]) {
      const pages = await allPages({ path: 'a.ts', maxChars });
      expect(pages.map((one) => one.content).join('')).toBe(text);
      for (const one of pages.slice(0, -1)) {
        expect(one).toMatchObject({ truncated: true, last_page: false, next_start_line: (one.end_line as number) + 1 });
        expect((await read({ path: 'a.ts', maxChars, startLine: one.next_start_line })).start_line).toBe(one.next_start_line);
      }
      expect(pages.at(-1)).toMatchObject({ truncated: false, last_page: true, end_line: 4_000 });
      expect(pages.at(-1)).not.toHaveProperty('next_start_line');
      expect(await read({ path: 'a.ts', maxChars, page: pages.length + 1 })).toMatchObject({
        content: '',
        last_page: true,
        truncated: false,
      });
    }
  });

  test('a line longer than a page is cut and says so, and reading goes on after it', async () => {
    world.push({ 'a.ts': `first\n${'"🙂'.repeat(30_000)}\nlast\n` });
    const pages = await allPages({ path: 'a.ts', maxChars: 6_000 });
    expect(pages.map((one) => [one.start_line, one.end_line, one.line_truncated])).toEqual([
      [1, 1, undefined],
      [2, 2, true],
      [3, 3, undefined],
    ]);
    expect(pages[1]?.content).toMatch(/^("🙂)+"?$/u);
    expect(pages[2]?.content).toBe('last\n');
  });

  test('an end past the file is its end; an empty file has no lines', async () => {
    world.push({ 'a.ts': 'one\ntwo\n', empty: '' });
    expect(await read({ path: 'a.ts', startLine: 2, endLine: 900 })).toMatchObject({ content: 'two\n', end_line: 2, total_lines: 2 });
    expect(await read({ path: 'empty' })).toMatchObject({ content: '', total_lines: 0, truncated: false, page_count: 1, last_page: true });
  });
});

describe('F3: what has no lines', () => {
  test('too large has no content and is no refusal', async () => {
    world.push({ big: 'x'.repeat(1_000_001), limit: `${'x'.repeat(99)}\n`.repeat(10_000) });
    const answer = await read({ path: 'big' });
    expect(answer).toMatchObject({ too_large: true, size: 1_000_001 });
    expect(answer).not.toHaveProperty('content');
    expect(await read({ path: 'limit' })).toMatchObject({ size: 1_000_000, total_lines: 10_000 });
  });

  test('a range past the end says how many lines there are', async () => {
    world.push({ 'a.ts': 'one\ntwo\n', empty: '' });
    await expect(read({ path: 'a.ts', startLine: 3 })).rejects.toMatchObject({
      code: 'invalid',
      field: 'start_line',
      message: 'The file has 2 lines: there is no line 3.',
    });
    await expect(read({ path: 'empty', startLine: 1 })).rejects.toMatchObject({
      field: 'start_line',
      message: expect.stringContaining('0 lines') as string,
    });
    await expect(read({ path: 'a.ts', startLine: 2, endLine: 1 })).rejects.toMatchObject({ field: 'end_line' });
    await expect(read({ path: 'a.ts', startLine: 0 })).rejects.toMatchObject({ field: 'start_line' });
    await expect(read({ path: 'a.ts', endLine: 1.5 })).rejects.toMatchObject({ field: 'end_line' });
    await expect(read({ path: 'a.ts', page: 0 })).rejects.toMatchObject({ field: 'page' });
    await expect(read({ path: 'a.ts', maxChars: 100 })).rejects.toMatchObject({ field: 'max_chars' });
  });
});

describe('F4: a path in the repository and nothing else', () => {
  test.each(['/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/', './a', 'a/./b', '..', '', 'a\0b', 'x'.repeat(4_097)])(
    '%j is refused',
    async (path) => {
      world.push({ 'a.ts': 'a\n' });
      await expect(read({ path })).rejects.toMatchObject({ code: 'invalid', field: 'path' });
    },
  );

  test('work tree, index and .git are not the commit: only its tree is read', async () => {
    world.push({ 'a.ts': 'committed\n' });
    world.write('a.ts', 'not committed\n').write('untracked', 'secret\n').write('staged', 'staged\n').git('add', 'staged');
    expect((await read({ path: 'a.ts' })).content).toBe('committed\n');
    for (const path of ['untracked', 'staged', '.git/config', '.git/HEAD'])
      await expect(read({ path })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('odd names end to end, a name as long as a page included', async () => {
    const names = [' a b ', '-rf', '$(touch x)', 'a"b', "a'b", 'новый', 'new\nline', ':!x', '*'];
    world.push(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    for (const name of names) expect((await read({ path: name })).content).toBe(`${name}\n`);
    const long = Array.from({ length: 16 }, () => 'd'.repeat(250)).join('/');
    await expect(read({ path: long, maxChars: 6_000 })).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('DESIGN 8: a file at a commit is fetched once', async () => {
  world.push({ 'a.ts': 'a\n' });
  let reads = 0;
  const counting: Forge = { ...forge, file: (...args) => ((reads += 1), forge.file(...args)) };
  const given = await facts();
  for (let at = 0; at < 3; at++) await readFile({ forge: counting, store }, given, { path: 'a.ts' });
  expect(reads).toBe(1);
});

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge, KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import {
  coverage,
  coverageLine,
  mergeShown,
  NOTHING_SHOWN,
  type Coverage,
  type PathShown,
  type ShownFacts,
} from '../../activities/context/coverage.js';
import { keepDiff } from '../../activities/context/kept-diff.js';
import { readContext, type ContextQuery } from '../../activities/context/read-context.js';
import { readFile, type FileQuery } from '../../activities/context/read-file.js';
import type { ReadFacts, RoundCommits } from '../../activities/context/types.js';
import { GitWorld } from '../support/git-world.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

/** One reviewer reading rounds of a real pull request, its records kept as the database would. */
class Reader {
  readonly records = new Map<number, Map<string, ShownFacts>>();
  readonly rounds: RoundCommits[] = [];
  readonly store = new MemoryContextStore();
  constructor(
    private readonly world: GitWorld,
    private readonly forge: Forge,
  ) {}

  async open(): Promise<void> {
    const { headSha, baseSha } = (await this.forge.head(this.ref)) as KnownHead;
    this.rounds.push({ number: this.rounds.length + 1, headSha, baseSha });
  }

  private get ref() {
    return parsePullRequest(this.world.pullRequest);
  }

  private async facts(): Promise<ReadFacts> {
    const currentHead = (await this.forge.head(this.ref)) as KnownHead;
    return { ref: this.ref, openRound: this.rounds.at(-1) ?? null, rounds: this.rounds, findings: [], currentHead };
  }

  async page(query: ContextQuery): Promise<number> {
    const { answer, shown } = await readContext({ forge: this.forge, store: this.store }, await this.facts(), query);
    this.remember(shown);
    return answer.page_count;
  }

  async pages(query: ContextQuery = {}): Promise<void> {
    const count = await this.page(query);
    for (let page = 2; page <= count; page++) await this.page({ ...query, page });
  }

  async file(query: FileQuery): Promise<void> {
    this.remember((await readFile({ forge: this.forge, store: this.store }, await this.facts(), query)).shown);
  }

  private remember(shown: readonly PathShown[]): void {
    const round = this.rounds.length;
    const paths = this.records.get(round) ?? new Map<string, ShownFacts>();
    if (shown.length > 0) this.records.set(round, paths);
    // Through JSON, as they are stored.
    for (const { path, facts } of shown)
      paths.set(path, JSON.parse(JSON.stringify(mergeShown(paths.get(path) ?? NOTHING_SHOWN, facts))) as ShownFacts);
  }

  async coverage(): Promise<Coverage> {
    const diff = await keepDiff({ forge: this.forge, store: this.store }, this.ref, this.rounds.at(-1) as RoundCommits);
    return coverage(
      diff.files.map(({ path, status }) => ({ path, removed: status === 'removed' })),
      this.records,
      this.rounds.length,
    );
  }

  async line(): Promise<string> {
    return coverageLine('grok', await this.coverage());
  }
}

let world: GitWorld;
let reader: Reader;
beforeEach(() => {
  world = new GitWorld();
  reader = new Reader(world, createLocalForge({ allowedRoots: null, now: () => 0 }));
});
afterEach(() => world.dispose());
const files = (count: number, lines: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${String(at).padStart(2, '0')}.ts`, `line ${at}\n`.repeat(lines)]));

describe('G1: what a reviewer was shown', () => {
  test('nothing read, some pages, all pages', async () => {
    world.push(files(60, 40));
    await reader.open();
    expect(await reader.line()).toBe('@grok did not read through Barista');
    await reader.page({ maxChars: 6_000 });
    expect(await reader.line()).toMatch(
      /^@grok read [1-9] of 60 files through Barista; not: f\d\d\.ts, f\d\d\.ts, f\d\d\.ts, f\d\d\.ts, f\d\d\.ts and 5\d more$/,
    );
    await reader.pages();
    expect(await reader.line()).toBe('@grok read all 60 files through Barista');
  });

  test('a cut patch is partial until its omitted lines are read, whole or piece by piece', async () => {
    world.push({ 'a.ts': 'a\n', 'long.txt': Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n') });
    await reader.open();
    await reader.pages({ maxChars: 6_000 });
    expect(await reader.line()).toBe('@grok read 1 of 2 files through Barista; in part: long.txt');
    await reader.file({ path: 'long.txt', startLine: 1_500 });
    expect(await reader.line()).toBe('@grok read 1 of 2 files through Barista; in part: long.txt');
    await reader.file({ path: 'long.txt', startLine: 100, endLine: 1_499 });
    expect(await reader.line()).toBe('@grok read all 2 files through Barista');
  });

  test('reading a file whole by get_file alone counts, at another commit it does not, and a removed file is read at base', async () => {
    world.checkout('main').write('gone.ts', 'gone\nfor good\n').commit('Ground');
    world.git('checkout', '-q', '-B', 'topic');
    const before = world.head('topic');
    world.remove('gone.ts').push({ 'a.ts': 'a\nb\n' });
    await reader.open();
    await reader.file({ path: 'gone.ts', ref: before });
    await reader.file({ path: 'a.ts', endLine: 1 });
    expect(await reader.line()).toBe('@grok read 1 of 2 files through Barista; in part: a.ts');
    await reader.file({ path: 'a.ts', startLine: 2 });
    expect(await reader.coverage()).toMatchObject({ shown: 2, partial: 0, notShown: 0, files: [] });
  });

  test('what was never shown is named: a binary file, a huge patch', async () => {
    world.push({ 'a.ts': 'a\n', 'image.png': Buffer.from([0, 1]), 'data.jsonl': 'x'.repeat(2_000_000) });
    await reader.open();
    await reader.pages();
    expect(await reader.line()).toBe('@grok read 1 of 3 files through Barista; not: data.jsonl, image.png');
  });

  test('a since view is as complete as the round it starts from', async () => {
    world.push(files(3, 2));
    await reader.open();
    await reader.pages();
    world.push({ 'f01.ts': 'changed\n', 'new.ts': 'new\n' });
    await reader.open();
    await reader.pages({ sinceRound: 1 });
    // new.ts was not there in round 1, so its patch since then is all of it.
    expect(await reader.line()).toBe('@grok read all 4 files through Barista');
  });

  test('a since view after a round that was not read shows only what it showed', async () => {
    world.push(files(3, 2));
    await reader.open();
    world.push({ 'f01.ts': 'changed\n' });
    await reader.open();
    await reader.pages({ sinceRound: 1 });
    expect(await reader.line()).toBe('@grok read 0 of 3 files through Barista; in part: f01.ts; not: f00.ts, f02.ts');
  });
});

test('G1: records merge in any order and any number of times', () => {
  const range = fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 10 }))
    .map(([from, more]) => [from, from + more] as const);
  const span = fc.record({
    side: fc.constantFrom('new' as const, 'old' as const),
    from: fc.integer({ min: 1, max: 40 }),
    to: fc.constant(40),
  });
  const record: fc.Arbitrary<ShownFacts> = fc.record({
    whole: fc.boolean(),
    part: fc.boolean(),
    missing: fc.option(span),
    read: fc.record({ new: fc.array(range, { maxLength: 1 }), old: fc.array(range, { maxLength: 1 }) }),
    total: fc.constantFrom({}, { new: 40 }),
    since: fc.array(
      fc.record({
        round: fc.constantFrom(1, 2),
        seen: fc.constantFrom('unchanged' as const, 'whole' as const, 'cut' as const),
        missing: fc.option(span),
      }),
      { maxLength: 1 },
    ),
  });
  fc.assert(
    fc.property(record, record, record, (a, b, c) => {
      expect(mergeShown(a, b)).toEqual(mergeShown(b, a));
      expect(mergeShown(mergeShown(a, b), c)).toEqual(mergeShown(a, mergeShown(b, c)));
      const once = mergeShown(a, b);
      expect(mergeShown(once, b)).toEqual(once);
    }),
  );
});

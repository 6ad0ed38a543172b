import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChangedFile, Description, Forge } from '../../activities/forge/port.js';
import { localRef } from '../../activities/forge/pull-request.js';
import { fileLines, filePages } from '../../activities/context/file-pages.js';
import { patchLines } from '../../activities/context/hunks.js';
import { cutText, innerSize, startWithin } from '../../activities/context/json-size.js';
import { planPages, shareRoom } from '../../activities/context/pages.js';
import { readContext } from '../../activities/context/read-context.js';
import type { ReadFacts } from '../../activities/context/types.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

const BASE = 'b'.repeat(40);
const OLD = 'c'.repeat(40);
const HEAD = 'd'.repeat(40);

/** Text that JSON makes longer: quotes, controls, NUL, pairs and halves of pairs. */
const unit = fc.constantFrom('a', 'line of text ', '"', '\\', '\t', '\u0001', '\u0000', 'ü', '日', '🙂', '\ud83d', '\udc00');
const text = (maxLength: number) => fc.array(unit, { maxLength }).map((units) => units.join(''));
/** Now and then a piece is repeated until it is far larger than a page. */
const sized = fc.tuple(text(30), fc.constantFrom(1, 1, 1, 40, 4_000)).map(([piece, times]) => piece.repeat(times));

const patchOf = (...marks: string[]) =>
  fc.array(fc.tuple(fc.constantFrom(...marks), sized), { minLength: 1, maxLength: 40 }).map((lines) => {
    const count = (marks: string) => lines.filter(([mark]) => marks.includes(mark)).length;
    return [`@@ -10,${count('- ')} +20,${count('+ ')} @@`, ...lines.map(([mark, content]) => mark + content)].join('\n');
  });
const changedFile = (at: number): fc.Arbitrary<ChangedFile> =>
  fc.constantFrom('added' as const, 'modified' as const, 'removed' as const).chain((status) =>
    fc.record({
      path: fc.tuple(text(20), fc.constantFrom(1, 1, 1, 60)).map(([piece, times]) => `${at}/${piece.repeat(times)}`),
      status: fc.constant(status),
      additions: fc.nat(1_000_000),
      deletions: fc.nat(1_000_000),
      kind: fc.constant('file' as const),
      blobSha: fc.constant('e'.repeat(40)),
      patch: { added: patchOf('+'), modified: patchOf('+', '-', ' '), removed: patchOf('-') }[status],
    }),
  );
const diff = fc.integer({ min: 0, max: 12 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => changedFile(at))));

const comment = fc.record({
  ...{ id: text(10), author: text(10), at: fc.constant('2030-01-01T00:00:00.000Z'), body: sized },
  ...{ path: fc.option(text(20)), line: fc.option(fc.nat(1_000)), url: fc.option(fc.webUrl()) },
});
const description: fc.Arbitrary<Description> = fc.record({
  title: sized,
  description: sized,
  issue: fc.option(fc.record({ id: text(10), title: sized, body: sized, url: fc.option(fc.webUrl()) })),
  comments: fc.array(comment, { maxLength: 6 }),
  gaps: fc.array(sized, { maxLength: 3 }),
});
const finding = fc.record({
  id: fc.uuid(),
  path: text(20),
  severity: fc.constant('major'),
  body: sized,
  answers: fc.array(fc.record({ reason: sized }), { maxLength: 2 }),
});
const maxChars = fc.constantFrom(6_000, 6_001, 7_777, 12_000, 47_999, 48_000);

/** Of a forge only what a context asks; anything else would be a mistake and fails. */
const forgeOf = (files: readonly ChangedFile[], texts: Description, status: 'ahead' | 'diverged' | 'unknown'): Forge =>
  ({
    diff: () => Promise.resolve({ files, gaps: [] }),
    describe: () => Promise.resolve(texts),
    compare: () => Promise.resolve({ status, commits: 3, changedPaths: files.slice(1).map((file) => file.path), capped: false }),
  }) as unknown as Forge;

test('C2: for any pull request and limit no page is over it, no file is lost, and what is shown is what there is', async () => {
  await fc.assert(
    fc.asyncProperty(
      diff,
      description,
      fc.array(finding, { maxLength: 5 }),
      maxChars,
      fc.boolean(),
      fc.constantFrom('ahead' as const, 'diverged' as const, 'unknown' as const),
      async (files, texts, findings, limit, since, status) => {
        const deps = { forge: forgeOf(files, texts, status), store: new MemoryContextStore() };
        const rounds = [
          { number: 1, headSha: OLD, baseSha: BASE },
          { number: 2, headSha: HEAD, baseSha: BASE },
        ];
        const facts: ReadFacts = {
          ref: localRef('/r', 'main', 'topic'),
          openRound: rounds[1] ?? null,
          rounds,
          findings,
          currentHead: { headSha: HEAD, baseSha: BASE, readAt: 0 },
        };
        const read = async (page: number) =>
          (await readContext(deps, facts, { page, maxChars: limit, ...(since ? { sinceRound: 1 } : {}) })).answer;

        const pages = [await read(1)];
        const count = (pages[0] as { page_count: number }).page_count;
        for (let page = 2; page <= count; page++) pages.push(await read(page));
        for (const page of pages) expect(JSON.stringify(page).length).toBeLessThanOrEqual(limit);
        expect(await read(count + 1)).toMatchObject({ files: [], last_page: true });

        const entries = pages.flatMap((page) => page.files);
        expect(entries).toHaveLength(files.length);
        entries.forEach((entry, at) => {
          const file = files[at] as ChangedFile;
          if (entry.path_truncated) expect(file.path.startsWith(entry.path)).toBe(true);
          else expect(entry.path).toBe(file.path);
          if (!entry.patch_omitted) {
            expect(entry.patch).toBe(file.patch);
            return;
          }
          const all = patchLines(file.patch as string);
          const shown = entry.patch === undefined ? [] : entry.patch.split('\n');
          expect(all.slice(0, shown.length).map((line) => line.text)).toEqual(shown);
          const rest = all.slice(shown.length);
          const side = entry.omitted?.ref === 'head' ? 'new' : 'old';
          const numbers = rest.map((line) => line[side]).filter((number) => number !== null);
          expect([entry.omitted?.from_line, entry.omitted?.to_line]).toEqual([numbers[0], numbers.at(-1)]);
        });
        if (since) {
          expect(pages.flatMap((page) => page.findings ?? []).map((one) => one.id)).toEqual(findings.map((one) => one.id));
          expect(pages.flatMap((page) => page.manifest ?? [])).toHaveLength(files.length);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('F2: pages of a file hold its lines in order, each within its room', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(sized, fc.constantFrom('\n', '\r\n', '')), { maxLength: 30 }),
      fc.integer({ min: 50, max: 5_000 }),
      (parts, room) => {
        const content = parts.map(([line, end]) => line + end).join('');
        const lines = fileLines(content);
        expect(lines.join('')).toBe(content);
        const pages = filePages(lines, 1, lines.length, room);
        let next = 1;
        for (const page of pages) {
          expect(page.startLine).toBe(next);
          expect(innerSize(page.content)).toBeLessThanOrEqual(room);
          const wanted = lines.slice(page.startLine - 1, page.endLine).join('');
          if (page.cut) expect(wanted.startsWith(page.content)).toBe(true);
          else expect(page.content).toBe(wanted);
          next = page.endLine + 1;
        }
        expect(next).toBe(lines.length + 1);
      },
    ),
  );
});

test('C2: a cut text fits, keeps its start, halves no pair, and tells how much is missing', () => {
  fc.assert(
    fc.property(sized, fc.integer({ min: 40, max: 2_000 }), (whole, budget) => {
      const cut = cutText(whole, budget);
      expect(innerSize(cut)).toBeLessThanOrEqual(budget);
      if (cut === whole) return;
      const [, start, more] = /^([^]*)\n\[cut: (\d+) more characters\]$/.exec(cut) as unknown as [string, string, string];
      expect(whole.startsWith(start)).toBe(true);
      expect(start.length + Number(more)).toBe(whole.length);
    }),
  );
  expect(startWithin('🙂🙂', 3)).toBe('🙂');
});

test('C2: items are packed in order, no page over its room; room is shared and never exceeded', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 50 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 100 }), (all, first) => {
      const pages = planPages(all, first, 100);
      expect(pages.flatMap(({ from, to }) => all.slice(from, to))).toEqual(all);
      pages.forEach(({ from, to }, at) =>
        expect(all.slice(from, to).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(at === 0 ? first : 100),
      );
      const shares = shareRoom(first, all);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(first);
      shares.forEach((share, at) => expect(share).toBeLessThanOrEqual(all[at] as number));
    }),
  );
});

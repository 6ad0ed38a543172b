import { createHash } from 'node:crypto';
import type { FileRead } from '../forge/port.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { NOTHING_SHOWN, type PathShown } from './coverage.js';
import { fileLines, filePages, type FilePage } from './file-pages.js';
import { jsonSize } from './json-size.js';
import { MAX_CHARS, withinLimit } from './pages.js';
import { checkMaxChars, underReview } from './read-context.js';
import { NOTICE, type ReadDeps, type ReadFacts } from './types.js';

export interface FileQuery {
  readonly path: string;
  readonly ref?: string | undefined;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly page?: number | undefined;
  readonly maxChars?: number | undefined;
}

/** `get_file` as the contract spells it; its compact JSON is at most `max_chars` long. */
export interface FileAnswer {
  readonly notice: string;
  readonly path: string;
  /** `head`, `base`, or the commit that was asked for. */
  readonly ref: string;
  /** The commit the file was read at. */
  readonly sha: string;
  readonly blob_sha: string;
  /** Bytes of the whole file. */
  readonly size: number;
  readonly too_large?: true;
  readonly not_utf8?: true;
  readonly page?: number;
  readonly page_count?: number;
  readonly last_page?: boolean;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly total_lines?: number;
  readonly truncated?: boolean;
  readonly next_start_line?: number;
  readonly line_truncated?: true;
  readonly content?: string;
}

/** Paging needs at least this much beside the fixed part, however long a path is. */
const MIN_CONTENT = 1_000;
/** Numbers a page adds to the fixed part, at their longest. */
const PAGE_FIELDS = {
  ...{ page: 9_999_999, page_count: 9_999_999, last_page: false, start_line: 9_999_999, end_line: 9_999_999 },
  ...{ total_lines: 9_999_999, truncated: false, next_start_line: 9_999_999, line_truncated: true, content: '' },
};

/** A file, or lines of it, at a commit of this review (F1 to F4). Throws Refusal or ForgeError. */
export async function readFile(
  deps: ReadDeps,
  facts: ReadFacts,
  query: FileQuery,
): Promise<{ answer: FileAnswer; shown: readonly PathShown[] }> {
  const { path, page = 1, maxChars = MAX_CHARS } = query;
  checkPath(path);
  checkMaxChars(maxChars);
  if (!Number.isInteger(page) || page < 1) throw new Refusal('invalid', 'page counts from 1.', undefined, 'page');
  const at = commitOf(facts, query.ref ?? 'head');
  const file = await keepFile(deps, facts, at.sha, path);
  if (file.kind !== 'text' && file.kind !== 'too_large') throw notReadable(file, path, at.sha);
  const fixed = { notice: NOTICE, path, ref: at.ref, sha: at.sha, blob_sha: file.sha, size: file.size };
  if (file.kind === 'too_large') return { answer: withinLimit({ ...fixed, too_large: true }, maxChars), shown: [] };

  const flags = file.notUtf8 ? { not_utf8: true as const } : {};
  const room = maxChars - jsonSize({ ...fixed, ...flags, ...PAGE_FIELDS });
  if (room < MIN_CONTENT)
    throw new Refusal('invalid', `The path alone fills a page of ${maxChars} characters.`, 'Ask with a larger max_chars.', 'max_chars');
  const lines = fileLines(file.content);
  const { start, end } = rangeOf(query, lines.length);
  const pages = filePages(lines, start, end, room);
  const shownPage: FilePage =
    pages[page - 1] ?? (pages.length === 0 ? { startLine: start, endLine: end, content: '', cut: false } : past(end));
  const more = shownPage.endLine < end;
  const answer: FileAnswer = {
    ...fixed,
    ...flags,
    page,
    page_count: Math.max(1, pages.length),
    last_page: page >= pages.length,
    start_line: shownPage.startLine,
    end_line: shownPage.endLine,
    total_lines: lines.length,
    truncated: more,
    ...(more ? { next_start_line: shownPage.endLine + 1 } : {}),
    ...(shownPage.cut ? { line_truncated: true } : {}),
    content: shownPage.content,
  };
  return { answer: withinLimit(answer, maxChars), shown: shownBy(facts, at.sha, path, shownPage, lines.length) };
}

/** F4: a path in the repository and nothing else. */
function checkPath(path: string): void {
  const wrong = (message: string) =>
    new Refusal('invalid', message, 'Give the path as get_pr_context spells it, like src/index.ts.', 'path');
  if (path === '' || path.length > 4_096 || path.includes('\0')) throw wrong('The path is empty, too long, or holds a NUL character.');
  if (path.startsWith('/')) throw wrong('The path is absolute: it must be relative to the top of the repository.');
  const bad = path.split('/').find((part) => part === '' || part === '.' || part === '..');
  if (bad !== undefined) throw wrong(`The path has ${bad === '' ? 'an empty segment' : `a segment ${bad}`}.`);
}

const MIN_PREFIX = 7;

/** F1: the words, and the commits of this review by full name or an unmistakable start of it. */
function commitOf(facts: ReadFacts, ref: string): { ref: string; sha: string } {
  if (ref === 'head') return { ref, sha: underReview(facts).headSha };
  if (ref === 'base') return { ref, sha: underReview(facts).baseSha };
  const current = facts.currentHead === null ? [] : [facts.currentHead.headSha, facts.currentHead.baseSha];
  const allowed = new Set([...facts.rounds.map((round) => round.headSha), ...current]);
  const named = [...allowed].filter((sha) => ref.length >= MIN_PREFIX && sha.startsWith(ref.toLowerCase()));
  const [sha] = named;
  if (sha !== undefined && named.length === 1) return { ref: sha, sha };
  throw new Refusal(
    'invalid',
    'ref is head, base, the head commit of a round of this room, or the current head or base commit of the pull request; nothing else can be read.',
    'Leave ref out to read at the commit under review.',
    'ref',
  );
}

async function keepFile(deps: ReadDeps, { ref }: ReadFacts, sha: string, path: string): Promise<FileRead> {
  const kind = `file/1/${createHash('sha256').update(path).digest('hex')}`;
  const key = { repository: ref.repository, baseSha: sha, headSha: sha, kind };
  const stored = await deps.store.get(key);
  if (stored !== null) return JSON.parse(stored) as FileRead;
  const file = await deps.forge.file(ref, sha, path);
  await deps.store.put(key, JSON.stringify(file));
  return file;
}

/** F3. */
function notReadable(file: Exclude<FileRead, { kind: 'text' | 'too_large' }>, path: string, sha: string): Refusal {
  const name = JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
  const invalid = (message: string, hint?: string) => new Refusal('invalid', message, hint, 'path');
  switch (file.kind) {
    case 'binary':
      return invalid(`${name} is binary (${file.size} bytes): it has no lines to read.`);
    case 'symlink':
      return invalid(
        `${name} is a symlink to ${JSON.stringify(file.target.slice(0, 300))}; links are not followed.`,
        'Read the file it points to by its own path.',
      );
    case 'submodule':
      return invalid(`${name} is a submodule at ${file.sha}; its files belong to another repository.`);
    case 'folder':
      return invalid(`${name} is a folder.`, 'Name a file in it.');
    case 'missing':
      return new Refusal(
        'not_found',
        `There is no ${name} at ${sha.slice(0, 7)}.`,
        'A removed file is read at ref base, a renamed one by its other name.',
        'path',
      );
  }
}

function rangeOf({ startLine, endLine }: FileQuery, total: number): { start: number; end: number } {
  const has = `The file has ${total} ${total === 1 ? 'line' : 'lines'}`;
  for (const [field, line] of [
    ['start_line', startLine],
    ['end_line', endLine],
  ] as const) {
    if (line !== undefined && (!Number.isInteger(line) || line < 1))
      throw new Refusal('invalid', `${field} counts from 1. ${has}.`, undefined, field);
  }
  const start = startLine ?? 1;
  if (startLine !== undefined && start > total) throw new Refusal('invalid', `${has}: there is no line ${start}.`, undefined, 'start_line');
  if (endLine !== undefined && endLine < start)
    throw new Refusal('invalid', `end_line ${endLine} comes before start_line ${start}. ${has}.`, undefined, 'end_line');
  return { start, end: Math.min(endLine ?? total, total) };
}

function past(end: number): FilePage {
  return { startLine: end + 1, endLine: end, content: '', cut: false };
}

/** G1: lines of the commits under review count; those of other commits show nothing of them. */
function shownBy({ openRound }: ReadFacts, sha: string, path: string, { startLine, endLine, cut }: FilePage, total: number): PathShown[] {
  if (openRound === null) return [];
  const side = sha === openRound.headSha ? 'new' : sha === openRound.baseSha ? 'old' : null;
  if (side === null) return [];
  const read = cut || endLine < startLine ? [] : [[startLine, endLine] as const];
  return [{ path, facts: { ...NOTHING_SHOWN, read: { ...NOTHING_SHOWN.read, [side]: read }, total: { [side]: total } } }];
}

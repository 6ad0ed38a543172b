import { ForgeError, UNRELATED, type Description } from '../forge/port.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { PathShown } from './coverage.js';
import type { FileEntry } from './file-entry.js';
import { headerWithin, wholeHeader, type WireHeader } from './header.js';
import { jsonSize } from './json-size.js';
import { keepComparison, keepDiff, type KeptDiff } from './kept-diff.js';
import { buildItems, itemsOf, shownBy, type BuiltItems, type SinceItems } from './page-items.js';
import { MAX_CHARS, MIN_CHARS, planPages, withinLimit } from './pages.js';
import { sinceView, type ManifestEntry, type SinceView, type WireSince } from './since.js';
import { BASE_REF, NOTICE, type ReadDeps, type ReadFacts, type RoundCommits, type ShownFinding } from './types.js';

export interface ContextQuery {
  readonly page?: number | undefined;
  readonly sinceRound?: number | undefined;
  /** `head_sha` of page 1 (C10). */
  readonly headSha?: string | undefined;
  readonly maxChars?: number | undefined;
}

/** `get_pr_context` as the contract spells it; its compact JSON is at most `max_chars` long. */
export interface ContextAnswer extends Partial<WireHeader> {
  readonly page: number;
  readonly page_count: number;
  readonly last_page: boolean;
  /** C8. */
  readonly notice: string;
  /** ISO 8601; null: the head could not be read, and head_moved is null too. */
  readonly head_read_at: string | null;
  readonly base_sha: string;
  readonly head_sha: string;
  readonly round_head_sha: string | null;
  readonly head_moved: boolean | null;
  /** Changed files of the whole view. */
  readonly file_count: number;
  readonly since?: WireSince;
  readonly since_hint?: string | null;
  readonly findings?: readonly ShownFinding[];
  readonly manifest?: readonly ManifestEntry[];
  readonly manifest_complete?: boolean;
  readonly files: readonly FileEntry[];
}

interface ContextRead {
  readonly answer: ContextAnswer;
  /** G1: what this page showed, to be merged into the caller's records of the open round; empty with none open. */
  readonly shown: readonly PathShown[];
}

/** What a query is about, once it is known to be allowed. */
interface Target {
  readonly commits: { readonly headSha: string; readonly baseSha: string };
  readonly since: RoundCommits | null;
  readonly page: number;
  readonly maxChars: number;
}

/**
 * A page of the pull request (C1 to C10). Throws Refusal or ForgeError. All on one page where it fits; else page 1
 * keeps half for the texts, however long they are just now: a comment that comes between two calls moves no file.
 */
export async function readContext(deps: ReadDeps, facts: ReadFacts, query: ContextQuery): Promise<ContextRead> {
  const target = targetOf(facts, query);
  const { commits, since, page, maxChars } = target;
  const room = maxChars - ENVELOPE_CHARS;
  const whole = await keepDiff(deps, facts.ref, commits);
  const view = since === null ? null : await sinceOf(deps, facts, target, since, whole);
  const items = itemsOf(whole, view, facts.findings);
  const sizes = items.map((item) => Math.min(item.size + 1, room));

  // The texts are only needed where they are shown, or where everything might fit on one page with them.
  const text = page === 1 || sum(sizes) <= room ? await describe(deps, facts, await gapsOf(deps, facts, commits, whole)) : null;
  const onePage = text !== null && sum(sizes) + jsonSize(wholeHeader(text)) <= room;
  const pages = onePage ? [{ from: 0, to: items.length }] : planPages(sizes, Math.floor(room / 2), room);
  const span = pages[page - 1] ?? { from: items.length, to: items.length };
  const built = await buildItems(items.slice(span.from, span.to), view ?? { diff: whole, oldRef: BASE_REF }, room);
  const header = page === 1 && text !== null ? headerWithin(text, room - sum(sizes.slice(span.from, span.to))) : {};
  const lastManifest = items.findLastIndex((item) => item.kind === 'manifest');
  const answer: ContextAnswer = {
    ...envelope(facts, target),
    page_count: pages.length,
    last_page: page >= pages.length,
    file_count: items.filter((item) => item.kind === 'file').length,
    ...header,
    ...(view === null ? {} : sinceFields(view.view, built, lastManifest < span.to)),
    files: built.files,
  };
  return { answer: withinLimit(answer, maxChars), shown: facts.openRound === null ? [] : shownBy(built, whole, view) };
}

/**
 * What a page needs besides its items, at most. One number for all pages of all views: did it follow the envelope, a
 * head that moves between two calls would move a file to a page that was already read.
 */
const ENVELOPE_CHARS = 2_000;

function targetOf(facts: ReadFacts, { page = 1, sinceRound, headSha, maxChars = MAX_CHARS }: ContextQuery): Target {
  if (!Number.isInteger(page) || page < 1) throw new Refusal('invalid', 'page counts from 1.', undefined, 'page');
  checkMaxChars(maxChars);
  const commits = underReview(facts);
  if (page > 1 && headSha !== undefined && headSha !== commits.headSha) {
    throw new Refusal(
      'conflict',
      `The pages of ${short(headSha)} are no longer served: the commit under review is ${short(commits.headSha)}.`,
      'Start again at page 1.',
    );
  }
  return { commits, since: sinceRound === undefined ? null : earlierRound(facts, sinceRound), page, maxChars };
}

export function checkMaxChars(maxChars: number): void {
  if (maxChars >= MIN_CHARS && maxChars <= MAX_CHARS) return;
  throw new Refusal('invalid', `max_chars is from ${MIN_CHARS} to ${MAX_CHARS}, not ${maxChars}.`, undefined, 'max_chars');
}

/** C3: the open round's commits, whoever pushes; with none open the pull request's own. */
export function underReview(facts: ReadFacts): { readonly headSha: string; readonly baseSha: string } {
  const commits = facts.openRound ?? facts.currentHead;
  if (commits === null)
    throw new Refusal(
      'forge_unavailable',
      "The pull request's head cannot be read now, and no round is open.",
      'Call again in 30 seconds.',
    );
  return commits;
}

/** C4: an earlier round than the open one; with none open any closed one. */
function earlierRound({ rounds, openRound }: ReadFacts, wanted: number): RoundCommits {
  const allowed = rounds.filter((round) => openRound === null || round.number < openRound.number);
  const found = allowed.find((round) => round.number === wanted);
  if (found !== undefined) return found;
  const which = allowed.length === 0 ? 'there is none yet' : `that is ${allowed.map((round) => round.number).join(', ')}`;
  throw new Refusal(
    'invalid',
    `since_round must be an earlier round${openRound === null ? '' : ` than the open round ${openRound.number}`}: ${which}.`,
    'Leave since_round out for the full view.',
    'since_round',
  );
}

function envelope({ openRound, currentHead }: ReadFacts, { commits, page }: Target) {
  return {
    page,
    notice: NOTICE,
    head_read_at: currentHead === null ? null : new Date(currentHead.readAt).toISOString(),
    base_sha: commits.baseSha,
    head_sha: commits.headSha,
    round_head_sha: openRound?.headSha ?? null,
    head_moved: currentHead === null ? null : currentHead.headSha !== commits.headSha,
  };
}

function sinceFields({ since, hint }: SinceView, { findings, manifest }: BuiltItems, complete: boolean) {
  return { since, since_hint: hint, findings, manifest, manifest_complete: complete };
}

/** C9: what the listing lacks. */
async function gapsOf(deps: ReadDeps, { ref }: ReadFacts, { baseSha, headSha }: Target['commits'], { gaps }: KeptDiff): Promise<string[]> {
  const { status } = await keepComparison(deps, ref, baseSha, headSha);
  return status === 'diverged' ? [...gaps, UNRELATED] : [...gaps];
}

/** Texts that cannot be read now cost the files nothing: they are a gap. */
async function describe(deps: ReadDeps, facts: ReadFacts, gaps: readonly string[]): Promise<Description> {
  try {
    const text = await deps.forge.describe(facts.ref);
    return { ...text, gaps: [...gaps, ...text.gaps] };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const gap = `Title, description, issue and comments could not be read now: ${error.message}`;
    return { title: '', description: '', issue: null, comments: [], gaps: [...gaps, gap] };
  }
}

async function sinceOf(
  deps: ReadDeps,
  facts: ReadFacts,
  { commits, maxChars }: Target,
  round: RoundCommits,
  whole: KeptDiff,
): Promise<SinceItems> {
  const comparison = await keepComparison(deps, facts.ref, round.headSha, commits.headSha);
  const changes =
    comparison.changedPaths === null ? null : await keepDiff(deps, facts.ref, { baseSha: round.headSha, headSha: commits.headSha });
  const view = sinceView({
    round: round.number,
    from: round.headSha,
    to: commits.headSha,
    comparison,
    pullRequest: whole.files,
    changes: changes?.files ?? null,
    room: maxChars - ENVELOPE_CHARS - 1,
  });
  return { round: round.number, view, diff: changes ?? whole, oldRef: changes === null ? BASE_REF : round.headSha };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const short = (sha: string) => sha.slice(0, 7);

import { chipsFor, offersOf, phaseOf } from '../../workflows/barista/status.js';
import { findingOf, isSettled } from '../../workflows/room/findings.js';
import { holders, participantOf } from '../../workflows/room/members.js';
import { short } from '../../workflows/room/notes.js';
import { missing } from '../../workflows/room/rounds.js';
import type { Actor, CloseReason, Finding, ParticipantId, Review, RoomState, Round } from '../../workflows/room/state.js';
import { nextSteps, nothingForYou } from '../../workflows/room/turn.js';
import { seenBy } from '../../workflows/room/visibility.js';
import type { Chip, Offer, Phase, Recipe, Role, Stance, Verdict } from '../../workflows/room/words.js';
import { jsonSize } from '../../activities/context/json-size.js';
import { MAX_CHARS, withinLimit } from '../../activities/context/pages.js';
import { draftOfRound, wireDraft, type WireDraft } from './draft.js';
import { wireFinding, type WireFinding } from './finding.js';
import { draftParts, coverageParts, listPart, reviewParts } from './round-parts.js';
import { packed, type Part } from './parts.js';
import { type Around, type Named, named, plainName, seen, type Seen, type Snapshot } from './snapshot.js';
import { iso } from './time.js';

/** The answer of get_review_round, or one page of it. Lists hold what is on this page; everything else is on each. */
export interface RoundPage {
  page: number;
  page_count: number;
  last_page: boolean;
  recipe: Recipe;
  round: WireRound | null;
  phase: Phase;
  roles: Record<Role, Named[]>;
  submitted: Named[];
  missing: Named[];
  declined: WireDecline[];
  reviews: WireReview[];
  hidden_reviews: number;
  carried: WireFinding[];
  /** Absent where the draft is on another page. */
  draft?: PagedDraft | null;
  current_pr_head_sha: string | null;
  head_moved: boolean | null;
  head_read_at: string | null;
  coverage: WireCoverage[];
  ci: Around['ci'];
  next_steps: string;
  nothing_for_you: boolean;
  chips: Chip[];
  offers: Offer[];
}

export interface WireRound {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly round_head_sha: string;
  readonly base_sha: string;
  readonly opened_at: string;
  readonly opened_by: Actor;
  readonly closed_at: string | null;
  readonly closed_by: Actor | null;
  readonly close_reason: CloseReason | null;
}

interface WireDecline extends Named {
  readonly reason: string;
  readonly until: string | null;
}

export interface WireReview {
  readonly id: string;
  readonly by: ParticipantId;
  readonly by_name: string;
  readonly at: string;
  readonly verdict: Verdict;
  /** Absent on a page that only goes on with the review's findings. */
  readonly summary?: string;
  readonly continued?: true;
  readonly frozen: boolean;
  readonly revealed: boolean;
  /** G1: what this reviewer was shown; "no findings" is never said without it. */
  readonly coverage: string | null;
  readonly finding_count: number;
  findings: WireFinding[];
  references: { readonly finding_id: string; readonly stance: Stance; readonly note: string | null }[];
}

/** A draft whose body and lists may go on over several pages. */
export interface PagedDraft extends Omit<WireDraft, 'body' | 'findings' | 'standing' | 'coverage' | 'declined'> {
  body: string;
  /** The body goes on on the next page. */
  body_continues?: boolean;
  findings: WireDraft['findings'][number][];
  standing: WireDraft['standing'][number][];
  coverage: WireDraft['coverage'][number][];
  declined: WireDraft['declined'][number][];
}

export interface WireCoverage {
  readonly participant: ParticipantId;
  readonly name: string;
  readonly shown: number;
  readonly partial: number;
  readonly not_shown: number;
  readonly line: string;
  files: { readonly path: string; readonly state: 'shown' | 'partial' | 'not_shown' }[];
}

export type FindingsFilter = 'all' | 'mine' | 'open';

export interface RoundQuery {
  /** The latest where absent. */
  readonly round?: number | undefined;
  readonly findings?: FindingsFilter | undefined;
  readonly page?: number | undefined;
  /** Characters of the JSON text; `Infinity` for one page whatever its size. */
  readonly maxChars?: number | undefined;
}

/**
 * V1: a round as `reader` may see it, a page of it. Whether it shows another's review for the first time is
 * `wouldReveal(state, reader)`'s to say, and for the caller to record before (DESIGN 3).
 * @throws Refusal `not_found` for a round that is not there
 */
export function roundView(snapshot: Snapshot, reader: ParticipantId, query: RoundQuery, around: Around, now: number): RoundPage {
  const view = seen(snapshot, reader, query.round);
  const onEveryPage = frame(snapshot, view, reader, around, now);
  const maxChars = query.maxChars ?? MAX_CHARS;
  const room = maxChars - jsonSize(onEveryPage);
  const parts = partsOf(snapshot, view, reader, query.findings ?? 'all', around, room);
  const pages = packed(parts, room);
  const number = query.page ?? 1;
  const page: RoundPage = { ...structuredClone(onEveryPage), page: number, page_count: pages.length, last_page: number >= pages.length };
  if (number === 1 && !view.round) page.draft = null;
  for (const part of pages[number - 1] ?? []) part.put(page);
  return withinLimit(page, maxChars);
}

/** Longest page number whose digits the frame keeps room for. */
const HIGHEST_PAGE = 999_999;
/** What a frame says at most of the failed checks, and of whom a round waits for. */
const CI_SUMMARY = 600;
const NEXT_STEPS = 1_000;

function frame(snapshot: Snapshot, view: Seen, reader: ParticipantId, { head, ci, calls }: Around, now: number): RoundPage {
  const { state } = snapshot;
  const { room, round } = view;
  const shown = seenBy(state, reader);
  const current = round && !round.closed && round.number === state.round?.number ? (head?.sha ?? null) : null;
  return {
    page: HIGHEST_PAGE,
    page_count: HIGHEST_PAGE,
    last_page: false,
    recipe: room.recipe,
    round: round && wireRound(round),
    phase: phaseOf(shown, now),
    roles: { lead: [], reviewer: [], author: [] },
    submitted: [],
    missing: [],
    declined: [],
    reviews: [],
    hidden_reviews: view.hidden.reviews,
    carried: [],
    current_pr_head_sha: current,
    head_moved: round && current !== null ? current !== round.headSha : null,
    head_read_at: head && iso(head.readAt),
    coverage: [],
    ci: ci && { ...ci, summary: short(ci.summary, CI_SUMMARY) },
    next_steps: short(nextSteps(state, reader, now), NEXT_STEPS),
    nothing_for_you: nothingForYou(state, reader, now),
    chips: chipsFor(state, shown, calls, now),
    offers: offersOf(shown),
  };
}

export function wireRound(round: Round): WireRound {
  return {
    number: round.number,
    state: round.closed ? 'closed' : 'open',
    round_head_sha: round.headSha,
    base_sha: round.baseSha,
    opened_at: iso(round.openedAt),
    opened_by: round.openedBy,
    closed_at: round.closed && iso(round.closed.at),
    closed_by: round.closed && round.closed.by,
    close_reason: round.closed && round.closed.why,
  };
}

function partsOf(
  snapshot: Snapshot,
  view: Seen,
  reader: ParticipantId,
  filter: FindingsFilter,
  around: Around,
  budget: number,
): Part<RoundPage>[] {
  const { room, round } = view;
  const wanted = (finding: Finding): boolean => filter === 'all' || (filter === 'mine' ? finding.raisedBy === reader : !isSettled(finding));
  const wire = (ids: readonly string[]): WireFinding[] =>
    ids
      .flatMap((id) => findingOf(room, id) ?? [])
      .filter(wanted)
      .map((finding) => wireFinding(view, finding));
  const draft = round && draftOfRound(snapshot, round.number);
  const lineOf = (by: ParticipantId): string | null => around.coverage.find((row) => row.participant === by)?.line ?? null;
  return [
    ...(['lead', 'reviewer', 'author'] as const).flatMap((role) =>
      holders(room, role).map(({ id, name }) => listPart({ id, name }, budget, (page) => page.roles[role])),
    ),
    ...peopleParts(view, budget),
    ...wire(round?.carried ?? []).map((finding) => listPart(finding, budget, (page) => page.carried)),
    ...(round?.reviews ?? []).flatMap((review) =>
      reviewParts(wireReview(view, round!, review, lineOf(review.by), wire(review.findings)), budget),
    ),
    ...(round ? draftParts(draft && wireDraft(snapshot, reader, draft, around), budget) : []),
    ...around.coverage.flatMap((row) => coverageParts(wireCoverage(room, row), budget)),
  ];
}

function peopleParts(view: Seen, budget: number): Part<RoundPage>[] {
  const { room, round, hidden, text } = view;
  if (!round) return [];
  const present = (ids: readonly ParticipantId[]): Named[] => ids.filter((id) => participantOf(room, id)).map((id) => named(room, id));
  // Of an open round: who holds the role now, and has no review, hidden or not.
  const absent = round.closed?.missing ?? missing(room, round).filter((id) => !hidden.submitted.includes(id));
  const declined = round.declines.map(({ by, reason, until }) => ({
    ...named(room, by),
    reason: text(reason),
    until: until === null ? null : iso(until),
  }));
  return [
    ...present(hidden.submitted).map((person) => listPart(person, budget, (page) => page.submitted)),
    ...present(absent).map((person) => listPart(person, budget, (page) => page.missing)),
    ...declined.map((decline) => listPart(decline, budget, (page) => page.declined)),
  ];
}

function wireReview({ room, text }: Seen, round: Round, review: Review, coverage: string | null, findings: WireFinding[]): WireReview {
  const frozen = round.seen.includes(review.by);
  return {
    id: review.id,
    by: review.by,
    by_name: plainName(room, review.by),
    at: iso(review.at),
    verdict: review.verdict,
    summary: text(review.summary),
    frozen,
    revealed: frozen,
    coverage,
    finding_count: review.findings.length,
    findings,
    references: review.references.map(({ finding, stance, note }) => ({
      finding_id: finding,
      stance,
      note: note === null ? null : text(note),
    })),
  };
}

function wireCoverage(room: RoomState, { participant, shown, partial, notShown, files, line }: Around['coverage'][number]): WireCoverage {
  return { participant, name: plainName(room, participant), shown, partial, not_shown: notShown, line, files: [...files] };
}

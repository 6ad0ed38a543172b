import { findingOf, isSettled, needsFix, standingOf, stateOf } from '../../workflows/room/findings.js';
import type { Lines } from '../../workflows/room/lines.js';
import type { Answer, Finding, ParticipantId, Reference, Review } from '../../workflows/room/state.js';
import type { AnsweredAs, AnswerKind, FindingState, Severity, Side, Stance, Standing } from '../../workflows/room/words.js';
import { plainName, type Seen, seen, type Snapshot } from './snapshot.js';
import { iso } from './time.js';

/** A finding on the wire. */
export interface WireFinding {
  readonly id: string;
  readonly path: string;
  /** Absent: the whole file. */
  readonly line?: number;
  /** The first line of a range that ends at `line`; absent: one line. */
  readonly start_line?: number;
  readonly side: Side;
  readonly severity: Severity;
  readonly body: string;
  readonly raised_in_round: number;
  readonly raised_by: ParticipantId;
  readonly raised_by_name: string;
  readonly raised_on: string;
  readonly state: FindingState;
  readonly answers: readonly WireAnswer[];
  readonly references: readonly WireReference[];
  readonly needs_fix: boolean;
  /** Null once it is settled. */
  readonly standing: Standing | null;
  readonly outside_diff: boolean;
  /** A6: it has been answered, or resolved, and how is told when the round closes. */
  readonly answered?: true;
  readonly resolved?: true;
}

interface WireAnswer {
  readonly kind: AnswerKind;
  readonly by: ParticipantId;
  readonly by_name: string;
  readonly as: AnsweredAs;
  readonly reason: string | null;
  readonly round: number;
  readonly commit: string;
  readonly at: string;
}

/** What a review of a closed round said of the finding (K2). */
interface WireReference {
  readonly stance: Stance;
  readonly note: string | null;
  readonly by: ParticipantId;
  readonly by_name: string;
  readonly round: number;
  readonly at: string;
}

/** The lines as they are spelt on the wire, `start_line` only where there is a range. */
export function wireLines({ line, startLine }: Lines): { line?: number; start_line?: number } {
  return { ...(line !== null && { line }), ...(startLine !== undefined && { start_line: startLine }) };
}

export function wireFinding(view: Seen, finding: Finding): WireFinding {
  const { room, text } = view;
  const hidden = view.hidden.answers(finding.id);
  return {
    id: finding.id,
    path: finding.path,
    ...wireLines(finding),
    side: finding.side,
    severity: finding.severity,
    body: text(finding.body),
    raised_in_round: finding.raisedIn,
    raised_by: finding.raisedBy,
    raised_by_name: plainName(room, finding.raisedBy),
    raised_on: finding.raisedOn,
    state: stateOf(room, finding),
    answers: finding.answers.map((answer) => wireAnswer(view, answer)),
    references: referencesTo(view, finding.id),
    needs_fix: needsFix(room, finding),
    standing: standingOf(room, finding),
    outside_diff: finding.outsideDiff,
    ...(hidden.answered && { answered: true }),
    ...(hidden.resolved && { resolved: true }),
  };
}

function wireAnswer({ room, text }: Seen, answer: Answer): WireAnswer {
  const { kind, by, as, reason, round, commit, at } = answer;
  return { kind, by, by_name: plainName(room, by), as, reason: reason === null ? null : text(reason), round, commit, at: iso(at) };
}

/** K2: from closed rounds only, oldest first. */
function referencesTo(view: Seen, id: string): WireReference[] {
  return closedReviews(view).flatMap(({ round, review }) =>
    review.references.filter((reference) => reference.finding === id).map((reference) => wireReference(view, round, review, reference)),
  );
}

function wireReference({ room, text }: Seen, round: number, review: Review, { stance, note }: Reference): WireReference {
  return { stance, note: note === null ? null : text(note), by: review.by, by_name: plainName(room, review.by), round, at: iso(review.at) };
}

function closedReviews({ before, round }: Seen): { round: number; review: Review }[] {
  const closed = [...before, ...(round?.closed ? [round] : [])];
  return closed.flatMap(({ number, reviews }) => reviews.map((review) => ({ round: number, review })));
}

/**
 * One finding of the latest round that has it, as the answer of rebut_finding and resolve_finding: a call may be repeated
 * when the finding it settled has left (S9). Null where the reader sees none of that id.
 */
export function findingView(snapshot: Snapshot, reader: ParticipantId, id: string): WireFinding | null {
  const newestFirst = [undefined, ...[...snapshot.records.keys()].sort((a, b) => b - a)];
  for (const number of newestFirst) {
    const view = seen(snapshot, reader, number);
    const finding = findingOf(view.room, id);
    if (finding) return wireFinding(view, finding);
  }
  return null;
}

/** C5: the unsettled findings; while a round is open exactly those carried into it, and never one raised in it. */
export function unsettledFindings(snapshot: Snapshot, reader: ParticipantId): WireFinding[] {
  const view = seen(snapshot, reader);
  const { round } = view;
  const wanted = (finding: Finding): boolean =>
    !isSettled(finding) && (round?.closed != null || round?.carried.includes(finding.id) === true);
  return view.room.findings.filter(wanted).map((finding) => wireFinding(view, finding));
}

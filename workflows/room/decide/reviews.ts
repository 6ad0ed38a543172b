import type { NewFinding, ReviewCommand } from '../commands.js';
import type { RoomFact } from '../events.js';
import { LIMITS, type Finding, type Reference, type Review, type RoomState, type Round } from '../state.js';
import { findingOf, isSettled } from '../findings.js';
import { distance, numbersOf } from '../lines.js';
import { mayReadReviews, wouldReveal } from '../visibility.js';
import { hasSubmitted, openRound, unsettled } from '../rounds.js';
import { type Decision, type Refused, badRange, done, lacksRole, refuse, repeat } from './checks.js';

type Submit = ReviewCommand & { type: 'submitReview' };

/** S1 to S9. */
export function submit(room: RoomState, command: Submit, now: number): Decision {
  const mine = room.round?.reviews.find((review) => review.by === command.by);
  if (mine && command.requestId === undefined && isSame(room, mine, command)) return repeat(submitted(room, mine, command));
  const refused = lacksRole(room, command.by, 'reviewer') ?? notReviewable(room);
  if (refused) return refused;
  const round = openRound(room)!;
  const blocked =
    (mine && cannotReplace(room, round, mine)) ??
    badRange(command.findings) ??
    badReferences(round, command.references) ??
    tooMany(room, command, mine);
  if (blocked) return blocked;

  const findings = command.findings.map((finding, index) => raised(finding, room.nextFinding + index, round, command.by));
  const review: Review = {
    id: `v${room.nextReview}`,
    by: command.by,
    at: now,
    verdict: command.verdict,
    summary: command.summary,
    findings: findings.map((finding) => finding.id),
    references: command.references,
    replaced: mine !== undefined,
  };
  return done([{ type: 'ReviewSubmitted', review, findings }], submitted(room, review, command));
}

function raised(finding: NewFinding, number: number, round: Round, by: string): Finding {
  const { path, line, startLine, side, severity, body, outsideDiff } = finding;
  return {
    id: `f${number}`,
    raisedBy: by,
    raisedIn: round.number,
    raisedOn: round.headSha,
    path,
    line,
    ...(startLine !== undefined && { startLine }),
    side,
    severity,
    body,
    outsideDiff,
    answers: [],
    agreedByRaiserAt: null,
    disputeEndedAt: null,
  };
}

function submitted(room: RoomState, review: Review, command: Submit) {
  return {
    review: review.id,
    verdict: review.verdict,
    findings: review.findings,
    replaced: review.replaced,
    warnings: warnings(room, command),
    possibleDuplicates: possibleDuplicates(room, command.findings, review.at),
  };
}

function isSame(room: RoomState, review: Review, command: Submit): boolean {
  if (review.verdict !== command.verdict || review.summary !== command.summary) return false;
  if (review.findings.length !== command.findings.length || review.references.length !== command.references.length) return false;
  const sameFindings = command.findings.every((wanted, index) => {
    const stored = findingOf(room, review.findings[index]!);
    return (
      stored !== undefined &&
      stored.path === wanted.path &&
      stored.line === wanted.line &&
      stored.startLine === wanted.startLine &&
      stored.side === wanted.side &&
      stored.severity === wanted.severity &&
      stored.body === wanted.body
    );
  });
  return sameFindings && command.references.every((wanted, index) => sameReference(review.references[index]!, wanted));
}

function sameReference(a: Reference, b: Reference): boolean {
  return a.finding === b.finding && a.stance === b.stance && a.note === b.note;
}

function notReviewable(room: RoomState): Refused | null {
  if (!room.round) return refuse('no_open_round', 'No round is open yet.', { hint: 'Wait for the note that opens round 1.' });
  if (!room.round.closed) return null;
  return refuse('round_closed', `Round ${room.round.number} is closed, so this review was not stored.`, {
    hint: 'Submit it in the next round, when one opens.',
  });
}

function cannotReplace(room: RoomState, round: Round, mine: Review): Refused | null {
  if (round.seen.includes(mine.by)) {
    return refuse('frozen', `You have read another review of round ${round.number}, so yours can no longer be replaced.`);
  }
  const answered = mine.findings.find((id) => (findingOf(room, id)?.answers.length ?? 0) > 0);
  if (answered === undefined) return null;
  return refuse('answered', `Your finding ${answered} has been answered or resolved, so your review can no longer be replaced.`);
}

/** S3: carried findings only, each once. One that was settled since the opening may still be referenced. */
function badReferences(round: Round, references: readonly Reference[]): Refused | null {
  if (references.length > LIMITS.referencesPerReview) {
    return refuse('invalid', `A review has at most ${LIMITS.referencesPerReview} references, not ${references.length}.`, {
      field: 'references',
    });
  }
  const named = new Set<string>();
  for (const [index, { finding }] of references.entries()) {
    const field = `references[${index}].finding_id`;
    if (!round.carried.includes(finding)) {
      return refuse('invalid', `${finding} is not carried into round ${round.number}.`, {
        field,
        hint: 'Reference the findings that get_review_round lists as carried; file anything else as a finding.',
      });
    }
    if (named.has(finding)) return refuse('invalid', `${finding} is referenced twice.`, { field });
    named.add(finding);
  }
  return null;
}

function tooMany(room: RoomState, command: Submit, mine: Review | undefined): Refused | null {
  if (command.findings.length > LIMITS.findingsPerReview) {
    return refuse('invalid', `A review has at most ${LIMITS.findingsPerReview} findings, not ${command.findings.length}.`, {
      field: 'findings',
    });
  }
  const kept = unsettled(room).length - (mine?.findings.length ?? 0);
  if (command.findings.length === 0 || kept + command.findings.length <= LIMITS.unsettledFindings) return null;
  return refuse(
    'invalid',
    `This room holds ${kept} unsettled findings and can hold ${LIMITS.unsettledFindings}; ${command.findings.length} more are too many.`,
    {
      field: 'findings',
      hint: 'Settle findings, or submit the ones that matter most.',
    },
  );
}

/** S8, a range that cannot stand as one (D9), and a dispute of one's own finding, which marks nothing (B16). */
function warnings(room: RoomState, command: Submit): string[] {
  const found: string[] = [];
  const grave = command.findings.filter((finding) => finding.severity === 'blocker' || finding.severity === 'major').length;
  if (command.verdict === 'approve' && grave > 0) {
    found.push(
      `The verdict is approve, but ${grave === 1 ? 'a finding is' : `${grave} findings are`} blocker or major: the two do not agree.`,
    );
  }
  for (const [index, { path, line, startLine, leavesHunk }] of command.findings.entries()) {
    if (line === null || startLine === undefined || leavesHunk === undefined) continue;
    const where = leavesHunk === 'at_line' ? `at line ${line} alone` : 'in the body of the review';
    found.push(
      `findings[${index}]: lines ${numbersOf({ line, startLine })} of ${path} do not lie in one hunk of the diff, so its comment will stand ${where}.`,
    );
  }
  for (const reference of command.references) {
    if (reference.stance === 'dispute' && findingOf(room, reference.finding)?.raisedBy === command.by) {
      found.push(`You dispute your own finding ${reference.finding}: withdraw it with resolve_finding if it does not apply.`);
    }
  }
  return found;
}

/** S4: how near two lines are to be about the same thing. */
const NEAR = 3;

/** How many carried findings are named for a new one, the nearest first: a hint, and a room can carry 1 500 in one place. */
const NAMED = 5;

/** As of the review's own time, so that a repeat gets the first result (S9). */
function possibleDuplicates(room: RoomState, findings: readonly NewFinding[], at: number): { index: number; finding: string }[] {
  const wasSettled = (finding: Finding): boolean => isSettled(finding) && finding.answers.at(-1)!.at <= at;
  const carried = room.findings.filter((finding) => room.round?.carried.includes(finding.id) && !wasSettled(finding));
  return findings.flatMap((added, index) =>
    carried
      .map((known) => ({ known, apart: linesApart(added, known) }))
      .filter(({ apart }) => apart <= NEAR)
      .sort((a, b) => a.apart - b.apart)
      .slice(0, NAMED)
      .map(({ known }) => ({ index, finding: known.id })),
  );
}

/** How far apart two findings are; 0 also where both are about one whole file, and without end where they are of different things. */
function linesApart(added: NewFinding, known: Finding): number {
  if (added.path !== known.path) return Infinity;
  if (added.line === null || known.line === null) return added.line === known.line ? 0 : Infinity;
  return distance({ ...added, line: added.line }, { ...known, line: known.line });
}

/** S7. */
export function decline(room: RoomState, command: ReviewCommand & { type: 'declineReview' }, now: number): Decision {
  const refused = lacksRole(room, command.by, 'reviewer') ?? notReviewable(room);
  if (refused) return refused;
  const round = openRound(room)!;
  if (hasSubmitted(round, command.by)) {
    return refuse('conflict', `You have submitted a review of round ${round.number}; it stays.`, {
      hint: 'Submit again to replace it.',
    });
  }
  const known = round.declines.find((other) => other.by === command.by);
  if (known && command.requestId === undefined && known.reason === command.reason && known.until === command.until) return repeat({});
  const wrong = command.until === null ? null : whyNotUntil(command.until, now);
  if (wrong) return refuse('invalid', wrong, { field: 'until', hint: 'Leave until out if you do not know when you can review.' });
  return done([{ type: 'ReviewDeclined', decline: { by: command.by, at: now, reason: command.reason, until: command.until } }]);
}

function whyNotUntil(until: number, now: number): string | null {
  if (until <= now) return 'until is not in the future.';
  return until - now > LIMITS.declineFor ? 'until is more than a year away.' : null;
}

/** V8: whoever asks holds no unsubmitted reviewer role at this moment, so nothing is shown too early. */
export function reveal(room: RoomState, command: ReviewCommand & { type: 'reveal' }): Decision {
  const round = openRound(room);
  if (round?.number !== command.round) return refuse('conflict', `Round ${command.round} is not open.`);
  if (!mayReadReviews(room, command.by)) {
    return refuse('conflict', `The reviews of round ${round.number} are hidden from you until you submit your own.`);
  }
  // The review that was to be shown may be gone with its agent (R6): what nobody shows freezes nobody.
  const shown: RoomFact[] = wouldReveal(room, command.by) ? [{ type: 'ReviewsRevealed', to: command.by }] : [];
  return done(shown);
}

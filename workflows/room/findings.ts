import type { Finding, ParticipantId, Review, RoomState, Round, StandingOf } from './state.js';
import type { FindingState, Standing } from './words.js';
import { someoneHolds } from './members.js';

/**
 * What a finding's facts amount to. Nothing here is stored: a state or standing is always worked out from the
 * answers and references, so that it can never disagree with them. Give these functions the room as its reader
 * may see it (`seenBy`), and they tell the reader nothing else.
 */

export function findingOf(room: RoomState, id: string): Finding | undefined {
  return room.findings.find((finding) => finding.id === id);
}

/** Settled = fixed or withdrawn: never carried, never answered again (A3). */
export function isSettled(finding: Finding): boolean {
  const last = finding.answers.at(-1)?.kind;
  return last === 'fixed' || last === 'withdrawn';
}

export function stateOf(room: RoomState, finding: Finding): FindingState {
  if (isDisputed(room, finding)) return 'disputed';
  const last = finding.answers.at(-1);
  switch (last?.kind) {
    case undefined:
      return 'open';
    case 'accept':
      return 'accepted';
    case 'reject':
      return 'rejected';
    case 'upheld':
    case 'fixed':
    case 'withdrawn':
      return last.kind;
  }
}

export function reviewOf(room: RoomState, participant: ParticipantId): Review | undefined {
  return room.round?.reviews.find((review) => review.by === participant);
}

/** The raiser's review of the latest round says the finding still stands (B10, B16). */
export function isStillBroken(room: RoomState, finding: Finding): boolean {
  return raisersReference(room, finding)?.stance === 'agree';
}

function raisersReference(room: RoomState, finding: Finding) {
  return reviewOf(room, finding.raisedBy)?.references.find((reference) => reference.finding === finding.id);
}

/**
 * B15: the author rejected it again after its raiser had upheld it (or agreed to it in a review), and neither
 * an accept nor the owner's final draft has ended that since.
 */
export function isDisputed(room: RoomState, finding: Finding): boolean {
  const since = disputedSince(room, finding);
  return since !== null && (finding.disputeEndedAt === null || finding.disputeEndedAt < since);
}

/** When the dispute began, ended by the owner or not; null where there is none. */
export function disputedSince(room: RoomState, finding: Finding): number | null {
  if (finding.severity === 'nit' || isSettled(finding)) return null;
  let upheldAt = firstAgreeOfRaiser(room, finding);
  let since: number | null = null;
  for (const answer of finding.answers) {
    if (answer.kind === 'upheld') upheldAt = Math.min(upheldAt, answer.at);
    if (answer.kind === 'accept') since = null;
    if (answer.kind === 'reject' && upheldAt <= answer.at) since = keptOrNew(since, answer.at, finding.disputeEndedAt);
  }
  return since;
}

/** Rejecting again changes nothing in a dispute that goes on; after the owner ended it, it begins a new one. */
function keptOrNew(since: number | null, at: number, endedAt: number | null): number {
  return since === null || (endedAt !== null && since <= endedAt && at > endedAt) ? at : since;
}

function firstAgreeOfRaiser(room: RoomState, finding: Finding): number {
  if (finding.agreedByRaiserAt !== null) return finding.agreedByRaiserAt;
  return isStillBroken(room, finding) ? (reviewOf(room, finding.raisedBy)?.at ?? Infinity) : Infinity;
}

/** Whether what is kept of its raiser's agree is of this round. What ends a round and the next opening may be of one moment. */
export function agreedIn(round: Round, { agreedByRaiserAt }: Finding): boolean {
  return agreedByRaiserAt !== null && agreedByRaiserAt > round.openedAt;
}

/** B10. */
export function needsFix(room: RoomState, finding: Finding): boolean {
  if (isSettled(finding) || finding.severity === 'nit') return false;
  if (isStillBroken(room, finding)) return true;
  const state = stateOf(room, finding);
  switch (state) {
    case 'upheld':
    case 'disputed':
      return true;
    case 'rejected':
    case 'fixed':
    case 'withdrawn':
      return false;
    case 'open':
      return someoneHolds(room, 'author') || finding.raisedOn === room.round?.headSha;
    case 'accepted':
      return someoneHolds(room, 'author') ? acceptedOn(finding) === room.round?.headSha : finding.raisedOn === room.round?.headSha;
  }
}

/** The commit an accepted finding was accepted on: accepting it again keeps the first (B10). */
function acceptedOn(finding: Finding): string | null {
  let commit: string | null = null;
  for (const answer of finding.answers) commit = answer.kind === 'accept' ? (commit ?? answer.commit) : null;
  return commit;
}

/**
 * A9, B16: accepted by the author; or, where nobody holds the author role to accept it, left open since an
 * earlier commit, which counts the same (B10).
 */
export function countsAsAccepted(room: RoomState, finding: Finding): boolean {
  const state = stateOf(room, finding);
  if (state !== 'open') return state === 'accepted';
  return !someoneHolds(room, 'author') && finding.raisedOn !== room.round?.headSha;
}

/** D7; null for a settled finding, of which the draft says nothing. */
export function standingOf(room: RoomState, finding: Finding): Standing | null {
  if (isSettled(finding)) return null;
  if (finding.severity === 'nit') return 'nit';
  // An owner who took the final draft ended the dispute's clocks, not the disagreement: the draft still names it.
  if (disputedSince(room, finding) !== null) return 'disputed';
  if (needsFix(room, finding)) return 'needs_fix';
  return stateOf(room, finding) === 'rejected' ? 'rejected' : 'not_verified';
}

export function standings(room: RoomState): StandingOf[] {
  return room.findings.flatMap((finding) => {
    const standing = standingOf(room, finding);
    return standing === null ? [] : [{ finding: finding.id, standing }];
  });
}

/** D7's words; B17: where nobody holds the author role nothing was accepted, so only "not verified". */
export function standingLabel(room: RoomState, standing: Standing): string {
  switch (standing) {
    case 'needs_fix':
      return 'needs a fix';
    case 'not_verified':
      return someoneHolds(room, 'author') ? 'accepted, not verified' : 'not verified';
    case 'disputed':
    case 'rejected':
    case 'nit':
      return standing;
  }
}

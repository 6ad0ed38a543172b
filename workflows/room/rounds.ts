import type { Finding, ParticipantId, RoomState, Round } from './state.js';
import { holders, participantOf } from './members.js';
import { isSettled } from './findings.js';

/** Derived facts of the latest round. */

export function openRound(room: RoomState): Round | null {
  return room.round && !room.round.closed ? room.round : null;
}

export function reviewerIds(room: RoomState): ParticipantId[] {
  return holders(room, 'reviewer').map((participant) => participant.id);
}

export function hasSubmitted(round: Round, id: ParticipantId): boolean {
  return round.reviews.some((review) => review.by === id);
}

export function hasDeclined(round: Round, id: ParticipantId): boolean {
  return round.declines.some((decline) => decline.by === id);
}

/** Current reviewers without a review and without a decline: whom the round waits for (B3, N1). */
export function awaited(room: RoomState, round: Round): ParticipantId[] {
  return reviewerIds(room).filter((id) => !hasSubmitted(round, id) && !hasDeclined(round, id));
}

/** Current reviewers without a review, declined ones too: whom the close note names (S7, N2). */
export function missing(room: RoomState, round: Round): ParticipantId[] {
  return reviewerIds(room).filter((id) => !hasSubmitted(round, id));
}

/** D8: the latest round's review is on the forge, and the round is done. */
export function isPosted({ round, draft }: RoomState): boolean {
  return round !== null && draft?.round === round.number && draft.posting.status === 'posted';
}

/** K1: what is carried when the next round opens. */
export function unsettled(room: RoomState): Finding[] {
  return room.findings.filter((finding) => !isSettled(finding));
}

export function isCarried(round: Round, finding: Finding): boolean {
  return round.carried.includes(finding.id);
}

/**
 * A9: an accepted finding whose raiser, an agent, cannot be expected to verify it: it has left or lost the
 * reviewer role, or did not review the latest round (which counts once that round is closed).
 */
export function raiserIsLost(room: RoomState, finding: Finding): boolean {
  const raiser = participantOf(room, finding.raisedBy);
  if (!raiser || raiser.kind === 'person') return false;
  if (!raiser.roles.includes('reviewer')) return true;
  return room.round?.closed != null && !hasSubmitted(room.round, raiser.id);
}

import type { Finding, ParticipantId, RoomState, Round } from './state.js';
import { agreedIn } from './findings.js';
import { holds } from './members.js';
import { hasSubmitted, openRound } from './rounds.js';

/**
 * V2 in one place: the room as a reader may see it. Everything shown to anyone (tool, REST, events, page) is
 * worked out from `seenBy(room, reader)`, so that nothing hidden can leak through a state, a chip or a count.
 */

/** A reviewer that has not submitted sees no other review while the round is open; everyone else sees all. */
export function mayReadReviews(room: RoomState, reader: ParticipantId): boolean {
  const round = openRound(room);
  return !round || !holds(room, reader, 'reviewer') || hasSubmitted(round, reader);
}

/** Whether answering this reader would show it another's review of the open round for the first time (V3, DESIGN 3). */
export function wouldReveal(room: RoomState, reader: ParticipantId): boolean {
  const round = openRound(room);
  if (!round || !mayReadReviews(room, reader) || round.seen.includes(reader)) return false;
  return round.reviews.some((review) => review.by !== reader);
}

/** The room without what is hidden from the reader; `null` is somebody who may see no review of an open round. */
export function seenBy(room: RoomState, reader: ParticipantId | null): RoomState {
  const round = openRound(room);
  if (!round) return room;
  const all = reader !== null && mayReadReviews(room, reader);
  const visible = (by: ParticipantId): boolean => all || by === reader;
  const seen: Round = { ...round, reviews: round.reviews.filter((review) => visible(review.by)) };
  const findings = room.findings
    .filter((finding) => finding.raisedIn !== round.number || visible(finding.raisedBy))
    .map((finding) => (!visible(finding.raisedBy) && agreedIn(round, finding) ? { ...finding, agreedByRaiserAt: null } : finding))
    .map((finding) =>
      answersAreHidden(room, finding) ? { ...finding, answers: finding.answers.filter((answer) => answer.by === reader) } : finding,
    );
  return { ...room, round: seen, findings };
}

/** A6: in panel, while the round is open, an answer to a finding raised in it shows only that there is one. */
export function answersAreHidden(room: RoomState, finding: Finding): boolean {
  return room.recipe === 'panel' && finding.raisedIn === openRound(room)?.number;
}

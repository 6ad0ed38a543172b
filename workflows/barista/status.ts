import { LIMITS, type ParticipantId, type RoomState } from '../room/state.js';
import type { Chip, Offer, Phase } from '../room/words.js';
import { holders, someoneHolds } from '../room/members.js';
import { answerersOf, disputes, fixes, pushMayHelp, pushableFixes, runningHolds } from './holds.js';
import { isAskedFor } from './drafting.js';
import type { Calls } from './idle.js';
import { awaitedNow, hasNoReview } from './open-round.js';

/** How a room stands, derived from its facts; for a reader, give it the room as the reader may see it (`seenBy`). */

export function phaseOf(room: RoomState, now: number): Phase {
  const { round } = room;
  if (room.ended || room.head.state !== 'open') return 'stopped';
  if (!round) return 'waiting_for_crew';
  if (!round.closed) return 'reviewing';
  if (room.draft?.round === round.number) return room.draft.posting.status === 'posted' ? 'posted' : 'drafted';
  if (nextRoundIsComing(room)) return 'waiting_for_push';
  if (!room.barista.enabled || isAskedFor(round)) return 'drafting';
  if (fixes(room).length > 0) return 'waiting_for_push';
  return runningHolds(room, now).length > 0 ? 'waiting_for_answers' : 'drafting';
}

/** Whether its clocks run in this room (B26, P5, R12). */
function baristaRuns(room: RoomState): boolean {
  return room.barista.enabled && room.head.state === 'open' && room.ended === null;
}

/** B12: Barista is going to open a round at a head that has moved; nobody is asked for anything meanwhile. */
export function nextRoundIsComing(room: RoomState): boolean {
  const { round } = room;
  if (!baristaRuns(room) || !round?.closed) return false;
  return room.head.sha !== round.headSha && round.number < LIMITS.rounds;
}

/** D6: an unposted draft is stale while the head is not its round's commit. */
function draftIsStale(room: RoomState): boolean {
  return room.draft !== null && room.draft.posting.status !== 'posted' && room.draft.headSha !== room.head.sha;
}

export function chipsOf(room: RoomState, calls: Calls, now: number): Chip[] {
  const { round } = room;
  const chips: Chip[] = [];
  if (disputes(room).length > 0) chips.push('dispute');
  if (fixesAreLate(room)) chips.push('fixes not pushed');
  if (draftIsStale(room)) chips.push('draft stale');
  if (round && baristaRuns(room) && hasNoReview(room, round, calls, now)) chips.push('no review');
  if (room.draft?.posting.status === 'draft' && room.draft.posting.failure !== null) chips.push('posting failed');
  if (room.head.state !== 'open') chips.push(room.head.state);
  return chips;
}

/** What a reader is shown, who sees `seen` of the room; that there is a review at all is no secret (V1), so `no review` is the room's own. */
export function chipsFor(room: RoomState, seen: RoomState, calls: Calls, now: number): Chip[] {
  const all = chipsOf(room, calls, now);
  return chipsOf(seen, calls, now).filter((chip) => chip !== 'no review' || all.includes(chip));
}

/** B22: from the day after the close until the next push. */
function fixesAreLate(room: RoomState): boolean {
  const { round } = room;
  return (
    round?.closed != null && round.drafting.fixesNotPushedAt !== null && room.head.sha === round.headSha && pushableFixes(room).length > 0
  );
}

/** B13, B15, B22: when the owner may have the round drafted as it is. */
export function offersOf(room: RoomState): Offer[] {
  const { round } = room;
  if (!baristaRuns(room) || !round?.closed || nextRoundIsComing(room)) return [];
  if (room.draft?.round === round.number || isAskedFor(round)) return [];
  const toFix = fixes(room);
  if (toFix.length === 0) return [];
  const offered =
    round.drafting.fixesNotPushedAt !== null || round.number >= LIMITS.rounds || !someoneHolds(room, 'author') || disputes(room).length > 0;
  return offered ? ['final_draft'] : [];
}

/** Whose turn it is, by id: what an operator filters rooms by. Empty where a clock or a push is all that is waited for. */
export function waitingOn(room: RoomState, now: number): ParticipantId[] {
  const { round } = room;
  switch (phaseOf(room, now)) {
    case 'waiting_for_crew':
      return room.barista.enabled ? [] : leadIds(room);
    case 'reviewing': {
      const awaited = round ? awaitedNow(room, round, now) : [];
      if (awaited.length > 0) return awaited;
      if (!room.barista.enabled) return leadIds(room);
      return round?.reviews.length === 0 ? [room.owner] : [];
    }
    case 'waiting_for_push':
      return nextRoundIsComing(room) ? [] : fixers(room);
    case 'waiting_for_answers':
      return [...new Set(runningHolds(room, now).flatMap((hold) => answerersOf(room, hold)))];
    case 'drafting':
      return leadIds(room);
    case 'drafted':
      return [room.owner];
    case 'posted':
    case 'stopped':
      return [];
  }
}

/** Whose turn it is while something needs a fix: the author's to push; the owner's once a push is not what is missing (B13, B15). */
function fixers(room: RoomState): ParticipantId[] {
  const mayHelp = pushMayHelp(room);
  const ownerDecides = disputes(room).length > 0 || !mayHelp;
  return [...(mayHelp ? holders(room, 'author').map((author) => author.id) : []), ...(ownerDecides ? [room.owner] : [])];
}

function leadIds(room: RoomState): ParticipantId[] {
  return holders(room, 'lead').map((lead) => lead.id);
}

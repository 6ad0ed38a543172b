import { LIMITS, type ParticipantId, type RoomState } from '../room/state.js';
import type { Chip, Offer, Phase } from '../room/words.js';
import { holders, someoneHolds } from '../room/members.js';
import { disputes, fixes, holdsOf } from './holds.js';
import { runningAsk } from './drafting.js';
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
  if (!room.barista.enabled || runningAsk(round) || round.drafting.finalAt !== null) return 'drafting';
  if (fixes(room).length > 0) return 'waiting_for_push';
  return holdsOf(room, round).some((hold) => hold.until > now) ? 'waiting_for_answers' : 'drafting';
}

/** B12: Barista is going to open a round at a head that has moved; nobody is asked for anything meanwhile. */
export function nextRoundIsComing(room: RoomState): boolean {
  const { round } = room;
  if (!room.barista.enabled || room.head.state !== 'open' || !round?.closed) return false;
  return room.head.sha !== round.headSha && round.number < LIMITS.rounds;
}

/** D6: an unposted draft is stale while the head is not its round's commit. */
export function draftIsStale(room: RoomState): boolean {
  return room.draft !== null && room.draft.posting.status !== 'posted' && room.draft.headSha !== room.head.sha;
}

export function chipsOf(room: RoomState, calls: Calls, now: number): Chip[] {
  const { round } = room;
  const chips: Chip[] = [];
  if (disputes(room).length > 0) chips.push('dispute');
  if (fixesAreLate(room)) chips.push('fixes not pushed');
  if (draftIsStale(room)) chips.push('draft stale');
  if (round && room.barista.enabled && hasNoReview(room, round, calls, now)) chips.push('no review');
  if (room.draft?.posting.status === 'draft' && room.draft.posting.failure !== null) chips.push('posting failed');
  if (room.head.state !== 'open') chips.push(room.head.state);
  return chips;
}

/** B22: from the day after the close until the next push. */
function fixesAreLate(room: RoomState): boolean {
  const { round } = room;
  return round?.closed != null && round.drafting.fixesNotPushedAt !== null && room.head.sha === round.headSha && fixes(room).length > 0;
}

/** B13, B15, B22: when the owner may have the round drafted as it is. */
export function offersOf(room: RoomState): Offer[] {
  const { round } = room;
  if (!room.barista.enabled || room.head.state !== 'open' || !round?.closed || nextRoundIsComing(room)) return [];
  if (room.draft?.round === round.number || runningAsk(round) || round.drafting.finalAt !== null) return [];
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
      return room.barista.enabled ? [room.owner] : leadIds(room);
    }
    case 'waiting_for_push':
      return nextRoundIsComing(room) ? [] : holders(room, 'author').map((author) => author.id);
    case 'waiting_for_answers':
      return [...new Set(holdsOf(room, round!).flatMap((hold) => (hold.until > now ? [hold.finding.raisedBy] : [])))];
    case 'drafting':
      return leadIds(room);
    case 'drafted':
      return [room.owner];
    case 'posted':
    case 'stopped':
      return [];
  }
}

function leadIds(room: RoomState): ParticipantId[] {
  return holders(room, 'lead').map((lead) => lead.id);
}

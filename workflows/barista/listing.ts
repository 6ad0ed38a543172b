import type { ParticipantId, RoomState } from '../room/state.js';
import { seenBy } from '../room/visibility.js';
import type { Chip, Phase } from '../room/words.js';
import { runningHolds } from './holds.js';
import type { Calls } from './idle.js';
import { changesOfOpenRound } from './open-round.js';
import { chipsFor, phaseOf, waitingOn } from './status.js';

/** How lists show a room at a moment. */
export interface Listing {
  readonly phase: Phase;
  readonly chips: readonly Chip[];
  readonly waitingOn: readonly ParticipantId[];
}

/**
 * The same for every reader, so phase and chips are worked out from what nobody must be kept from (V2); who has
 * submitted is no secret (V1). `now` in epoch milliseconds.
 */
export function listingOf(room: RoomState, calls: Calls, now: number): Listing {
  const seen = seenBy(room, null);
  return { phase: phaseOf(seen, now), chips: chipsFor(room, seen, calls, now), waitingOn: waitingOn(room, now) };
}

/**
 * The first moment after `at` from which {@link listingOf} may say otherwise although nothing has happened in the room,
 * whatever review calls still come (they only put it off); null: it needs an event.
 */
export function listedUntil(room: RoomState, calls: Calls, at: number): number | null {
  const moments = changes(room, calls, at).filter((moment) => moment > at);
  return moments.length === 0 ? null : Math.min(...moments);
}

function changes(room: RoomState, calls: Calls, at: number): number[] {
  switch (phaseOf(room, at)) {
    case 'reviewing':
      return room.round ? changesOfOpenRound(room, room.round, calls, at) : [];
    case 'waiting_for_answers':
      return runningHolds(room, at).map((hold) => hold.until);
    default:
      return [];
  }
}

import { callsOf } from '../workflows/barista/idle.js';
import { chipsOf, phaseOf, waitingOn } from '../workflows/barista/status.js';
import type { RoomState } from '../workflows/room/state.js';
import { seenBy } from '../workflows/room/visibility.js';
import type { ReviewSpan } from './spans.js';

/**
 * What lists show of a room, as its last event left it (epoch milliseconds). The same for every reader, so phase and
 * chips are worked out from what nobody must be kept from (V2); who has submitted is no secret (V1).
 */
export function listingOf(state: RoomState, spans: readonly ReviewSpan[], at: number) {
  const seen = seenBy(state, null);
  return {
    recipe: state.recipe,
    round: state.round?.number ?? 0,
    phase: phaseOf(seen, at),
    chips: chipsOf(seen, callsOf(spans), at),
    waitingOn: waitingOn(state, at),
  };
}

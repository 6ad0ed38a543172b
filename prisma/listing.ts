import { chipsOf, phaseOf, waitingOn } from '../workflows/barista/status.js';
import type { ParticipantId, RoomState } from '../workflows/room/state.js';
import { seenBy } from '../workflows/room/visibility.js';
import type { ReviewSpan } from './spans.js';

/**
 * What lists show of a room, as its last event left it (epoch milliseconds). The same for every reader, so phase and
 * chips are worked out from what nobody must be kept from (V2); who has submitted is no secret (V1).
 */
export function listingOf(state: RoomState, spans: readonly ReviewSpan[], at: number) {
  const seen = seenBy(state, null);
  const calls: Record<ParticipantId, ReviewSpan[]> = {};
  for (const span of spans) (calls[span.participant] ??= []).push(span);
  return {
    recipe: state.recipe,
    round: state.round?.number ?? 0,
    phase: phaseOf(seen, at),
    chips: chipsOf(seen, calls, at),
    waitingOn: waitingOn(state, at),
  };
}

import { nothingForYou } from '../../workflows/room/turn.js';
import type { ParticipantId, RoomState } from '../../workflows/room/state.js';

/** V7, R12: why a listener may stop; null while there may be something for it. */
export function doneReason(room: RoomState, participant: ParticipantId, now: number): string | null {
  if (room.ended !== null) return `The room has ended: ${room.ended.reason}.`;
  return nothingForYou(room, participant, now)
    ? `Round ${room.round?.number ?? 0} is drafted and nothing is left for you to answer.`
    : null;
}

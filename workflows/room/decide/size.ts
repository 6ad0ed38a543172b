import type { Command } from '../commands.js';
import type { RoomState } from '../state.js';
import { apply } from '../apply.js';
import { type Done, type Refused, refuse } from './checks.js';

/**
 * A room as large as this, in bytes of JSON, takes nothing more that makes it larger: its state is one payload of
 * its workflow, and Temporal takes none over 2 MB. The limits of S3 and S6 alone stay under 1 MB, but a path may
 * be long, and nobody counts answers.
 */
export const MAX_ROOM_BYTES = 1_500_000;

/** Refuses what would make the room too large to be kept; whatever settles, closes or opens goes on. */
export function roomIsFull(room: RoomState, command: Command, decision: Done, now: number): Refused | null {
  if (!makesLarger(command)) return null;
  const after = decision.events.reduce((state, fact) => apply(state, { ...fact, at: now }), room);
  if (bytesOf(after) <= MAX_ROOM_BYTES) return null;
  return refuse('invalid', `Room ${room.slug} is full: with this it would be larger than ${MAX_ROOM_BYTES} bytes.`, {
    hint: 'Mark findings fixed or withdrawn; they leave when the next round opens.',
  });
}

function makesLarger(command: Command): boolean {
  switch (command.type) {
    case 'submitReview':
    case 'answerFinding':
    case 'saveDraft':
    case 'editDraft':
      return true;
    case 'resolveFinding':
      return command.resolution === 'upheld';
    default:
      return false;
  }
}

/** An upper bound: a character beyond ASCII is at most three bytes for each of its code units. */
function bytesOf(room: RoomState): number {
  const json = JSON.stringify(room);
  let bytes = json.length;
  for (let index = 0; index < json.length; index++) if (json.charCodeAt(index) > 0x7f) bytes += 2;
  return bytes;
}

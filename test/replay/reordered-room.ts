import { sleep } from '@temporalio/workflow';
import { reviewRoom as room } from '../../workflows/review-room.js';
import type { RoomInput } from '../../workflows/messages.js';

/** A room that waits before it begins: a step that no history in flight has. */
export async function reviewRoom(input: RoomInput): Promise<void> {
  await sleep('1s');
  await room(input);
}

import { patched, sleep } from '@temporalio/workflow';
import { reviewRoom as room } from '../../workflows/review-room.js';
import type { RoomInput } from '../../workflows/messages.js';

/** The change of `reordered-room.ts` as it may be deployed: rooms in flight go on without it. */
export async function reviewRoom(input: RoomInput): Promise<void> {
  if (patched('wait-before-beginning')) await sleep('1s');
  await room(input);
}

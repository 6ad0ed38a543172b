import { isPresent } from '../../workflows/room/members.js';
import { openRound } from '../../workflows/room/rounds.js';
import type { Call } from '../deps.js';

/**
 * B4: which calls say that somebody works on the review. `after_reading`: looking at the round counts once there was a
 * call that reads (`reading`) in that round, refused or not; polling alone is no work.
 */
export type CountsAsWork = 'always' | 'reading' | 'after_reading';

/** Records a review call before it is served, refused ones too, for whoever is in the room while a round is open. */
export async function recordReviewCall({ deps, caller }: Call, slug: string, counts: CountsAsWork): Promise<void> {
  const room = await deps.store.rooms.state(slug);
  const round = room && openRound(room);
  if (!round || !isPresent(room, caller.id)) return;
  if (counts === 'after_reading' && !(await deps.store.shown.hasAsked(slug, round.number, caller.id))) return;
  if (counts === 'reading') await deps.store.shown.asked(slug, round.number, caller.id);
  await deps.store.spans.recordCall(slug, round.number, caller.id, deps.now(), room.durations.workingWindow);
}

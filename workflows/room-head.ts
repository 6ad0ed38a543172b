import type { ForgeSilence } from './messages.js';
import type { LiveRoom } from './live-room.js';
import type { HeadSeen, RoomFact } from './room/events.js';
import { headFacts, isOvertaken } from './room/decide/rounds.js';
import { openRound } from './room/rounds.js';

/** B29: noted once, until the pull request can be read again. */
export function learnSilence(room: LiveRoom, { brokenSince, trouble }: ForgeSilence, now: number): void {
  const { ended, head } = room.state;
  if (ended === null && head.brokenSince === null) room.commitOwn([{ type: 'ForgeBroken', since: brokenSince, trouble }], now);
}

/**
 * P1, P4: what was seen of the pull request, however often it is told; what the room knows changes nothing, nor does
 * what was read before the room learnt of something else, save that the watch looks again.
 * @returns false for the latter: nothing may be decided on it
 */
export function learnHead(room: LiveRoom, seen: HeadSeen, now: number): boolean {
  if (isOvertaken(room.state, seen)) {
    room.doubtHead();
    return false;
  }
  const round = openRound(room.state);
  // Another merge base under a head that is known, as after a merge, is no new head.
  const isNews = seen.sha !== room.state.head.sha && seen.sha !== round?.headSha;
  const move = round && isNews ? (seen.move ?? { commits: null, rewritten: false }) : null;
  const isMended = room.state.ended === null && room.state.head.brokenSince !== null;
  const mended: RoomFact[] = isMended ? [{ type: 'ForgeMended' }] : [];
  room.commitOwn([...mended, ...headFacts(room.state, seen, move)], now);
  return true;
}

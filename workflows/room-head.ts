import type { ForgeSilence } from './messages.js';
import type { LiveRoom } from './live-room.js';
import type { HeadSeen, RoomFact } from './room/events.js';
import { headFacts } from './room/decide/rounds.js';
import { openRound } from './room/rounds.js';

/** B29: noted once, until the pull request can be read again. */
export function learnSilence(room: LiveRoom, { brokenSince, trouble }: ForgeSilence, now: number): void {
  const { ended, head } = room.state;
  if (ended === null && head.brokenSince === null) room.commitOwn([{ type: 'ForgeBroken', since: brokenSince, trouble }], now);
}

/**
 * P1, P4: what was seen of the pull request, however often it is told; a head the room knows changes nothing, nor
 * does one that was read before the room learnt of another: which of the two is newer only another look can tell.
 */
export function learnHead(room: LiveRoom, seen: HeadSeen, now: number): void {
  if (isOvertaken(room, seen)) return;
  const round = openRound(room.state);
  const move = round && seen.sha !== round.headSha ? (seen.move ?? { commits: null, rewritten: false }) : null;
  const isMended = room.state.ended === null && room.state.head.brokenSince !== null;
  const mended: RoomFact[] = isMended ? [{ type: 'ForgeMended' }] : [];
  room.commitOwn([...mended, ...headFacts(room.state, seen, move)], now);
}

export function isOvertaken({ state }: LiveRoom, { sha, knownSeq }: HeadSeen): boolean {
  return knownSeq !== undefined && knownSeq !== state.head.seq && sha !== state.head.sha;
}

import type { HeadSeen } from './messages.js';
import type { LiveRoom } from './live-room.js';
import { headFacts } from './room/decide/rounds.js';
import { openRound } from './room/rounds.js';

/** P1, P4: what was seen of the pull request, however often it is told; a head the room knows changes nothing. */
export function learnHead(room: LiveRoom, seen: HeadSeen, now: number): void {
  const round = openRound(room.state);
  const move = round && seen.sha !== round.headSha ? (seen.move ?? { commits: null, rewritten: false }) : null;
  room.commitOwn(headFacts(room.state, seen, move), now);
}

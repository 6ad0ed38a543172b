import { DateTime } from 'luxon';
import type { Step } from './barista/step.js';
import { chipsOf, phaseOf, waitingOn } from './barista/status.js';
import type { Calls } from './barista/idle.js';
import { namesOf } from './room/members.js';
import type { RoomState } from './room/state.js';

/** "Why is this room waiting, for whom, until when": what an operator reads in the Temporal UI, in Markdown. */
export function detailsOf(room: RoomState, step: Step, calls: Calls, now: number): string {
  const { round } = room;
  const on = waitingOn(room, now);
  const chips = chipsOf(room, calls, now);
  const lines = [
    `**${phaseOf(room, now).replaceAll('_', ' ')}** · ${room.pullRequest.url}`,
    `- ${step.why}`,
    on.length > 0 ? `- waits on ${namesOf(room, on)}` : null,
    round ? `- round ${round.number}, ${round.closed ? 'closed' : 'open'}, at \`${round.headSha.slice(0, 7)}\`` : '- no round yet',
    room.head.brokenSince !== null ? `- the pull request cannot be read since ${atUtc(room.head.brokenSince)}` : null,
    chips.length > 0 ? `- ${chips.join(', ')}` : null,
    ...(step.kind === 'wait' ? step.clocks.map((clock) => `- ${atUtc(clock.at)}: ${clock.what} (\`${clock.name}\`)`) : []),
  ];
  return lines.filter((line) => line !== null).join('\n');
}

function atUtc(at: number): string {
  return DateTime.fromMillis(at, { zone: 'utc' }).toFormat("yyyy-MM-dd HH:mm:ss 'UTC'");
}

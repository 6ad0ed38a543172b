import { nextStep } from '../../workflows/barista/policy.js';
import type { Step } from '../../workflows/barista/step.js';
import { type ClockedRoom, aClockedRoom } from '../support/clocked-room.js';
import { MINUTE, NOON, type RoomInput } from '../support/room.js';

/** One second, in the minutes that ages are told in. */
export const SECOND = 1 / 60;
export const DAY = 24 * 60;

/** Round 1 is open since minute 2: ana leads and reviews, bo reviews, and in a duel cy is the author. */
export function opened(input: RoomInput & { author?: boolean; bo?: boolean } = {}): ClockedRoom {
  const { author = false, bo = true, ...room } = input;
  const clocked = aClockedRoom(room).join('ana', ...(bo ? ['bo'] : []), ...(author ? ['cy'] : []));
  if (author) clocked.roles({ cy: ['author'] });
  return clocked.pass(2);
}

/** Round 1 is closed since minute 3; ana has raised f1 and bo nothing. */
export function closed(input: RoomInput & { author?: boolean; severity?: 'major' | 'nit'; findings?: number } = {}): ClockedRoom {
  const { severity = 'major', findings = 1, ...room } = input;
  return opened(room)
    .pass(1)
    .submit('ana', { findings: Array.from({ length: findings }, () => ({ severity })) })
    .submit('bo')
    .pass(0);
}

export function stepAt(room: ClockedRoom, age: number): Step {
  return nextStep(room.state, room.calls, Math.round(NOON + age * MINUTE));
}

/** What Barista does at this age if nothing happens before: the action, or the clocks that run, with their ages. */
export function at(room: ClockedRoom, age: number): string {
  const step = stepAt(room, age);
  if (step.kind === 'act') return step.action.do;
  return step.clocks.length === 0
    ? 'wait'
    : `wait: ${step.clocks.map((clock) => `${clock.name} ${(clock.at - NOON) / MINUTE}`).join(', ')}`;
}

/** One second before an age, at it, and one second after. */
export function around(room: ClockedRoom, age: number): string[] {
  return [at(room, age - SECOND), at(room, age), at(room, age + SECOND)];
}

/** Barista's notes as `age text`, the first line of each. */
export function notes(room: ClockedRoom, pattern = /^barista: /): string[] {
  return room.said
    .filter((note) => pattern.test(note.text))
    .map((note) => `${note.at} ${note.text.replace('barista: ', '').split('\n')[0]!}`);
}

/** A push, and the round that Barista opens there. */
export function nextCommit(room: ClockedRoom): ClockedRoom {
  return room.push(`b${room.state.round!.number}`).pass(2);
}

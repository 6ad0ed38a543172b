import type { Clock } from '../messages.js';
import type { ParticipantId, RoomState, Round } from '../room/state.js';
import { namesOf, participantOf } from '../room/members.js';
import { hasSubmitted, reviewerIds } from '../room/rounds.js';
import { type Calls, idleReaches } from './idle.js';
import { type Step, act, wait } from './step.js';

/** The clocks of an open round: B3 to B9. */
export function stepOfOpenRound(room: RoomState, round: Round, calls: Calls, now: number): Step {
  const waitsFor = awaitedNow(room, round, now);
  const has = round.reviews.length > 0;
  if (has && waitsFor.length === 0)
    return act({ do: 'closeRound', reason: 'all_submitted' }, 'B3: every reviewer that has not declined has submitted');

  const idleAt = idleEndsAt(room, round, calls, waitsFor);
  const capAt = capEndsAt(room, round);
  if (has && idleAt !== null && idleAt <= now)
    return act({ do: 'closeRound', reason: 'idle' }, 'B6: whoever is missing has been idle long enough');
  if (has && capAt <= now) return act({ do: 'closeRound', reason: 'cap' }, 'B7: the round has been open long enough');
  if (!has && round.noReviewNotedAt === null && (waitsFor.length === 0 || capAt <= now)) {
    return act({ do: 'noteNoReview' }, 'B8: no review, and nobody left to wait for');
  }

  const reminders = waitsFor
    .filter((id) => !round.reminded.includes(id))
    .map((id) => ({ id, at: idleOf(room, round, calls, id, room.durations.remindAfter) }));
  const due = reminders.filter((reminder) => reminder.at <= now).map((reminder) => reminder.id);
  if (due.length > 0) return act({ do: 'remindReviewers', reviewers: due }, 'B9: idle for a while');

  // The room hears of a missing review when nobody is left (B8); its owner as soon as idle time has run out (B29).
  const isTold = round.noReviewNotedAt !== null || round.idleRanOutAt !== null;
  if (!has && !isTold && idleAt !== null && idleAt <= now) return act({ do: 'noteIdleRanOut' }, 'B29: past B6, and no review');

  const clocks: Clock[] = reminders.map(({ id, at }) => ({ name: 'remind_after', what: `remind ${namesOf(room, [id])}`, at }));
  if (idleAt !== null && idleAt > now) clocks.push({ name: 'idle_close', what: has ? 'close on idle' : 'idle time runs out', at: idleAt });
  if (capAt > now) clocks.push({ name: 'round_cap', what: has ? 'close at the cap' : 'the cap', at: capAt });
  clocks.push(...declineClocks(room, round, now));
  return looksLate(wait(clocks, waitsFor.length > 0 ? `waiting for ${namesOf(room, waitsFor)} to submit` : 'waiting for a reviewer'));
}

/** S7: when each decline that names an end is over, and its reviewer waited for. */
export function declineClocks(room: RoomState, round: Round, now: number): Clock[] {
  return round.declines.flatMap(({ by, until }) =>
    until !== null && until > now ? [{ name: 'decline_until', what: `${namesOf(room, [by])} may be able to review`, at: until }] : [],
  );
}

/** A call made just before a clock runs out may still be on its way to the database; idle time is counted to the moment all the same. */
const READ_LAG = 1_000;

function looksLate(step: Step): Step {
  return step.kind === 'wait' && step.until !== null ? { ...step, until: step.until + READ_LAG } : step;
}

/** Reviewers the round waits for at this moment; a decline is over once its `until` has passed (B8, S7). */
export function awaitedNow(room: RoomState, round: Round, now: number): ParticipantId[] {
  return reviewerIds(room).filter((id) => {
    if (hasSubmitted(round, id)) return false;
    const decline = round.declines.find((other) => other.by === id);
    return !decline || (decline.until !== null && decline.until <= now);
  });
}

/** B8: past B6 or B7, or nobody left to wait for, and no review: the chip `no review`. */
export function hasNoReview(room: RoomState, round: Round, calls: Calls, now: number): boolean {
  if (round.closed !== null || round.reviews.length > 0) return false;
  const idleAt = idleEndsAt(room, round, calls, awaitedNow(room, round, now));
  return idleAt === null || idleAt <= now || capEndsAt(room, round) <= now;
}

/** When time alone may change whom an open round waits for, or bring the chip `no review`; some of it may be over at `now`. */
export function changesOfOpenRound(room: RoomState, round: Round, calls: Calls, now: number): number[] {
  const declines = round.declines.flatMap(({ until }) => until ?? []);
  if (!room.barista.enabled || round.reviews.length > 0) return declines;
  const idleAt = idleEndsAt(room, round, calls, awaitedNow(room, round, now));
  // A call of the last moment is told a little later, and takes the chip back.
  const idle = idleAt === null ? [] : [idleAt, idleAt + READ_LAG];
  return [...declines, ...idle, capEndsAt(room, round)];
}

/** What idle time and the cap count from at the earliest: Barista turned on, or the pull request reopened (B26, P5). */
function clocksSince(room: RoomState): number {
  return Math.max(room.barista.since, room.head.stateSince);
}

function capEndsAt(room: RoomState, round: Round): number {
  return Math.max(round.openedAt, clocksSince(room)) + room.durations.roundCap;
}

/** B6: when the last of those awaited has been idle long enough, if none of them calls again. */
function idleEndsAt(room: RoomState, round: Round, calls: Calls, waitsFor: readonly ParticipantId[]): number | null {
  if (waitsFor.length === 0) return null;
  return Math.max(...waitsFor.map((id) => idleOf(room, round, calls, id, room.durations.idleClose)));
}

/** B5: when this reviewer's idle time of the round adds up to `target`. */
function idleOf(room: RoomState, round: Round, calls: Calls, id: ParticipantId, target: number): number {
  const since = participantOf(room, id)?.reviewerSince ?? round.openedAt;
  const until = round.declines.find((decline) => decline.by === id)?.until ?? 0;
  const base = Math.max(round.openedAt, since, until, clocksSince(room));
  return idleReaches(calls[id] ?? [], base, room.durations.workingWindow, target);
}

import { LIMITS, type RoomState, type Round } from '../room/state.js';
import { openRound, reviewerIds } from '../room/rounds.js';
import { clockOf, fixes, pushMayHelp, pushableFixes, runningHolds } from './holds.js';
import { isAskedFor, stepOfDrafting } from './drafting.js';
import type { Calls } from './idle.js';
import { declineClocks, stepOfOpenRound } from './open-round.js';
import { type Step, act, wait } from './step.js';

/**
 * What Barista does in this room at this moment (epoch milliseconds), given the review calls of the open
 * round: one action with its reason, or the next moment to look again with every clock named. Pure and total.
 */
export function nextStep(room: RoomState, calls: Calls, now: number): Step {
  if (room.ended) return wait([], 'the room has ended');
  if (room.head.state !== 'open') return endOfRoom(room, room.head.state, now);
  if (!room.barista.enabled) return withoutBarista(room, now);
  const { round } = room;
  if (!round) return firstRound(room, now);
  return openRound(room) ? stepOfOpenRound(room, round, calls, now) : stepOfClosedRound(room, round, now);
}

/** B26: no clock of Barista's runs; whom an open round waits for changes all the same once a decline is over (S7). */
function withoutBarista(room: RoomState, now: number): Step {
  const round = openRound(room);
  return wait(round ? declineClocks(room, round, now) : [], 'Barista is off in this room');
}

/** P5, R12: the clocks stand still; some days later the room ends by itself. */
function endOfRoom(room: RoomState, state: 'merged' | 'closed', now: number): Step {
  const at = room.head.stateSince + LIMITS.endAfter;
  if (at <= now) {
    // How the posting ends wakes the room.
    if (room.draft?.posting.status === 'posting') return wait([], 'the review is being posted');
    return act({ do: 'endRoom', reason: state }, `R12: the pull request has been ${state} for 7 days`);
  }
  return wait([{ name: 'room_end', what: 'the room ends', at }], `the pull request is ${state}`);
}

/** B2. */
function firstRound(room: RoomState, now: number): Step {
  if (reviewerIds(room).length === 0) return wait([], 'waiting for a reviewer to join');
  const at = room.head.since + room.durations.headQuiet;
  if (at <= now) return act({ do: 'openRound' }, 'B2: somebody holds the reviewer role and the head is quiet');
  return wait([{ name: 'head_quiet', what: 'open round 1', at }], 'waiting for the head to be quiet');
}

function stepOfClosedRound(room: RoomState, round: Round, now: number): Step {
  const moved = room.head.sha !== round.headSha;
  if (moved && round.number < LIMITS.rounds) return openNext(room, round, now);
  if (round.number === LIMITS.rounds && round.drafting.limitNotedAt === null) {
    return act({ do: 'noteRoundLimit' }, `B13: round ${LIMITS.rounds} was the last one Barista opens`);
  }
  const draft = room.draft?.round === round.number ? room.draft : null;
  if (draft) {
    if (moved && draft.posting.status === 'draft' && round.drafting.staleNotedAt === null)
      return act({ do: 'noteDraftStale' }, 'B24: the head moved after the last round');
    return wait(
      [],
      draft.posting.status === 'posted' ? 'the review is posted; the next push opens a round' : 'waiting for the owner to post the draft',
    );
  }
  // Answers that came after the ask do not take it back (B18); nor does anything hold the owner's final draft (B23).
  if (isAskedFor(round)) return stepOfDrafting(room, round, now);
  return fixes(room).length > 0 ? waitForPush(room, round, moved, now) : waitForAnswers(room, round, now);
}

/** B12. */
function openNext(room: RoomState, round: Round, now: number): Step {
  const at = room.head.since + room.durations.headQuiet;
  if (at <= now) return act({ do: 'openRound' }, 'B12: the head has moved and is quiet');
  return wait([{ name: 'head_quiet', what: `open round ${round.number + 1}`, at }], 'waiting for the head to be quiet');
}

/** B11, B22. From round 5 on what is left is the owner's to decide, for a push opens nothing (B13); whether one comes is still said. */
function waitForPush(room: RoomState, round: Round, moved: boolean, now: number): Step {
  const expected = !moved && pushableFixes(room).length > 0;
  const why = pushMayHelp(room) ? 'waiting for a push with the fixes' : 'waiting for the owner to decide';
  if (!expected || round.drafting.fixesNotPushedAt !== null || !round.closed) return wait([], why);
  const at = round.closed.at + room.durations.fixesNotPushed;
  if (at <= now) return act({ do: 'noteFixesNotPushed' }, 'B22: no push came');
  return wait([{ name: 'fixes_not_pushed', what: 'say that the fixes were not pushed', at }], why);
}

/** B14, B16, B17, then B18. */
function waitForAnswers(room: RoomState, round: Round, now: number): Step {
  const running = runningHolds(room, now);
  if (running.length === 0) return stepOfDrafting(room, round, now);
  // The draft waits for the last of them; at each one before, somebody less is waited for.
  return wait(
    running.map((hold) => clockOf(room, hold)),
    'waiting for answers to findings',
  );
}

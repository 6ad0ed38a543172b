import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  CLOCKS_QUERY,
  COMMAND_NAMES,
  type Clock,
  FLUSH_SIGNAL,
  type ForgeSilence,
  HEAD_SIGNAL,
  REFUSED,
  ROOM_QUERY,
  SILENCE_SIGNAL,
  type RoomInput,
  type UpdateInput,
  type UpdateOutput,
} from './messages.js';
import type { HeadSeen } from './room/events.js';
import { drive, type Driver } from './room-loop.js';
import { Reads } from './room-reads.js';
import { postDrafts, projectEvents, watchHead } from './room-beside.js';
import { LiveRoom } from './live-room.js';
import { nextStep } from './barista/policy.js';
import { decide } from './room/decide/index.js';
import type { Refused } from './room/decide/index.js';
import { learnHead, learnSilence } from './room-head.js';

/**
 * One review room: the only writer of its pull request's rounds. Commands come as Updates, pushes as signals;
 * what they become is decided by pure functions, and this file only connects them to Temporal.
 */
export async function reviewRoom(input: RoomInput): Promise<void> {
  const room = LiveRoom.from(input, Date.now());
  const driver: Driver = { room, reads: new Reads() };

  for (const name of COMMAND_NAMES) {
    setHandler(defineUpdate<UpdateOutput, [UpdateInput]>(name), (update) => perform(room, update), {
      validator: (update) => validate(room, update),
    });
  }
  setHandler(defineSignal<[HeadSeen]>(HEAD_SIGNAL), (seen) => void learnHead(room, seen, Date.now()));
  setHandler(defineSignal<[ForgeSilence]>(SILENCE_SIGNAL), (silence) => learnSilence(room, silence, Date.now()));
  setHandler(defineSignal(FLUSH_SIGNAL), () => void (room.mustProject = !room.isProjected));
  setHandler(defineQuery(ROOM_QUERY), () => room.state);
  setHandler(defineQuery(CLOCKS_QUERY), () => clocks(driver));

  // What runs beside the loop ends with it; a fault in any of them is the room's.
  const beside = { posting: false };
  await Promise.race([drive(driver, () => mayContinue(beside)), projectEvents(room), watchHead(room), postDrafts(room, beside)]);

  await condition(allHandlersFinished);
  if (room.state.ended) return;
  await continueAsNew<typeof reviewRoom>(room.resume());
}

/** DESIGN 11: when replaying the history after a restart would start to cost a second. */
const LONG_HISTORY = 1_000;

/** A new run would post beside an attempt that is still under way, so the room waits for it (D5). */
function mayContinue(beside: { readonly posting: boolean }): boolean {
  return !beside.posting && (workflowInfo().historyLength >= LONG_HISTORY || workflowInfo().continueAsNewSuggested);
}

/** Refuses without a trace in history; reads the state and changes nothing. */
function validate(room: LiveRoom, { command }: UpdateInput): void {
  const decision = failingOnly(() => decide(room.state, command, Date.now()));
  if (decision.kind === 'refused') throw refused(decision);
}

function perform(room: LiveRoom, { command, projectedSeq }: UpdateInput): UpdateOutput {
  return failingOnly(() => {
    room.acknowledge(projectedSeq);
    const decision = decide(room.state, command, Date.now());
    if (decision.kind === 'refused') throw refused(decision);
    const events = room.commit(decision.events, Date.now());
    return { result: decision.result, seq: room.state.seq, events };
  });
}

function refused({ refusal }: Refused): ApplicationFailure {
  return ApplicationFailure.nonRetryable(refusal.message, REFUSED, refusal);
}

/** Any other error in a handler would jam the room for everybody; so it fails its caller alone. */
function failingOnly<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    throw ApplicationFailure.nonRetryable(`a fault in the room: ${String(error)}`, 'fault');
  }
}

function clocks({ room, reads }: Driver): Clock[] {
  const step = nextStep(room.state, reads.callsOf(room.state), Date.now());
  return step.kind === 'wait' ? [...step.clocks] : [];
}

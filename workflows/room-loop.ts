import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { HeadSeen } from './room/events.js';
import type { LiveRoom } from './live-room.js';
import { detailsOf } from './room-details.js';
import { learnHead } from './room-head.js';
import { publishAttributes } from './room-attributes.js';
import { draftFromReviews, type Reads } from './room-reads.js';
import { factsOf } from './barista/perform.js';
import { nextStep } from './barista/policy.js';
import { type Action, type Step, nextClock, restsOn } from './barista/step.js';
import { openRound } from './room/rounds.js';

/** A running room, and what it has read of the world. */
export interface Driver {
  readonly room: LiveRoom;
  readonly reads: Reads;
}

/** How long to wait before asking again for what could not be read, in milliseconds. */
const READ_AGAIN = 15_000;
/** The same for a head that the watcher tells of sooner, or that nobody waits for. */
const READ_AGAIN_LATER = 15 * 60_000;
/** A quiet second before a new run begins: a caller in that very moment would have to ask again. */
const QUIET = 1_000;

/** Performs what Barista decides and sleeps in between, until the room has ended or its history has grown long. */
export async function drive(driver: Driver, mayContinue: () => boolean): Promise<void> {
  const { room } = driver;
  await lookAtCalls(driver);
  for (;;) {
    const now = Date.now();
    const step = nextOf(driver);
    // An action changes them again in a moment, and each change of theirs is an event of history.
    if (step.kind === 'wait') show(driver, step);
    if (room.state.ended) return allProjected(room);
    // Also before an action: one that cannot be carried out for days must not fill the history.
    const isLong = mayContinue();
    if (isLong && (await isQuiet(room))) return;
    if (step.kind === 'act') await take(driver, step.action);
    else if (!isLong && (await sleepUntil(room, step, now))) await lookAtCalls(driver);
  }
}

function nextOf({ room, reads }: Driver): Step {
  return nextStep(room.state, reads.callsOf(room.state), Date.now());
}

/** What operators read and search by. */
function show({ room, reads }: Driver, step: Step): void {
  const calls = reads.callsOf(room.state);
  const now = Date.now();
  setCurrentDetails(detailsOf(room.state, step, calls, now));
  publishAttributes(room.state, step, calls, now);
}

/** Without a review nothing is done when idle time runs out, yet whether it has must be true (B8, chip `no review`). */
async function lookAtCalls({ room, reads }: Driver): Promise<void> {
  if (openRound(room.state)?.reviews.length === 0) await reads.readCalls(room.state);
}

/** Nobody reads the outbox of a room that has ended, so its last events are brought home first (R12). */
function allProjected(room: LiveRoom): Promise<void> {
  room.mustProject = !room.isProjected;
  return condition(() => room.isProjected);
}

async function isQuiet(room: LiveRoom): Promise<boolean> {
  const { version } = room;
  return !(await condition(() => room.version !== version, QUIET, { summary: 'wait for a quiet second to continue as new' }));
}

/** True where a clock has run out, false where something happened before. */
async function sleepUntil(room: LiveRoom, step: Step & { kind: 'wait' }, now: number): Promise<boolean> {
  const { version } = room;
  const changed = (): boolean => room.version !== version;
  if (step.until === null) return condition(changed).then(() => false);
  return !(await condition(changed, Math.max(step.until - now, 1), { summary: `${step.why}; next: ${nextClock(step)?.what}` }));
}

/** Reads anew what the action rests on and performs it if it is still what Barista would do (B27, P4). */
async function take(driver: Driver, action: Action): Promise<void> {
  const { room, reads } = driver;
  const needs = restsOn(action);
  let head: HeadSeen | null = null;
  if (needs.calls) {
    if (!(await reads.readCalls(room.state))) return pause(driver, READ_AGAIN);
    if (!isStillNext(driver, action)) return;
  }
  if (needs.head) {
    head = await reads.readHead(room.state, action.do === 'openRound');
    if (head && !learnHead(room, head, Date.now())) return;
    if (!head && !goesWithoutHead(room, action)) return pause(driver, headAgain(room, action));
  }
  if (needs.ask && !(await askIsPosted(room))) return;
  if (!isStillNext(driver, action)) return;
  if (action.do === 'assembleDraft') return assemble(driver);
  room.commitOwn(factsOf(room.state, action, head), Date.now());
}

/** A close does (N2); so does the end of a room (R12), once it is no moment's trouble: its pull request may be gone for good. */
function goesWithoutHead({ state }: LiveRoom, action: Action): boolean {
  return action.do === 'closeRound' || (action.do === 'endRoom' && state.head.brokenSince !== null);
}

/** Where the forge is known to be broken, its watcher wakes the room as soon as it is mended (B29). */
function headAgain({ state }: LiveRoom, action: Action): number {
  return state.head.brokenSince !== null || action.do === 'endRoom' ? READ_AGAIN_LATER : READ_AGAIN;
}

/** B27: its clocks count from when the ask was really posted, so until then none of them has run out. */
async function askIsPosted(room: LiveRoom): Promise<boolean> {
  const { version } = room;
  const isPosted = (): boolean => !room.owes('DraftAsked');
  await condition(() => isPosted() || room.version !== version);
  return isPosted();
}

function isStillNext(driver: Driver, action: Action): boolean {
  const again = nextOf(driver);
  return again.kind === 'act' && JSON.stringify(again.action) === JSON.stringify(action);
}

/** B20. What changed the room meanwhile, an agent deleted or a finding settled, may have changed the draft too. */
async function assemble(driver: Driver): Promise<void> {
  const { room } = driver;
  const { version: of } = room;
  const draft = await draftFromReviews(room.state);
  if (room.version !== of) return;
  if (!draft) return pause(driver, READ_AGAIN);
  const { round } = room.state;
  if (!round) return;
  const version = (room.state.draft?.version ?? 0) + 1;
  room.commitOwn([{ type: 'DraftSaved', round: round.number, headSha: round.headSha, ...draft, by: 'barista', version }], Date.now());
}

async function pause(driver: Driver, again: number): Promise<void> {
  const { room } = driver;
  const { version } = room;
  show(driver, nextOf(driver));
  await condition(() => room.version !== version, again, { summary: 'something could not be read; try again' });
}

import { ActivityFailure, condition, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RoomActivities } from './activities.js';
import type { HeadSeen } from './messages.js';
import type { LiveRoom } from './live-room.js';
import { detailsOf } from './room-details.js';
import { learnHead } from './room-head.js';
import { publishAttributes } from './room-attributes.js';
import type { Calls } from './barista/idle.js';
import { factsOf } from './barista/perform.js';
import { nextStep } from './barista/policy.js';
import { type Action, type Step, restsOn } from './barista/step.js';
import { openRound } from './room/rounds.js';

/** A running room, and the review calls of a round as they were last read. */
export interface Driver {
  readonly room: LiveRoom;
  read: { readonly round: number; readonly calls: Calls };
}

/** What is known of the latest round's calls; those of an earlier round say nothing of it. */
export function callsOf({ room, read }: Driver): Calls {
  return read.round === room.state.round?.number ? read.calls : {};
}

// The loop never waits longer than this for the world: what cannot be read in time is unknown (DESIGN 14).
const bounded = {
  scheduleToCloseTimeout: '10s',
  startToCloseTimeout: '8s',
  retry: { initialInterval: '500ms', maximumAttempts: 3 },
} as const;
const { readCalls } = proxyActivities<RoomActivities>({ ...bounded, summary: 'read who is working' });
const { readHead } = proxyActivities<RoomActivities>({ ...bounded, summary: "read the pull request's head" });
const { assembleDraft } = proxyActivities<RoomActivities>({ ...bounded, summary: 'assemble the draft from the reviews' });

/** How long to wait before asking again for what could not be read, in milliseconds. */
const READ_AGAIN = 15_000;
/** A quiet second before a new run begins: a caller in that very moment would have to ask again (facts of Temporal, 3). */
const QUIET = 1_000;

/** Performs what Barista decides and sleeps in between, until the room has ended or its history has grown long. */
export async function drive(driver: Driver, mayContinue: () => boolean): Promise<void> {
  const { room } = driver;
  await lookAtCalls(driver);
  for (;;) {
    const now = Date.now();
    const step = nextStep(room.state, callsOf(driver), now);
    setCurrentDetails(detailsOf(room.state, step, callsOf(driver), now));
    publishAttributes(room.state, step, callsOf(driver), now);
    if (room.state.ended) return allProjected(room);
    // Also before an action: one that cannot be carried out for days must not fill the history.
    const isLong = mayContinue();
    if (isLong && (await isQuiet(room))) return;
    if (step.kind === 'act') await take(driver, step.action);
    else if (!isLong && (await sleepUntil(room, step, now))) await lookAtCalls(driver);
  }
}

/** Without a review nothing is done when idle time runs out, yet whether it has must be true (B8, chip `no review`). */
async function lookAtCalls(driver: Driver): Promise<void> {
  if (openRound(driver.room.state)?.reviews.length === 0) await readAgain(driver);
}

async function readAgain(driver: Driver): Promise<boolean> {
  const { slug, round } = driver.room.state;
  const number = round?.number ?? 0;
  const calls = await known(readCalls({ slug, round: number }));
  if (calls) driver.read = { round: number, calls };
  return calls !== null;
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
  return !(await condition(changed, Math.max(step.until - now, 1), { summary: `${step.why}; next: ${nextClock(step)}` }));
}

function nextClock(step: Step & { kind: 'wait' }): string {
  return step.clocks.reduce((first, clock) => (clock.at < first.at ? clock : first)).what;
}

/** Reads anew what the action rests on and performs it if it is still what Barista would do (B27, P4). */
async function take(driver: Driver, action: Action): Promise<void> {
  const { room } = driver;
  const needs = restsOn(action);
  let head: HeadSeen | null = null;
  if (needs.calls) {
    if (!(await readAgain(driver))) return pause(room);
    if (!isStillNext(driver, action)) return;
  }
  if (needs.head) {
    head = await known(readHead({ slug: room.state.slug, pullRequest: room.state.pullRequest, keep: action.do === 'openRound' }));
    if (head) learnHead(room, head, Date.now());
    // Only a close goes on without a head (N2); anything else could be about the wrong commit.
    else if (action.do !== 'closeRound') return pause(room);
  }
  if (needs.ask && !(await askIsPosted(room))) return;
  if (!isStillNext(driver, action)) return;
  if (action.do === 'assembleDraft') return assemble(driver);
  room.commitOwn(factsOf(room.state, action, head), Date.now());
}

/** B27: its clocks count from when the ask was really posted, so until then none of them has run out. */
async function askIsPosted(room: LiveRoom): Promise<boolean> {
  const { version } = room;
  const isPosted = (): boolean => !room.owes('DraftAsked');
  await condition(() => isPosted() || room.version !== version);
  return isPosted();
}

function isStillNext(driver: Driver, action: Action): boolean {
  const again = nextStep(driver.room.state, callsOf(driver), Date.now());
  return again.kind === 'act' && JSON.stringify(again.action) === JSON.stringify(action);
}

/** B20. */
async function assemble(driver: Driver): Promise<void> {
  const { room } = driver;
  const draft = await known(assembleDraft({ slug: room.state.slug, seq: room.state.seq }));
  if (!draft) return pause(room);
  const { round } = room.state;
  if (!round || !isStillNext(driver, { do: 'assembleDraft' })) return;
  const version = (room.state.draft?.version ?? 0) + 1;
  room.commitOwn([{ type: 'DraftSaved', round: round.number, headSha: round.headSha, ...draft, by: 'barista', version }], Date.now());
}

/** What an activity answers, or null where it could not be had in time. */
async function known<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ActivityFailure) return null;
    throw error;
  }
}

async function pause(room: LiveRoom): Promise<void> {
  const { version } = room;
  await condition(() => room.version !== version, READ_AGAIN, { summary: 'something could not be read; try again' });
}

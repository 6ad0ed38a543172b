import { ActivityFailure, ApplicationFailure, CancellationScope, condition, proxyActivities, sleep } from '@temporalio/workflow';
import type { RoomActivities } from './activities.js';
import { type ForgeSilence, POSTING_BEAT_MS, POSTING_FAILED, PROJECTION_CONFLICT } from './messages.js';
import type { HeadSeen } from './room/events.js';
import type { LiveRoom } from './live-room.js';
import { learnSilence, learnHead } from './room-head.js';
import { runningAsk } from './barista/drafting.js';

/** What a room does beside its loop: none of it decides anything, and none of it ends while the room runs. */

const { project } = proxyActivities<RoomActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '10s', nonRetryableErrorTypes: [PROJECTION_CONFLICT] },
  summary: 'bring the database up to date',
});

const { watchHead: watch } = proxyActivities<RoomActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '2s', maximumInterval: '5m' },
  summary: "watch the pull request's head",
});

const { postReview } = proxyActivities<RoomActivities>({
  // Forty remarks on a slow forge take their time: a second attempt beside one that goes on would post twice (D5).
  startToCloseTimeout: '1h',
  heartbeatTimeout: 6 * POSTING_BEAT_MS,
  // It says itself when it has failed for good: an attempt that a database or a worker was away for is none of the forge's.
  retry: { initialInterval: '5s', maximumInterval: '2m', nonRetryableErrorTypes: [POSTING_FAILED] },
  summary: 'post the review to the forge',
});

/** Projects what no edge has asked for, and what an edge that asked did not live to project. */
export async function projectEvents(room: LiveRoom): Promise<never> {
  for (;;) {
    await condition(() => room.mustProject);
    const { from, events } = room.batch();
    const { seq } = await project({ slug: room.state.slug, from, events });
    room.acknowledge(seq);
    if (events.some((event) => event.type === 'DraftAsked')) askPosted(room, Date.now());
  }
}

/** What a note posted later than this, in milliseconds, was late by matters to the clocks that follow it. */
const LATE = 1_000;

/** B27: whoever was asked late is given its whole time. */
function askPosted(room: LiveRoom, now: number): void {
  const ask = room.state.round && runningAsk(room.state.round);
  if (ask && now - ask.at > LATE) room.commitOwn([{ type: 'AskPostedLate' }], now);
}

/** P4, B29: looks again and again, at no cost in history while nothing moves. */
export async function watchHead(room: LiveRoom): Promise<never> {
  for (;;) {
    try {
      const { head } = room.state;
      const seen = await watchWhileTrue(room);
      if (seen === null) continue;
      if ('brokenSince' in seen) learnSilence(room, seen, Date.now());
      else learnHead(room, { ...seen, knownSeq: head.seq }, Date.now());
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      await sleep('1m', { summary: 'the head cannot be watched; try again' });
    }
  }
}

/** One watch, or null where it must begin anew: what it was begun on is no longer so, or there is reason to look at once. */
async function watchWhileTrue(room: LiveRoom): Promise<HeadSeen | ForgeSilence | null> {
  const ground = (): string => JSON.stringify([room.state.head.brokenSince !== null, room.state.durations.headPoll, room.headDoubts]);
  const begun = ground();
  const { slug, pullRequest, head } = room.state;
  const scope = new CancellationScope();
  try {
    return await scope.run(() =>
      Promise.race([watch({ slug, pullRequest, broken: head.brokenSince !== null }), condition(() => ground() !== begun).then(() => null)]),
    );
  } finally {
    scope.cancel();
  }
}

/** D5: one posting at a time, started by the owner's command. */
export async function postDrafts(room: LiveRoom, beside: { posting: boolean }): Promise<never> {
  for (;;) {
    await condition(() => room.state.draft?.posting.status === 'posting');
    beside.posting = true;
    const { slug, pullRequest, draft } = room.state;
    try {
      const { url, unplaced } = await postReview({ slug, pullRequest, version: draft!.version });
      room.commitOwn([{ type: 'DraftPosted', url, unplaced }], Date.now());
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      room.commitOwn([{ type: 'PostingFailed', reason: reasonOf(error) }], Date.now());
    }
    beside.posting = false;
  }
}

function reasonOf(error: ActivityFailure): string {
  const { cause } = error;
  return cause instanceof ApplicationFailure && cause.type === POSTING_FAILED ? cause.message : 'it was given up; try again';
}

import { ApplicationFailure, TemporalFailure, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { RoomActivities } from './activities.js';
import type { Calls } from './barista/idle.js';
import type { HeadSeen } from './room/events.js';
import type { DraftText } from './room/commands.js';
import type { RoomState } from './room/state.js';

/**
 * What the loop reads of the world. A local activity costs a history one event instead of six, and holds up the
 * room's callers while it runs: so it gets a second, and what takes longer is asked for by an activity proper.
 */
const quick = { startToCloseTimeout: '1s', retry: { maximumAttempts: 1 } } as const;
// The loop never waits longer than this for the world: what cannot be read in time is unknown (DESIGN 14).
const bounded = {
  scheduleToCloseTimeout: '10s',
  startToCloseTimeout: '8s',
  retry: { initialInterval: '500ms', maximumAttempts: 3 },
} as const;

const WORKING = { summary: 'read who is working' };
const HEAD = { summary: "read the pull request's head" };
const DRAFT = { summary: 'assemble the draft from the reviews' };
const { readCalls: quickCalls } = proxyLocalActivities<RoomActivities>({ ...quick, ...WORKING });
const { readCalls } = proxyActivities<RoomActivities>({ ...bounded, ...WORKING });
const { readHead: quickHead } = proxyLocalActivities<RoomActivities>({ ...quick, ...HEAD });
const { readHead } = proxyActivities<RoomActivities>({ ...bounded, ...HEAD });
const { assembleDraft: quickDraft } = proxyLocalActivities<RoomActivities>({ ...quick, ...DRAFT });
const { assembleDraft } = proxyActivities<RoomActivities>({ ...bounded, ...DRAFT });

/** What was last read. A reading holds for the moment in which it was made, and nothing is read twice in one. */
export class Reads {
  private calls: { readonly round: number; readonly of: Calls; readonly at: number } = { round: 0, of: {}, at: 0 };
  private head: { readonly seen: HeadSeen; readonly at: number } | null = null;

  /** What is known of the latest round's review calls; those of an earlier round say nothing of it. */
  callsOf(room: RoomState): Calls {
    return this.calls.round === room.round?.number ? this.calls.of : {};
  }

  /** Reads the calls of the latest round. @returns false where they could not be had in time */
  async readCalls({ slug, round }: RoomState): Promise<boolean> {
    const number = round?.number ?? 0;
    if (this.calls.round === number && this.calls.at === Date.now()) return true;
    const calls = await soon({ slug, round: number }, quickCalls, readCalls);
    if (calls) this.calls = { round: number, of: calls, at: Date.now() };
    return calls !== null;
  }

  /** The head now, or null where it could not be had in time. `keep`: with the context of a round that is about to open. */
  async readHead({ slug, pullRequest, head, round }: RoomState, keep: boolean): Promise<HeadSeen | null> {
    const { sha, baseSha } = head;
    const input = { slug, pullRequest, head: { sha, baseSha }, round: round && { headSha: round.headSha }, keep };
    const asRead = (seen: HeadSeen | null): HeadSeen | null => seen && { ...seen, knownSeq: head.seq };
    // Fetching a context takes longer than a second, and is not begun twice.
    if (keep) return asRead(await known(readHead(input)));
    if (this.head?.at !== Date.now() || this.head.seen.knownSeq !== head.seq) {
      const seen = asRead(await soon(input, quickHead, readHead));
      this.head = seen && { seen, at: Date.now() };
    }
    return this.head?.seen ?? null;
  }
}

/** B20: null where it could not be made in time. */
export function draftFromReviews({ slug, seq }: RoomState): Promise<DraftText | null> {
  return soon({ slug, seq }, quickDraft, assembleDraft);
}

type Ask<I, O> = (input: I) => Promise<O>;

async function soon<I, O>(input: I, quick: Ask<I, O>, patient: Ask<I, O>): Promise<O | null> {
  try {
    return await quick(input);
  } catch (error) {
    // Unlike an activity's, a local activity's failure comes without an ActivityFailure round it.
    if (!(error instanceof TemporalFailure)) throw error;
    if (error instanceof ApplicationFailure && error.nonRetryable) return null;
  }
  return known(patient(input));
}

/** What an activity answers, or null where it could not be had in time. */
async function known<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TemporalFailure) return null;
    throw error;
  }
}

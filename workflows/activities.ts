import type { HeadSeen, RoomEvent } from './room/events.js';
import type { DraftText } from './room/commands.js';
import type { PullRequest, Sha } from './room/state.js';
import type { Calls } from './barista/idle.js';
import type { ForgeSilence } from './messages.js';

/** What a room knows of its pull request: a head that is read is told with how it stands to this. A whole room will do. */
export interface HeadKnown {
  readonly pullRequest: PullRequest;
  readonly head: { readonly sha: Sha; readonly baseSha: Sha };
  readonly round: { readonly headSha: Sha } | null;
}

/** What a room needs of the world, as the workflow sees it; implemented in `activities/`. */
export interface RoomActivities {
  /** Brings the database up to the last of these events, exactly once; answers its event number. Fails for good as `projection_conflict`. */
  project(input: { slug: string; from: number; events: readonly RoomEvent[] }): Promise<{ seq: number }>;
  /** The review calls of the round, as the edges recorded them (DESIGN 2). */
  readCalls(input: { slug: string; round: number }): Promise<Calls>;
  /** The head now, of the forge alone. `keep` also fetches and keeps the context of a round that is about to open (O1). */
  readHead(input: HeadKnown & { slug: string; keep: boolean }): Promise<HeadSeen>;
  /**
   * Looks at the head now and then at no cost in history, and ends once it is another than the room knows (P4), or
   * once it could not be read for some minutes; where the room knows that (`broken`), once it can be read again (B29).
   */
  watchHead(input: { slug: string; pullRequest: PullRequest; broken: boolean }): Promise<HeadSeen | ForgeSilence>;
  /** B20: merges the latest round's reviews into a draft; its texts are stored, their ids answered. */
  assembleDraft(input: { slug: string; seq: number }): Promise<DraftText>;
  /** D5: posts the draft once, however often it is tried. Fails for good as `posting_failed`, with a line for the owner. */
  postReview(input: {
    slug: string;
    pullRequest: PullRequest;
    version: number;
  }): Promise<{ url: string | null; unplaced: readonly number[] }>;
}

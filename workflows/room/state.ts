import type { Lines } from './lines.js';
import type {
  AnswerKind,
  AnsweredAs,
  ParticipantKind,
  PullRequestState,
  Recipe,
  Role,
  Severity,
  Side,
  Stance,
  Standing,
  Verdict,
} from './words.js';

/**
 * The whole of a room as its workflow holds it: plain JSON, so that it survives the payload converter, a
 * continue-as-new and a column of the database unchanged. Times are epoch milliseconds, durations are
 * milliseconds, texts are ids of rows in the database (no body is ever in here).
 *
 * It holds the latest round whole and what later rules need of the ones before; older rounds are kept whole
 * by the projection (`prisma/project.ts`), which sees them leave.
 */
export interface RoomState {
  readonly slug: string;
  /** Number of the last event; 0 before the first. */
  readonly seq: number;
  readonly openedAt: number;
  readonly pullRequest: PullRequest;
  readonly recipe: Recipe;
  /** Participant id of the owner, a person. */
  readonly owner: ParticipantId;
  readonly participants: readonly Participant[];
  readonly head: Head;
  /** The latest round, null before round 1. */
  readonly round: Round | null;
  /** Every round before the latest, oldest first. */
  readonly earlier: readonly EarlierRound[];
  /** The findings of the latest round: raised in it or carried into it, settled since or not. */
  readonly findings: readonly Finding[];
  /** Ids of findings that were settled and have left with an earlier round. */
  readonly settled: readonly FindingId[];
  /** Number of the next finding; ids are never used again (S2). */
  readonly nextFinding: number;
  readonly nextReview: number;
  /** The draft of the newest round that has one (D6). */
  readonly draft: Draft | null;
  readonly barista: Barista;
  readonly durations: Durations;
  /** First results by `request_id`, oldest first, at most {@link LIMITS.requests} (S9). */
  readonly requests: readonly RequestRecord[];
  readonly ended: { readonly at: number; readonly reason: EndReason } | null;
}

export type ParticipantId = string;
export type FindingId = string;
export type ReviewId = string;
export type TextId = string;
export type Sha = string;
/** Who did a thing in the room: a participant, or Barista. */
export type Actor = ParticipantId | 'barista';
export type EndReason = 'archived' | 'merged' | 'closed';

export interface PullRequest {
  readonly forge: 'local' | 'github' | 'gitlab';
  /** One pull request, one key, however it was spelt. */
  readonly key: string;
  readonly repository: string;
  /** As the owner gave it, and as it is shown. */
  readonly url: string;
}

export interface Participant {
  readonly id: ParticipantId;
  readonly name: string;
  readonly kind: ParticipantKind;
  readonly roles: readonly Role[];
  readonly joinedAt: number;
  /** When it last became a reviewer; null while it is none (B5). */
  readonly reviewerSince: number | null;
  /** Roles set by the owner's hand: a default never takes one away (R11). */
  readonly rolesByHand: boolean;
  /** False once it has left; what it said stays (R7). */
  readonly present: boolean;
}

/** The pull request's head as far as the room has heard. */
export interface Head {
  readonly sha: Sha;
  readonly baseSha: Sha;
  /** Goes up with all that is learnt of the pull request: whoever decided on what was known before is told (DESIGN 14). */
  readonly seq: number;
  /** When the room learnt of it: what "quiet for 2 minutes" counts from (B2, B12). */
  readonly since: number;
  readonly state: PullRequestState;
  readonly stateSince: number;
  /** Since when it cannot be read, once that was noted; null while it can (B29). */
  readonly brokenSince: number | null;
}

export interface EarlierRound {
  readonly number: number;
  readonly headSha: Sha;
  readonly baseSha: Sha;
}

export interface Round extends EarlierRound {
  readonly openedAt: number;
  readonly openedBy: Actor;
  /** By which tool it was opened, and as which event: S9 tells a repeat by it. */
  readonly openedVia: 'open' | 'next';
  readonly openedSeq: number;
  readonly closed: RoundClose | null;
  readonly carried: readonly FindingId[];
  readonly reviews: readonly Review[];
  readonly declines: readonly Decline[];
  /** Who has been shown another's review in this round, and so is frozen (V3). */
  readonly seen: readonly ParticipantId[];
  /** Reviewers Barista has reminded in this round (B9). */
  readonly reminded: readonly ParticipantId[];
  /** Whether the owner was told that nobody is left to review (B8). */
  readonly noReviewNotedAt: number | null;
  /** When it was noted that idle time ran out without a review (B29). */
  readonly idleRanOutAt: number | null;
  readonly drafting: Drafting;
}

export interface RoundClose {
  readonly at: number;
  readonly by: Actor;
  readonly seq: number;
  readonly why: CloseReason;
  readonly missing: readonly ParticipantId[];
}

/** `cap` and `idle` are B7 and B6; a round that was past them when its first review came closes as such too (B8). */
export type CloseReason = 'lead' | 'next_round' | 'all_submitted' | 'idle' | 'cap';

/** Barista's business after the close: whom it asked to draft, and what it has said once. */
export interface Drafting {
  readonly asks: readonly DraftAsk[];
  readonly handOffs: number;
  /** When the owner took `final, draft now` (B23). */
  readonly finalAt: number | null;
  readonly fixesNotPushedAt: number | null;
  readonly limitNotedAt: number | null;
  readonly staleNotedAt: number | null;
}

export interface DraftAsk {
  readonly at: number;
  /** When its note was really posted, where that was late: its clocks count from then (B27). */
  readonly postedAt: number | null;
  readonly leads: readonly ParticipantId[];
  readonly remindedAt: number | null;
  /** Set when the ask is over: answered by a draft, handed off, or overtaken (B28). */
  readonly endedAt: number | null;
}

export interface Review {
  readonly id: ReviewId;
  readonly by: ParticipantId;
  readonly at: number;
  readonly verdict: Verdict;
  readonly summary: TextId;
  readonly findings: readonly FindingId[];
  readonly references: readonly Reference[];
  /** Whether it replaced an earlier one of the same reviewer in the same round. */
  readonly replaced: boolean;
}

export interface Reference {
  readonly finding: FindingId;
  readonly stance: Stance;
  readonly note: TextId | null;
}

export interface Decline {
  readonly by: ParticipantId;
  readonly at: number;
  readonly reason: TextId;
  /** When it may be able to review after all; null where it did not say. */
  readonly until: number | null;
}

export interface Finding extends Lines {
  readonly id: FindingId;
  readonly raisedBy: ParticipantId;
  readonly raisedIn: number;
  readonly raisedOn: Sha;
  readonly path: string;
  readonly side: Side;
  readonly severity: Severity;
  readonly body: TextId;
  readonly outsideDiff: boolean;
  readonly answers: readonly Answer[];
  /** When its raiser said `agree` to it in an earlier round, latest first known: it counts as upholding (B15). */
  readonly agreedByRaiserAt: number | null;
  /** When the owner's final draft ended a dispute on it (B15, B23). */
  readonly disputeEndedAt: number | null;
}

export interface Answer {
  readonly kind: AnswerKind;
  readonly by: ParticipantId;
  readonly as: AnsweredAs;
  readonly reason: TextId | null;
  /** The round that was latest when it was given, and that round's commit. */
  readonly round: number;
  readonly commit: Sha;
  readonly at: number;
}

export interface Draft {
  readonly round: number;
  readonly headSha: Sha;
  readonly verdict: Verdict;
  readonly body: TextId;
  readonly findings: readonly DraftFinding[];
  readonly draftedBy: Actor;
  readonly savedAt: number;
  readonly assembled: boolean;
  readonly edited: boolean;
  /** Goes up with every change of a draft of this room; a client's `version` (PUT draft). */
  readonly version: number;
  readonly posting: Posting;
}

export type Posting =
  | { readonly status: 'draft'; readonly failure: string | null }
  | { readonly status: 'posting'; readonly at: number; readonly standing: readonly StandingOf[] }
  | {
      readonly status: 'posted';
      readonly at: number;
      readonly url: string | null;
      readonly standing: readonly StandingOf[];
      /** Indexes of merged findings that had no place in the diff and stand in the body (D4). */
      readonly unplaced: readonly number[];
    };

export interface StandingOf {
  readonly finding: FindingId;
  readonly standing: Standing;
}

/** One merged finding of the draft; the lists hold participant ids (D1, D2). */
export interface DraftFinding extends Lines {
  readonly path: string;
  readonly side: Side;
  readonly severity: Severity;
  readonly body: TextId;
  readonly raisedBy: readonly ParticipantId[];
  readonly agreedBy: readonly ParticipantId[];
  readonly disputedBy: readonly ParticipantId[];
  readonly findings: readonly FindingId[];
}

export interface Barista {
  readonly enabled: boolean;
  /** When it was last turned on: idle time, the cap and reminders count from then at the earliest (B26). */
  readonly since: number;
}

/** How long each of Barista's clocks runs, in milliseconds; names as in the contract. */
export interface Durations {
  readonly workingWindow: number;
  readonly remindAfter: number;
  readonly idleClose: number;
  readonly roundCap: number;
  readonly headQuiet: number;
  readonly upholdWindow: number;
  readonly verifyWindow: number;
  readonly lostRaiserWindow: number;
  readonly draftReminder: number;
  readonly draftHandoff: number;
  readonly fixesNotPushed: number;
  readonly headPoll: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const DEFAULT_DURATIONS: Durations = {
  workingWindow: 5 * MINUTE,
  remindAfter: 10 * MINUTE,
  idleClose: 30 * MINUTE,
  roundCap: 90 * MINUTE,
  headQuiet: 2 * MINUTE,
  upholdWindow: 30 * MINUTE,
  verifyWindow: 30 * MINUTE,
  lostRaiserWindow: 10 * MINUTE,
  draftReminder: 10 * MINUTE,
  draftHandoff: 30 * MINUTE,
  fixesNotPushed: 24 * 60 * MINUTE,
  headPoll: 5 * MINUTE,
};

export const LIMITS = {
  /** B13: Barista opens no round after this one. */
  rounds: 5,
  /** B19: how often a round's draft changes hands. */
  handOffs: 2,
  /** S6: findings of one review, and unsettled findings of a room. */
  findingsPerReview: 200,
  unsettledFindings: 1_500,
  /** S3. */
  referencesPerReview: 200,
  /** D2: stored findings under one merged finding. */
  findingsPerMerged: 50,
  /** S9: how many first results are remembered; an older one's repeat is a new call. */
  requests: 200,
  /** S7: how far away a decline's end may be, in milliseconds: no timer and no search attribute takes any time there is. */
  declineFor: 366 * 24 * 60 * MINUTE,
  /** R12: days from merge or close to the end of the room, in milliseconds. */
  endAfter: 7 * 24 * 60 * MINUTE,
} as const;

export interface RequestRecord {
  readonly by: ParticipantId;
  readonly id: string;
  readonly result: CommandResult;
}

/** What an Update answers besides its event number; ids and facts only. */
export type CommandResult = Readonly<Record<string, unknown>>;

import type {
  Actor,
  Answer,
  CloseReason,
  Decline,
  DraftFinding,
  Durations,
  EndReason,
  Finding,
  FindingId,
  Head,
  ParticipantId,
  PullRequest,
  RequestRecord,
  Review,
  Sha,
  StandingOf,
  TextId,
} from './state.js';
import type { ForgeTrouble, ParticipantKind, PullRequestState, Recipe, Role, Verdict } from './words.js';

/**
 * Everything that can have happened in a room. An event holds facts and ids, never text; `at` is the
 * workflow's time. `apply` folds them into the state, `notes` says what the room posts for each.
 */
export type RoomEvent = { readonly at: number } & RoomFact;

export type RoomFact =
  | RoomOpened
  | ParticipantJoined
  | ParticipantLeft
  | AgentDeleted
  | RolesChanged
  | RecipeChanged
  | BaristaChanged
  | HeadLearnt
  | PullRequestChanged
  | ForgeBroken
  | ForgeMended
  | RoundOpened
  | ReviewSubmitted
  | ReviewDeclined
  | ReviewsRevealed
  | FindingAnswered
  | RoundClosed
  | ReviewersReminded
  | IdleRanOut
  | NoReviewNoted
  | DraftAsked
  | AskPostedLate
  | LeadsReminded
  | FinalDraftTaken
  | FixesNotPushedNoted
  | RoundLimitNoted
  | DraftStaleNoted
  | DraftSaved
  | DraftEdited
  | PostingStarted
  | DraftPosted
  | PostingFailed
  | RequestRemembered
  | RoomEnded;

export interface RoomOpened {
  readonly type: 'RoomOpened';
  readonly slug: string;
  readonly pullRequest: PullRequest;
  readonly recipe: Recipe;
  readonly owner: { readonly id: ParticipantId; readonly name: string };
  readonly head: Omit<Head, 'seq' | 'since' | 'stateSince' | 'brokenSince'>;
  readonly barista: boolean;
  readonly durations: Durations;
  /** By the owner's setting for the repository, not by hand; absent: by hand. */
  readonly automatic?: true;
}

/** Joined by itself, added by the owner (R4), or back after leaving (R7). */
export interface ParticipantJoined {
  readonly type: 'ParticipantJoined';
  readonly id: ParticipantId;
  readonly name: string;
  readonly kind: ParticipantKind;
}

export interface ParticipantLeft {
  readonly type: 'ParticipantLeft';
  readonly id: ParticipantId;
}

/** R6: the agent, its reviews and their findings are gone. */
export interface AgentDeleted {
  readonly type: 'AgentDeleted';
  readonly id: ParticipantId;
  readonly name: string;
}

/** The new roles of each participant whose roles changed. */
export interface RolesChanged {
  readonly type: 'RolesChanged';
  readonly roles: readonly { readonly id: ParticipantId; readonly roles: readonly Role[] }[];
  /** `default`: R1; `owner`: R3, set by hand; `hand_off`: B19, B25. */
  readonly why: 'default' | 'owner' | 'hand_off';
}

export interface RecipeChanged {
  readonly type: 'RecipeChanged';
  readonly recipe: Recipe;
}

export interface BaristaChanged {
  readonly type: 'BaristaChanged';
  readonly enabled: boolean;
  readonly durations: Durations;
}

/** How a new head stands to the commit of the round that was latest: what P1's note says. */
export interface HeadMove {
  /** Commits on top of the round's; null when not known. */
  readonly commits: number | null;
  /** The round's commit is no longer among its ancestors: a rebase or force-push. */
  readonly rewritten: boolean;
}

/** The pull request's head, as somebody outside the room has read it. */
export interface HeadSeen {
  readonly sha: Sha;
  readonly baseSha: Sha;
  readonly state: PullRequestState;
  /** How it stands to the commit of the latest round; null where there is none or it is that commit. */
  readonly move: HeadMove | null;
  /** The room's `head.seq` when it was read, where the reader knew it: what the room has learnt of since is not in it. */
  readonly knownSeq?: number;
}

/** Read for the command that it comes with: if the room has learnt of another head since, it is read again (DESIGN 14). */
export interface FreshHead extends HeadSeen {
  readonly knownSeq: number;
}

export interface HeadLearnt {
  readonly type: 'HeadLearnt';
  readonly sha: Sha;
  readonly baseSha: Sha;
  /** Null where no round is open, or the head is the round's own commit: there is no note then (P1). */
  readonly move: HeadMove | null;
}

export interface PullRequestChanged {
  readonly type: 'PullRequestChanged';
  readonly state: PullRequestState;
}

/** B29: the pull request could not be read for some minutes; said once until it can be again. */
export interface ForgeBroken {
  readonly type: 'ForgeBroken';
  /** When it could first not be read. */
  readonly since: number;
  readonly trouble: ForgeTrouble;
}

export interface ForgeMended {
  readonly type: 'ForgeMended';
}

export interface RoundOpened {
  readonly type: 'RoundOpened';
  readonly number: number;
  readonly headSha: Sha;
  readonly baseSha: Sha;
  readonly by: Actor;
  readonly via: 'open' | 'next';
  readonly reviewers: readonly ParticipantId[];
  readonly carried: readonly FindingId[];
}

export interface ReviewSubmitted {
  readonly type: 'ReviewSubmitted';
  readonly review: Review;
  readonly findings: readonly Finding[];
}

export interface ReviewDeclined {
  readonly type: 'ReviewDeclined';
  readonly decline: Decline;
}

/** This participant was shown another's review in the open round (V3, V8). */
export interface ReviewsRevealed {
  readonly type: 'ReviewsRevealed';
  readonly to: ParticipantId;
}

/** An author's answer or a raiser's resolution. */
export interface FindingAnswered {
  readonly type: 'FindingAnswered';
  readonly finding: FindingId;
  readonly answer: Answer;
}

export interface RoundClosed {
  readonly type: 'RoundClosed';
  readonly number: number;
  readonly by: Actor;
  readonly why: CloseReason;
  readonly missing: readonly ParticipantId[];
  /** What the head was found to be at the close; null = the forge could not be reached (N2). */
  readonly head: { readonly sha: Sha } | null;
}

/** B9. */
export interface ReviewersReminded {
  readonly type: 'ReviewersReminded';
  readonly reviewers: readonly ParticipantId[];
}

/** B29: past B6 with no review. The owner is told, the room is not (B8); once a round, and never after NoReviewNoted. */
export interface IdleRanOut {
  readonly type: 'IdleRanOut';
  readonly number: number;
}

/** B8: nobody is left to wait for, or the cap is past, and there is no review; said once a round. */
export interface NoReviewNoted {
  readonly type: 'NoReviewNoted';
  readonly number: number;
}

/** B18, B19, B23, B25, B28: these leads are to draft the latest round. A hand-off counts (B19). */
export interface DraftAsked {
  readonly type: 'DraftAsked';
  readonly leads: readonly ParticipantId[];
  readonly why: 'ready' | 'final' | 'hand_off';
}

/** B27: the note of the running ask was posted only now; its clocks count from here. */
export interface AskPostedLate {
  readonly type: 'AskPostedLate';
}

/** B19. */
export interface LeadsReminded {
  readonly type: 'LeadsReminded';
  readonly leads: readonly ParticipantId[];
}

/** B23: the owner has the round drafted as it is, which also ends its disputes (B15). */
export interface FinalDraftTaken {
  readonly type: 'FinalDraftTaken';
  readonly by: ParticipantId;
}

/** B22. */
export interface FixesNotPushedNoted {
  readonly type: 'FixesNotPushedNoted';
}

/** B13. */
export interface RoundLimitNoted {
  readonly type: 'RoundLimitNoted';
}

/** B24, after the last round: no other round will be opened at the new head. */
export interface DraftStaleNoted {
  readonly type: 'DraftStaleNoted';
}

export interface DraftSaved {
  readonly type: 'DraftSaved';
  readonly round: number;
  readonly headSha: Sha;
  readonly verdict: Verdict;
  readonly body: TextId;
  readonly findings: readonly DraftFinding[];
  readonly by: Actor;
  readonly version: number;
}

/** The owner's edit; never a change of who drafted it. */
export interface DraftEdited {
  readonly type: 'DraftEdited';
  readonly verdict: Verdict;
  readonly body: TextId;
  readonly findings: readonly DraftFinding[];
  readonly version: number;
}

export interface PostingStarted {
  readonly type: 'PostingStarted';
  readonly by: ParticipantId;
  readonly standing: readonly StandingOf[];
}

export interface DraftPosted {
  readonly type: 'DraftPosted';
  readonly url: string | null;
  readonly unplaced: readonly number[];
}

export interface PostingFailed {
  readonly type: 'PostingFailed';
  /** One line for the owner; our own words, never a forge's answer. */
  readonly reason: string;
}

/** S9: a first result, kept so that the same request gets it again. */
export interface RequestRemembered {
  readonly type: 'RequestRemembered';
  readonly request: RequestRecord;
}

export interface RoomEnded {
  readonly type: 'RoomEnded';
  readonly reason: EndReason;
}

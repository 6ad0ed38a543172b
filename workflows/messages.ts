import type { Command } from './room/commands.js';
import type { RoomEvent, RoomOpened } from './room/events.js';
import type { CommandResult, RoomState } from './room/state.js';
import type { ForgeTrouble } from './room/words.js';

/**
 * The names by which the outside reaches a room: used by the workflow's handlers and by every sender, so
 * that neither can misspell the other. Updates are named after their command; one input and one output
 * object each, so that fields can be added.
 */

export const TASK_QUEUE = 'barista';
export const ROOM_WORKFLOW = 'reviewRoom';

export const roomWorkflowId = (slug: string): string => `room/${slug}`;

/** A new room, or one that goes on: after a continue-as-new, or restarted from what the database kept. */
export type RoomInput =
  | { readonly kind: 'new'; readonly opened: Omit<RoomOpened, 'type'> }
  | { readonly kind: 'resume'; readonly state: RoomState; readonly outbox: Outbox };

/** Events not known to be projected; `from` is the number of the last event before them. */
export interface Outbox {
  readonly from: number;
  readonly events: readonly RoomEvent[];
}

export const COMMAND_NAMES = [
  'join',
  'leave',
  'deleteAgent',
  'setRoles',
  'setRecipe',
  'setBarista',
  'finalDraft',
  'archive',
  'openRound',
  'nextRound',
  'closeRound',
  'submitReview',
  'declineReview',
  'reveal',
  'answerFinding',
  'resolveFinding',
  'saveDraft',
  'editDraft',
  'postDraft',
] as const satisfies readonly Command['type'][];

export interface UpdateInput<C extends Command = Command> {
  readonly command: C;
  /** The room's event number in the database as the sender knows it: the outbox up to there can go. */
  readonly projectedSeq: number;
}

export interface UpdateOutput {
  readonly result: CommandResult;
  /** The room's event number after the command. */
  readonly seq: number;
  /** The command's own events, numbered up to `seq`; empty for a repeat (S9). The sender projects them. */
  readonly events: readonly RoomEvent[];
}

/** Type of the ApplicationFailure by which a command is refused; its only detail is a `RefusalFacts`. */
export const REFUSED = 'refused';

/** Types of the ApplicationFailures by which activities fail for good. */
export const PROJECTION_CONFLICT = 'projection_conflict';
export const POSTING_FAILED = 'posting_failed';
/** A posting that goes on tells so this often, in milliseconds; one not heard of for six times as long is begun anew. */
export const POSTING_BEAT_MS = 10_000;

/** "Look again, I heard X": the head as a watcher or a delivery has read it (`HeadSeen`). */
export const HEAD_SIGNAL = 'headSeen';

/** The pull request could not be read for some minutes: what the watcher of its head finds besides another head (B29). */
export interface ForgeSilence {
  /** When it could first not be read. */
  readonly brokenSince: number;
  readonly trouble: ForgeTrouble;
}

/** It cannot be read, as a delivery says and a look has shown ({@link ForgeSilence}). */
export const SILENCE_SIGNAL = 'forgeSilent';

/** Project what is in the outbox: sent when whoever should have done it is gone. */
export const FLUSH_SIGNAL = 'flush';

/** Answers the whole {@link RoomState}. */
export const ROOM_QUERY = 'room';
/** Answers every running {@link Clock}. */
export const CLOCKS_QUERY = 'clocks';

/** The clocks a room can have: most are named after the duration they measure. */
export type ClockName =
  | 'head_quiet'
  | 'remind_after'
  | 'idle_close'
  | 'round_cap'
  | 'decline_until'
  | 'uphold_window'
  | 'verify_window'
  | 'lost_raiser_window'
  | 'fixes_not_pushed'
  | 'draft_reminder'
  | 'draft_handoff'
  | 'room_end';

/** A clock that runs in a room: what it is for, and when it fires if nothing happens before. */
export interface Clock {
  readonly name: ClockName;
  readonly what: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const SEARCH_ATTRIBUTES = {
  repository: 'BaristaRepository',
  pullRequest: 'BaristaPullRequest',
  phase: 'BaristaPhase',
  round: 'BaristaRound',
  chips: 'BaristaChips',
  waitingOn: 'BaristaWaitingOn',
  nextDeadline: 'BaristaNextDeadline',
} as const;

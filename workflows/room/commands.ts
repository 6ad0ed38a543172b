import type { Lines } from './lines.js';
import type { DraftFinding, Durations, FindingId, ParticipantId, Reference, TextId } from './state.js';
import type { FreshHead } from './events.js';
import type { AuthorAnswer, ParticipantKind, Recipe, Resolution, Role, Severity, Side, Verdict } from './words.js';

/**
 * What a caller may ask of a room; one Update carries one command. Texts were stored before and are named
 * by id. `by` is the caller, already authenticated by the edge; roles are judged here.
 */
export type Command = JoinCommand | OwnerCommand | RoundCommand | ReviewCommand | DraftCommand;

interface Asked {
  readonly by: ParticipantId;
  /** S9: where given, it alone decides whether this is a repeat. */
  readonly requestId?: string;
}

export type JoinCommand =
  /** R1, R4, R7; `by` is the participant that joins or the owner that adds it. */
  | (Asked & { readonly type: 'join'; readonly participant: { id: ParticipantId; name: string; kind: ParticipantKind } })
  | (Asked & { readonly type: 'leave' })
  /** R6; sent when the owner deletes the agent itself. */
  | (Asked & { readonly type: 'deleteAgent'; readonly agent: ParticipantId });

export type OwnerCommand =
  | (Asked & { readonly type: 'setRoles'; readonly roles: Readonly<Record<ParticipantId, readonly Role[]>> })
  | (Asked & { readonly type: 'setRecipe'; readonly recipe: Recipe })
  | (Asked & { readonly type: 'setBarista'; readonly enabled?: boolean; readonly durations?: Partial<Durations> })
  /** B23. */
  | (Asked & { readonly type: 'finalDraft' })
  | (Asked & { readonly type: 'archive' });

export type RoundCommand =
  /** `head` is null when the forge could not be reached: then nothing opens, and the round closes anyway (N2). */
  | (Asked & { readonly type: 'openRound'; readonly head: FreshHead | null })
  | (Asked & { readonly type: 'nextRound'; readonly head: FreshHead | null; readonly force: boolean })
  | (Asked & { readonly type: 'closeRound'; readonly head: FreshHead | null });

export interface NewFinding extends Lines {
  readonly path: string;
  readonly side: Side;
  readonly severity: Severity;
  readonly body: TextId;
  readonly outsideDiff: boolean;
  /** Its range does not lie in one hunk of the diff: where its comment will stand instead. Absent: it does, or it is not known. */
  readonly leavesHunk?: 'at_line' | 'in_body';
}

export type ReviewCommand =
  | (Asked & {
      readonly type: 'submitReview';
      readonly verdict: Verdict;
      readonly summary: TextId;
      readonly findings: readonly NewFinding[];
      readonly references: readonly Reference[];
    })
  | (Asked & { readonly type: 'declineReview'; readonly reason: TextId; readonly until: number | null })
  /** Records that the caller is about to be shown another's review of the open round (DESIGN 3). */
  | (Asked & { readonly type: 'reveal'; readonly round: number })
  | (Asked & {
      readonly type: 'answerFinding';
      readonly finding: FindingId;
      readonly answer: AuthorAnswer;
      readonly reason: TextId | null;
    })
  | (Asked & {
      readonly type: 'resolveFinding';
      readonly finding: FindingId;
      readonly resolution: Resolution;
      readonly note: TextId | null;
    });

export interface DraftText {
  readonly verdict: Verdict;
  readonly body: TextId;
  readonly findings: readonly DraftFinding[];
}

export type DraftCommand =
  | (Asked & { readonly type: 'saveDraft'; readonly draft: DraftText })
  | (Asked & { readonly type: 'editDraft'; readonly draft: DraftText; readonly version: number })
  | (Asked & { readonly type: 'postDraft'; readonly version?: number });

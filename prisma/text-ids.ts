import { createHash } from 'node:crypto';
import type { RoomEvent } from '../workflows/room/events.js';
import type { Draft, DraftFinding, Finding, Reference, RoomState, TextId } from '../workflows/room/state.js';

/**
 * Equal texts of one participant in one room have equal ids: so a repeat names what the first call named (S9), and
 * staging twice is staging once. Short, for 200 findings name 200 of them in one Update.
 */
export function textId(slug: string, by: string, text: string): TextId {
  return `tx_${createHash('sha256')
    .update(JSON.stringify([slug, by, text]))
    .digest('base64url')
    .slice(0, 16)}`;
}

/** Every text that a room's state names. */
export function textIdsOfState({ round, draft, findings }: RoomState): TextId[] {
  return [
    ...(round?.reviews ?? []).flatMap((review) => [review.summary, ...notesOf(review.references)]),
    ...(round?.declines ?? []).map((decline) => decline.reason),
    ...findings.flatMap(textIdsOfFinding),
    ...(draft ? textIdsOfDraft(draft) : []),
  ];
}

/** Every text that an event names, and so accepts. */
export function textIdsOfEvent(event: RoomEvent): TextId[] {
  switch (event.type) {
    case 'ReviewSubmitted':
      return [event.review.summary, ...notesOf(event.review.references), ...event.findings.flatMap(textIdsOfFinding)];
    case 'ReviewDeclined':
      return [event.decline.reason];
    case 'FindingAnswered':
      return event.answer.reason === null ? [] : [event.answer.reason];
    case 'DraftSaved':
    case 'DraftEdited':
      return textIdsOfDraft(event);
    case 'RoomOpened':
    case 'ParticipantJoined':
    case 'ParticipantLeft':
    case 'AgentDeleted':
    case 'RolesChanged':
    case 'RecipeChanged':
    case 'BaristaChanged':
    case 'HeadLearnt':
    case 'PullRequestChanged':
    case 'ForgeBroken':
    case 'ForgeMended':
    case 'RoundOpened':
    case 'ReviewsRevealed':
    case 'RoundClosed':
    case 'ReviewersReminded':
    case 'IdleRanOut':
    case 'NoReviewNoted':
    case 'DraftAsked':
    case 'AskPostedLate':
    case 'LeadsReminded':
    case 'FinalDraftTaken':
    case 'FixesNotPushedNoted':
    case 'RoundLimitNoted':
    case 'DraftStaleNoted':
    case 'PostingStarted':
    case 'DraftPosted':
    case 'PostingFailed':
    case 'RequestRemembered':
    case 'RoomEnded':
      return [];
  }
}

function textIdsOfFinding(finding: Finding): TextId[] {
  return [finding.body, ...finding.answers.flatMap((answer) => answer.reason ?? [])];
}

function textIdsOfDraft(draft: Pick<Draft, 'body'> & { readonly findings: readonly DraftFinding[] }): TextId[] {
  return [draft.body, ...draft.findings.map((finding) => finding.body)];
}

function notesOf(references: readonly Reference[]): TextId[] {
  return references.flatMap((reference) => reference.note ?? []);
}

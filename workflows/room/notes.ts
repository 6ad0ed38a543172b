import type { Answer, Finding, ParticipantId, RoomState, TextId } from './state.js';
import type { FindingAnswered, HeadMove, RoomEvent, RoundClosed, RoundOpened } from './events.js';
import type { MessageEvent } from './words.js';
import { findingOf } from './findings.js';
import { placeOf } from './lines.js';
import { holders, isPresent, nameOf, namesOf } from './members.js';
import { hasDeclined, missing, openRound } from './rounds.js';
import { answersAreHidden } from './visibility.js';
import { wokenByClose, wokenByLast, wokenByReview } from './woken.js';
import { inWords } from './durations.js';

/** A message the room itself posts. `mentions` are those who must act on it, and nobody else. */
export interface Note {
  readonly text: string;
  readonly mentions: readonly ParticipantId[];
  readonly event: MessageEvent | null;
  /** What it says to a reader from whom that round's reviews are hidden: a reviewer who came after it was posted (V2). */
  readonly veil?: Veil;
}

export interface Veil {
  readonly round: number;
  readonly text: string;
}

/** Looks up a stored text; the projector loads those that {@link textsOf} names. */
export type Texts = (id: TextId) => string;

/** The texts that the note of an event quotes. */
export function textsOf(before: RoomState, event: RoomEvent): TextId[] {
  switch (event.type) {
    case 'ReviewDeclined':
      return [event.decline.reason];
    case 'FindingAnswered':
      return event.answer.reason === null ? [] : [event.answer.reason];
    case 'RoundClosed':
      return before.round?.reviews.map((review) => review.summary) ?? [];
    default:
      return [];
  }
}

/**
 * O4: what the room posts for an event, worked out from the state before it. Every sentence of the system
 * is in this file, and none is in a workflow's history, so wording may change at any time.
 */
export function noteOf(before: RoomState, event: RoomEvent, texts: Texts): Note | null {
  switch (event.type) {
    case 'RoomOpened':
      return note(
        `room opened${event.automatic ? ' by itself' : ''} for ${event.pullRequest.url} (${event.recipe}${event.barista ? ', Barista runs it' : ''})`,
      );
    case 'ParticipantJoined':
      return note(`@${event.name} joined`);
    case 'ParticipantLeft':
      return note(`${nameOf(before, event.id)} left`);
    case 'AgentDeleted':
      return note(`@${event.name} was deleted, and its reviews and findings with it`);
    case 'RolesChanged':
      return (event.why === 'hand_off' ? barista : note)(
        event.roles.map((change) => `${nameOf(before, change.id)} is ${change.roles.join(' + ') || 'without a role'}`).join('; '),
        {
          mentions: event.why === 'owner' ? event.roles.map((change) => change.id) : [],
          event: 'roles_changed',
        },
      );
    case 'RecipeChanged':
      return note(`the recipe is now ${event.recipe}; roles stay as they are`);
    case 'BaristaChanged':
      return baristaChanged(before, event.enabled);
    case 'HeadLearnt':
      return event.move && headMoved(before, event.sha, event.move);
    case 'PullRequestChanged':
      return pullRequestChanged(before, event.state);
    case 'RoundOpened':
      return roundOpened(before, event);
    case 'ReviewSubmitted':
      return note(`${nameOf(before, event.review.by)} ${event.review.replaced ? 'replaced its review' : 'submitted a review'}`, {
        mentions: wokenByReview(before, event.review.by),
      });
    case 'ReviewDeclined':
      return note(
        `${nameOf(before, event.decline.by)} declined to review round ${before.round?.number ?? 0}: ${short(texts(event.decline.reason))}`,
        { mentions: wokenByLast(before, event.decline.by) },
      );
    case 'FindingAnswered':
      return findingAnswered(before, event, texts);
    case 'RoundClosed':
      return roundClosed(before, event, texts);
    case 'ReviewersReminded':
      return barista(
        `${namesOf(before, event.reviewers)}: round ${before.round?.number ?? 0} waits for your review; submit it, or say with decline_review that you cannot`,
        { mentions: event.reviewers, event: 'reminder' },
      );
    case 'NoReviewNoted':
      return barista(
        `round ${event.number} has no review and stays open until one comes; ${nameOf(before, before.owner)}, it may need another reviewer`,
        {
          mentions: [before.owner],
          event: 'reminder',
        },
      );
    case 'DraftAsked':
      return barista(
        `${namesOf(before, event.leads)}: draft the review of round ${before.round?.number ?? 0} with draft_review${event.why === 'final' ? ', as the round is' : ''}`,
        {
          mentions: event.leads,
          event: 'draft_asked',
        },
      );
    case 'LeadsReminded':
      return barista(`${namesOf(before, event.leads)}: the draft of round ${before.round?.number ?? 0} is still to be written`, {
        mentions: event.leads,
        event: 'reminder',
      });
    case 'FinalDraftTaken':
      return note(`${nameOf(before, event.by)} asked for the final draft of round ${before.round?.number ?? 0} as it is`);
    case 'FixesNotPushedNoted':
      return barista(
        `no fixes were pushed within ${inWords(before.durations.fixesNotPushed)} of the close; ${nameOf(before, before.owner)} can have the final draft now`,
        { mentions: [before.owner] },
      );
    case 'RoundLimitNoted':
      return barista(
        `round ${before.round?.number ?? 0} was the last one Barista opens; for another, ask the lead to call open_review_round`,
      );
    case 'DraftStaleNoted':
      return barista(
        `the head moved to ${commit(before.head.sha)}: the draft reviews ${commit(before.draft?.headSha ?? '')} and may be posted as it is`,
        { mentions: [before.owner] },
      );
    case 'DraftSaved':
      return draftSaved(before, event);
    case 'DraftPosted':
      return note(`the review of round ${before.draft?.round ?? 0} is posted${event.url ? `: ${event.url}` : ''}`, { event: 'posted' });
    case 'PostingFailed':
      return note(`posting the review failed: ${event.reason}`, { mentions: [before.owner] });
    case 'RoomEnded':
      return note(event.reason === 'archived' ? 'the room was archived' : `the room has ended: the pull request was ${event.reason}`);
    case 'ForgeBroken':
    case 'ForgeMended':
    case 'IdleRanOut':
    case 'ReviewsRevealed':
    case 'AskPostedLate':
    case 'DraftEdited':
    case 'PostingStarted':
    case 'RequestRemembered':
      return null;
  }
}

interface Address {
  readonly mentions?: readonly ParticipantId[];
  readonly event?: MessageEvent;
}

function note(text: string, to: Address = {}): Note {
  return { text, mentions: to.mentions ?? [], event: to.event ?? null };
}

/** B1: every note Barista posts starts so. */
function barista(text: string, to: Address = {}): Note {
  return note(`barista: ${text}`, to);
}

const commit = (sha: string): string => sha.slice(0, 7);
const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** One line of somebody's text, short enough to be read at a glance. */
export function short(text: string, max = 300): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join('')}…`;
}

function roundOpened(before: RoomState, event: RoundOpened): Note {
  const carried = event.number === 1 ? '' : `; ${count(event.carried.length, 'finding')} carried`;
  const text = `round ${event.number} opened at ${commit(event.headSha)}; reviewers: ${namesOf(before, event.reviewers)}${carried}`;
  return (event.by === 'barista' ? barista : note)(text, { mentions: event.reviewers, event: 'round_opened' });
}

function roundClosed(before: RoomState, event: RoundClosed & { readonly at: number }, texts: Texts): Note {
  const { round } = before;
  const facts = [`round ${event.number} closed${why(before, event)}`];
  const declined = event.missing.filter((id) => round && hasDeclined(round, id));
  const silent = event.missing.filter((id) => !declined.includes(id));
  if (silent.length > 0) facts.push(`without ${namesOf(before, silent)}`);
  if (declined.length > 0) facts.push(`declined by ${namesOf(before, declined)}`);
  if (!event.head) facts.push('the head could not be checked');
  else if (event.head.sha !== round?.headSha)
    facts.push(`the head has moved to ${commit(event.head.sha)}; the reviews are of ${commit(round?.headSha ?? '')}`);
  const reviews =
    round?.reviews.map((review) => `\n${nameOf(before, review.by)}: ${review.verdict} — ${short(texts(review.summary))}`) ?? [];
  return (event.by === 'barista' ? barista : note)(facts.join('; ') + reviews.join(''), {
    mentions: wokenByClose(before, event),
    event: 'round_closed',
  });
}

function why(before: RoomState, event: RoundClosed): string {
  switch (event.why) {
    case 'lead':
    case 'next_round':
      return '';
    case 'all_submitted':
      return ': every reviewer has submitted';
    case 'idle':
      return `: whoever is missing was idle for ${inWords(before.durations.idleClose)}`;
    case 'cap':
      return `: ${inWords(before.durations.roundCap)} are over`;
  }
}

function headMoved(before: RoomState, sha: string, move: HeadMove): Note {
  const commits = move.rewritten ? 'history rewritten' : move.commits === null ? 'new commits' : count(move.commits, 'new commit');
  if (before.barista.enabled) {
    return barista(
      `head moved to ${commit(sha)} (${commits}). Barista closes this round on its own rules; the next round opens at the new head after that.`,
      { event: 'head_moved' },
    );
  }
  return note(`head moved to ${commit(sha)} — ${commits}; the lead can close this round and open the next`, {
    mentions: holders(before, 'lead').map((lead) => lead.id),
    event: 'head_moved',
  });
}

function pullRequestChanged(before: RoomState, state: RoomState['head']['state']): Note {
  const what = state === 'open' ? 'was reopened' : `was ${state}`;
  if (!before.barista.enabled) return note(`the pull request ${what}`);
  return barista(`the pull request ${what}; the clocks ${state === 'open' ? 'run again' : 'stop'}`);
}

function baristaChanged(before: RoomState, enabled: boolean): Note {
  if (enabled === before.barista.enabled) return barista("the room's durations were changed; they count from now on");
  return enabled ? barista('Barista runs this room from now on') : note('Barista is off; the lead opens and closes the rounds');
}

function findingAnswered(before: RoomState, event: FindingAnswered, texts: Texts): Note {
  const { answer } = event;
  const finding = findingOf(before, event.finding);
  const byAuthor = answer.as === 'author';
  const done = byAuthor ? 'answered' : 'resolved';
  if (finding && answersAreHidden(before, finding)) return note(`a finding of this round was ${done}; the round shows how once it closes`);
  const concerned = byAuthor ? (finding ? [finding.raisedBy] : []) : holders(before, 'author').map((author) => author.id);
  // Whoever has left, or answers its own finding, has nothing to do about it.
  const mentions = concerned.filter((id) => id !== answer.by && isPresent(before, id));
  const to: Address = { mentions, event: byAuthor ? 'finding_answered' : 'finding_resolved' };
  // In build + duel the answer is told at once, but never its content to a reviewer who must not know the review yet (V2).
  const brief = `${nameOf(before, answer.by)} ${done} finding ${event.finding}`;
  if (finding && isStillHiddenFromSomeone(before, finding)) return note(brief, to);
  const whole = note(`${nameOf(before, answer.by)} ${said(answer, event.finding, before, finding)}${quoted(answer, texts)}`, to);
  const round = openRound(before);
  return round && finding?.raisedIn === round.number ? { ...whole, veil: { round: round.number, text: brief } } : whole;
}

/** From whoever declined too, for it may submit after all (S7). */
function isStillHiddenFromSomeone(before: RoomState, finding: Finding): boolean {
  const round = openRound(before);
  return round !== null && finding.raisedIn === round.number && missing(before, round).length > 0;
}

function said(answer: Answer, id: string, before: RoomState, finding: Finding | undefined): string {
  const whose = answer.as === 'reviewer' && finding ? ` of ${nameOf(before, finding.raisedBy)}` : '';
  const where = finding ? ` (${placeOf(finding)})` : '';
  switch (answer.kind) {
    case 'accept':
      return `accepted finding ${id}${where}`;
    case 'reject':
      return `rejected finding ${id}${where}`;
    case 'fixed':
      return `marked finding ${id}${whose} fixed at ${commit(answer.commit)}`;
    case 'withdrawn':
      return `withdrew finding ${id}${whose}${where}`;
    case 'upheld':
      return `upheld finding ${id}${where}`;
  }
}

function quoted(answer: Answer, texts: Texts): string {
  return answer.reason === null ? '' : `: ${short(texts(answer.reason))}`;
}

function draftSaved(before: RoomState, event: RoomEvent & { type: 'DraftSaved' }): Note {
  const owner = nameOf(before, before.owner);
  if (event.by === 'barista') {
    return barista(
      `the draft of round ${event.round} was assembled from the reviews, for no agent drafted it; ${owner}, check it before you post`,
      {
        mentions: [before.owner],
        event: 'draft_saved',
      },
    );
  }
  const what = `drafted the review of round ${event.round}: ${event.verdict}, ${count(event.findings.length, 'finding')}`;
  const replaced = before.draft?.round === event.round && before.draft.edited ? "; the owner's edits were replaced" : '';
  return note(`${nameOf(before, event.by)} ${what}${replaced}; ${owner} edits and posts it`, {
    mentions: [before.owner],
    event: 'draft_saved',
  });
}

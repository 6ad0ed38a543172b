import type { Finding, ParticipantId, RoomState } from './state.js';
import { isSettled, stateOf } from './findings.js';
import { holders, holds, isPresent, namesOf, participantOf } from './members.js';
import { awaited, hasDeclined, hasSubmitted, isCarried } from './rounds.js';
import { seenBy } from './visibility.js';
import { fixes, holdsOf } from '../barista/holds.js';
import { runningAsk } from '../barista/drafting.js';
import { nextRoundIsComing } from '../barista/status.js';
import { LIMITS } from './state.js';

/** Whose turn it is: what a participant is told to do next (V6), and whether it has nothing left to do (V7). */

/** Something a participant can still do for the latest round. */
type Duty =
  | { readonly do: 'review' }
  | { readonly do: 'answer' | 'judge' | 'verify' | 'verify_lost'; readonly findings: readonly Finding[] }
  | { readonly do: 'draft' };

/** V7: the listener may end; nothing in this room waits for this participant. */
export function nothingForYou(room: RoomState, viewer: ParticipantId, now: number): boolean {
  if (room.ended) return true;
  const drafted = room.round?.closed != null && room.draft?.round === room.round.number;
  const hasRole = (participantOf(room, viewer)?.roles.length ?? 0) > 0;
  return drafted && hasRole && !nextRoundIsComing(room) && duties(room, viewer, now).length === 0;
}

function duties(full: RoomState, viewer: ParticipantId, now: number): Duty[] {
  const room = seenBy(full, viewer);
  const { round } = room;
  if (!round || !isPresent(room, viewer)) return [];
  const found: Duty[] = [];
  const add = (what: 'answer' | 'judge' | 'verify' | 'verify_lost', findings: readonly Finding[]): void => {
    if (findings.length > 0) found.push({ do: what, findings });
  };
  const mine = room.findings.filter((finding) => finding.raisedBy === viewer && !isSettled(finding));
  const running = holdsOf(room, round).filter((hold) => hold.until > now);
  const held = (rule: string): Finding[] => running.filter((hold) => hold.rule === rule).map((hold) => hold.finding);
  const barista = room.barista.enabled;

  if (holds(room, viewer, 'author'))
    add(
      'answer',
      room.findings.filter((finding) => awaitsAuthor(room, finding)),
    );
  if (round.closed) {
    const rejected = mine.filter((finding) => stateOf(room, finding) === 'rejected');
    add('judge', barista ? held('uphold_window').filter((finding) => finding.raisedBy === viewer) : rejected);
    if (barista)
      add(
        'verify',
        held('verify_window').filter((finding) => finding.raisedBy === viewer),
      );
    if (barista && holds(room, viewer, 'reviewer') && hasSubmitted(round, viewer)) add('verify_lost', held('lost_raiser_window'));
    if (runningAsk(round)?.leads.includes(viewer) && holds(room, viewer, 'lead')) found.push({ do: 'draft' });
    return found;
  }
  if (holds(room, viewer, 'reviewer') && !hasSubmitted(round, viewer) && !hasDeclined(round, viewer)) found.push({ do: 'review' });
  add(
    'judge',
    mine.filter((finding) => stateOf(room, finding) === 'rejected'),
  );
  add(
    'verify',
    mine.filter((finding) => isCarried(round, finding) && stateOf(room, finding) === 'accepted'),
  );
  return found;
}

function awaitsAuthor(room: RoomState, finding: Finding): boolean {
  const state = stateOf(room, finding);
  return state === 'open' || state === 'upheld';
}

/** V6: one or two sentences. In a Barista room it never tells anyone to open, advance or close a round. */
export function nextSteps(room: RoomState, viewer: ParticipantId, now: number): string {
  if (room.ended) return 'The room has ended; there is nothing left to do.';
  if (!isPresent(room, viewer)) return 'You are not in this room: call join_room.';
  if (room.head.state !== 'open' && !room.round) return `The pull request is ${room.head.state}; there is nothing to review.`;
  const mine = duties(room, viewer, now);
  const said = mine.slice(0, 2).map((duty) => sentence(room, duty));
  if (said.length > 0) return said.join(' ');
  return waitingFor(room, viewer);
}

function sentence(room: RoomState, duty: Duty): string {
  switch (duty.do) {
    case 'review': {
      const since = room.round && room.round.number > 1 ? `, with since_round ${room.round.number - 1} for what changed,` : '';
      return `Read the pull request with get_pr_context${since} and submit your review with submit_review.`;
    }
    case 'answer':
      return `Answer ${named(duty.findings)} with rebut_finding.`;
    case 'judge':
      return `Withdraw or uphold ${named(duty.findings)} with resolve_finding.`;
    case 'verify':
      return `Mark ${named(duty.findings)} fixed with resolve_finding, or reference what is still broken with stance agree in your review.`;
    case 'verify_lost':
      return `Mark ${named(duty.findings)} fixed or withdrawn with resolve_finding if you can; the raiser is gone.`;
    case 'draft':
      return 'Write the combined review with draft_review.';
  }
}

function named(findings: readonly Finding[]): string {
  const ids = findings.slice(0, 5).map((finding) => finding.id);
  const more = findings.length - ids.length;
  return more > 0 ? `${ids.join(', ')} and ${more} more` : ids.join(', ');
}

/** Nothing to do for this participant itself: what the room waits for, or what its lead may do without Barista. */
function waitingFor(room: RoomState, viewer: ParticipantId): string {
  const { round } = room;
  const barista = room.barista.enabled;
  const leads = holders(room, 'lead').map((lead) => lead.id);
  const leadsHere = !barista && leads.includes(viewer);
  if (!round) {
    if (barista) return 'Barista opens round 1 once somebody reviews and the head is quiet.';
    return leadsHere
      ? 'Open round 1 with open_review_round.'
      : `Waiting for ${leads.length > 0 ? namesOf(room, leads) : 'a lead'} to open round 1.`;
  }
  if (!round.closed) {
    const waiting = awaited(room, round);
    if (waiting.length > 0) return `Waiting for ${namesOf(room, waiting)} to submit their reviews.`;
    if (leadsHere) return 'Every review is in: close the round with close_review_round, or go on with next_round after a push.';
    return barista
      ? 'Every review is in; Barista closes the round.'
      : `Every review is in. Waiting for ${namesOf(room, leads)} to close the round.`;
  }
  return afterClose(room, viewer, leads, leadsHere);
}

function afterClose(room: RoomState, viewer: ParticipantId, leads: readonly ParticipantId[], leadsHere: boolean): string {
  const round = room.round!;
  if (room.head.state !== 'open') return `The pull request is ${room.head.state}; there is nothing left to do.`;
  if (nextRoundIsComing(room)) return `Barista opens round ${round.number + 1} once the new head is quiet.`;
  const draft = room.draft?.round === round.number ? room.draft : null;
  if (draft?.posting.status === 'posted') return `The review of round ${round.number} is posted. The next review needs a new round.`;
  if (draft) return viewer === room.owner ? 'The draft is ready: edit and post it.' : 'The draft is ready for the owner to post.';
  if (leadsHere) return 'Write the combined review with draft_review, or open the next round after a push.';
  if (!room.barista.enabled) return `Waiting for ${namesOf(room, leads)} to draft the review.`;
  const ask = runningAsk(round);
  if (ask) return `Waiting for ${namesOf(room, leads)} to draft the review.`;
  if (fixes(room).length > 0) {
    const next =
      round.number < LIMITS.rounds
        ? 'Barista opens the next round after it.'
        : 'A sixth round is the owner’s choice: the lead opens it when asked.';
    return `${holds(room, viewer, 'author') ? 'Push the fixes.' : 'Waiting for a push with the fixes.'} ${next}`;
  }
  return 'Waiting for answers to findings; Barista asks for the draft after that.';
}

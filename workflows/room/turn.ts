import type { Finding, ParticipantId, RoomState } from './state.js';
import { countsAsAccepted, isSettled, isStillBroken, stateOf } from './findings.js';
import { holders, holds, isPresent, nameOf, namesOf, participantOf } from './members.js';
import { isCarried, isPosted, reviewerIds } from './rounds.js';
import { seenBy } from './visibility.js';
import { type Hold, answerersOf, disputes, fixes, pushableFixes, runningHolds } from '../barista/holds.js';
import { isAskedFor, runningAsk } from '../barista/drafting.js';
import { awaitedNow } from '../barista/open-round.js';
import { nextRoundIsComing, offersOf } from '../barista/status.js';
import { LIMITS } from './state.js';

/** Whose turn it is: what a participant is told to do next (V6), and whether it has nothing left to do (V7). */

/** Something a participant can still do for the latest round. */
type Duty =
  | { readonly do: 'review' }
  | { readonly do: 'answer' | 'judge' | 'verify' | 'verify_closed' | 'verify_lost'; readonly findings: readonly Finding[] }
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
  // D8: the round is done. Answers are still taken, but nobody is asked for one.
  if (isPosted(room)) return [];
  const toAnswer = holds(room, viewer, 'author') ? room.findings.filter((finding) => awaitsAuthor(room, finding)) : [];
  return [
    ...(!round.closed && awaitedNow(room, round, now).includes(viewer) ? [{ do: 'review' } as const] : []),
    ...some('answer', toAnswer),
    ...(holds(room, viewer, 'reviewer') ? reviewerDuties(room, viewer, now) : []),
    ...(round.closed && holds(room, viewer, 'lead') && runningAsk(round)?.leads.includes(viewer) ? [{ do: 'draft' } as const] : []),
  ];
}

/** What a reviewer has to say of findings: of its own, and of a lost raiser's (A2, A9, B14 to B17). */
function reviewerDuties(room: RoomState, viewer: ParticipantId, now: number): Duty[] {
  const mine = room.findings.filter((finding) => finding.raisedBy === viewer && !isSettled(finding));
  const rejected = mine.filter((finding) => stateOf(room, finding) === 'rejected');
  const round = room.round!;
  if (!round.closed) {
    const unmarked = mine.filter(
      (finding) => isCarried(round, finding) && countsAsAccepted(room, finding) && !isStillBroken(room, finding),
    );
    return [...some('judge', rejected), ...some('verify', unmarked)];
  }
  if (!room.barista.enabled) return some('judge', rejected);
  const running = runningHolds(room, now).filter((hold) => answerersOf(room, hold).includes(viewer));
  const held = (rule: Hold['rule']): Finding[] => running.filter((hold) => hold.rule === rule).map((hold) => hold.finding);
  return [
    ...some('judge', held('uphold_window')),
    ...some('verify_closed', held('verify_window')),
    ...some('verify_lost', held('lost_raiser_window')),
  ];
}

function some(what: (Duty & { findings: unknown })['do'], findings: readonly Finding[]): Duty[] {
  return findings.length > 0 ? [{ do: what, findings }] : [];
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
  return waitingFor(room, viewer, now);
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
    case 'verify_closed':
      return `Mark ${named(duty.findings)} fixed with resolve_finding if the new head fixes it.`;
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
function waitingFor(room: RoomState, viewer: ParticipantId, now: number): string {
  const { round } = room;
  const barista = room.barista.enabled;
  const leads = holders(room, 'lead').map((lead) => lead.id);
  const leadsHere = !barista && leads.includes(viewer);
  if (!round) {
    if (barista)
      return `Barista opens round 1 once ${reviewerIds(room).length > 0 ? '' : 'somebody holds the reviewer role and '}the head is quiet.`;
    return leadsHere ? 'Open round 1 with open_review_round.' : `Waiting for ${leadsOr(room, leads)} to open round 1.`;
  }
  if (!round.closed) {
    if (barista && room.head.state !== 'open')
      return `The pull request is ${room.head.state}, and the clocks of round ${round.number} have stopped.`;
    const waiting = awaitedNow(room, round, now);
    if (waiting.length > 0) return `Waiting for ${namesOf(room, waiting)} to submit their reviews.`;
    if (leadsHere) return 'Every review is in: close the round with close_review_round, or go on with next_round after a push.';
    if (barista && round.reviews.length === 0) return `Nobody is left to review; ${nameOf(room, room.owner)} decides who does.`;
    return barista
      ? 'Every review is in; Barista closes the round.'
      : `Every review is in. Waiting for ${leadsOr(room, leads)} to close the round.`;
  }
  return afterClose(room, viewer, leads, leadsHere);
}

/** Where nobody leads, somebody must: the owner gives the role, or Barista does (B25). */
function leadsOr(room: RoomState, leads: readonly ParticipantId[]): string {
  return leads.length > 0 ? namesOf(room, leads) : 'a lead';
}

function afterClose(room: RoomState, viewer: ParticipantId, leads: readonly ParticipantId[], leadsHere: boolean): string {
  const round = room.round!;
  if (room.head.state !== 'open') return `The pull request is ${room.head.state}; there is nothing left to do.`;
  if (nextRoundIsComing(room)) return `Barista opens round ${round.number + 1} once the new head is quiet.`;
  const draft = room.draft?.round === round.number ? room.draft : null;
  if (draft?.posting.status === 'posted') return `The review of round ${round.number} is posted. The next review needs a new round.`;
  if (draft) return viewer === room.owner ? 'The draft is ready: edit and post it.' : 'The draft is ready for the owner to post.';
  if (leadsHere) return 'Write the combined review with draft_review, or open the next round after a push.';
  if (!room.barista.enabled) return `Waiting for ${leadsOr(room, leads)} to draft the review.`;
  if (isAskedFor(round)) return `Waiting for ${leadsOr(room, leads)} to draft the review.`;
  if (fixes(room).length > 0) return whileFixesAreMissing(room, viewer);
  return 'Waiting for answers to findings; Barista asks for the draft after that.';
}

function whileFixesAreMissing(room: RoomState, viewer: ParticipantId): string {
  const owner = nameOf(room, room.owner);
  const offered = viewer === room.owner && offersOf(room).length > 0;
  if (room.round!.number >= LIMITS.rounds)
    return `Barista opens no further round: ${owner} takes the final draft, or asks for a sixth round.`;
  if (pushableFixes(room).length === 0) {
    const inDispute = `What is left is in dispute (${named(disputes(room))}): ${owner} decides.`;
    return offered ? `${inDispute} Take the final draft, or have the author accept or the raiser withdraw.` : inDispute;
  }
  if (offered) return 'Something still needs a fix: wait for a push, or take the final draft now.';
  return `${holds(room, viewer, 'author') ? 'Push the fixes.' : 'Waiting for a push with the fixes.'} Barista opens the next round after it.`;
}

import type { RoundCommand } from '../commands.js';
import type { FreshHead, HeadMove, HeadSeen, RoomFact } from '../events.js';
import type { Actor, CloseReason, RoomState, Round } from '../state.js';
import type { PullRequestState } from '../words.js';
import { namesOf } from '../members.js';
import { awaited, missing, openRound, reviewerIds, unsettled } from '../rounds.js';
import { type Decision, type Refused, done, lacksRole, owesReview, refuse, repeat } from './checks.js';

/** O1. */
export function open(room: RoomState, command: RoundCommand & { type: 'openRound' }): Decision {
  const { round } = room;
  if (round && isRepeat(round.openedBy, round.openedVia === 'open', round.openedSeq, room, command)) {
    return repeat({ round: round.number });
  }
  const refused = lacksRole(room, command.by, 'lead') ?? roundIsOpen(room);
  if (refused) return refused;
  const { head } = command;
  if (!head) return headIsUnknown('no round was opened');
  const old = headIsOld(room, head);
  if (old) return old;
  return done([...headFacts(room, head, null), roundOpened(room, command.by, 'open', head)], { round: nextNumber(room) });
}

/** N1: closes the open round and opens the next at the new head, or does neither. */
export function next(room: RoomState, command: RoundCommand & { type: 'nextRound' }): Decision {
  const { round } = room;
  if (round && isRepeat(round.openedBy, round.openedVia === 'next', round.openedSeq, room, command)) {
    return repeat({ closed: round.number - 1, round: round.number });
  }
  const refused = lacksRole(room, command.by, 'lead');
  if (refused) return refused;
  const current = openRound(room);
  if (!current) return refuse('no_open_round', 'No round is open.', { hint: 'Call open_review_round.' });
  const { head } = command;
  if (!head) return headIsUnknown('nothing was closed');
  const blocked = headIsOld(room, head) ?? owesReview(room, current, command.by) ?? headHasNotMoved(current, head);
  if (blocked) return blocked;
  const waiting = awaited(room, current);
  if (waiting.length > 0 && !command.force) {
    return refuse('reviews_missing', `${namesOf(room, waiting)} ${waiting.length === 1 ? 'has' : 'have'} not submitted a review.`, {
      hint: 'Wait for them, or pass force: true to close the round without their reviews.',
    });
  }
  const closed = roundClosed(room, current, command.by, 'next_round', head);
  const events = [...headFacts(room, head, null), closed, roundOpened(room, command.by, 'next', head)];
  return done(events, { closed: current.number, round: nextNumber(room) });
}

/** N2: may come before every reviewer has submitted, and without a head. */
export function close(room: RoomState, command: RoundCommand & { type: 'closeRound' }): Decision {
  const { round } = room;
  if (round?.closed && isRepeat(round.closed.by, round.closed.why === 'lead', round.closed.seq, room, command)) {
    return repeat({ round: round.number, missing: round.closed.missing });
  }
  const refused = lacksRole(room, command.by, 'lead');
  if (refused) return refused;
  const current = openRound(room);
  if (!current) return refuse('no_open_round', 'No round is open.', { hint: 'Call open_review_round to open one.' });
  const { head } = command;
  const blocked = (head && headIsOld(room, head)) ?? owesReview(room, current, command.by);
  if (blocked) return blocked;
  const closed = roundClosed(room, current, command.by, 'lead', head);
  return done([...(head ? headFacts(room, head, null) : []), closed], { round: current.number, missing: closed.missing });
}

/** S9: the same caller asks again and nothing has changed since. */
function isRepeat(did: Actor, sameTool: boolean, seq: number, room: RoomState, command: RoundCommand): boolean {
  return command.requestId === undefined && did === command.by && sameTool && seq === room.seq;
}

function roundIsOpen(room: RoomState): Refused | null {
  const current = openRound(room);
  if (!current) return null;
  const hint = room.barista.enabled
    ? 'Barista closes it and opens the next by itself; get_review_round says what it waits for.'
    : 'Close it with close_review_round, or go on with next_round.';
  return refuse('round_open', `Round ${current.number} is open.`, { hint });
}

function headIsUnknown(so: string): Refused {
  return refuse('forge_unavailable', `The pull request's head could not be read; ${so}.`, { hint: 'Try again in a minute.' });
}

/** DESIGN 14: the room has learnt of another head since the caller's edge read it, so what was read is old. */
function headIsOld(room: RoomState, read: FreshHead): Refused | null {
  if (!isOvertaken(room, read)) return null;
  return refuse('conflict', "The pull request's head changed while it was read.", { hint: 'The same call again reads it anew.' });
}

/** P4: news that was read before the room learnt of other news; which of the two is newer only another look can tell. */
export function isOvertaken({ head }: RoomState, { sha, baseSha, state, knownSeq }: HeadSeen): boolean {
  const isNews = sha !== head.sha || baseSha !== head.baseSha || state !== head.state;
  return isNews && knownSeq !== undefined && knownSeq !== head.seq;
}

function headHasNotMoved(round: Round, head: FreshHead): Refused | null {
  if (head.sha !== round.headSha) return null;
  return refuse('head_not_moved', `The pull request is still at ${round.headSha.slice(0, 7)}, round ${round.number}'s commit.`, {
    hint: 'Push the fixes first, or close the round with close_review_round.',
  });
}

/** What a fresh look at the pull request adds to what the room knows; nothing once it has ended (R12). `move` is null where no note is due (P1). */
export function headFacts(
  room: RoomState,
  read: { readonly sha: string; readonly baseSha: string; readonly state: PullRequestState },
  move: HeadMove | null,
): RoomFact[] {
  if (room.ended) return [];
  const facts: RoomFact[] = [];
  if (read.sha !== room.head.sha || read.baseSha !== room.head.baseSha) {
    facts.push({ type: 'HeadLearnt', sha: read.sha, baseSha: read.baseSha, move });
  }
  if (read.state !== room.head.state) facts.push({ type: 'PullRequestChanged', state: read.state });
  return facts;
}

export function nextNumber(room: RoomState): number {
  return (room.round?.number ?? 0) + 1;
}

export function roundOpened(
  room: RoomState,
  by: Actor,
  via: 'open' | 'next',
  head: { readonly sha: string; readonly baseSha: string },
): RoomFact & { type: 'RoundOpened' } {
  return {
    type: 'RoundOpened',
    number: nextNumber(room),
    headSha: head.sha,
    baseSha: head.baseSha,
    by,
    via,
    reviewers: reviewerIds(room),
    carried: unsettled(room).map((finding) => finding.id),
  };
}

export function roundClosed(
  room: RoomState,
  round: Round,
  by: Actor,
  why: CloseReason,
  head: { readonly sha: string } | null,
): RoomFact & { type: 'RoundClosed' } {
  return { type: 'RoundClosed', number: round.number, by, why, missing: missing(room, round), head: head && { sha: head.sha } };
}

import type { Command } from '../commands.js';
import type { RoomFact } from '../events.js';
import type { RoomState } from '../state.js';
import { isPresent } from '../members.js';
import { answer, resolve } from './answers.js';
import { type Decision, type Done, notAMember, refuse, repeat } from './checks.js';
import { edit, finalDraft, post, save } from './drafts.js';
import { archive, deleteAgent, join, leave, setBarista, setRecipe, setRoles } from './members.js';
import { decline, reveal, submit } from './reviews.js';
import { close, next, open } from './rounds.js';
import { roomIsFull } from './size.js';

export type { Decision, Done, Refused } from './checks.js';

/**
 * What becomes of a command in a room at a moment (epoch milliseconds): events and a result, or a refusal.
 * Pure and total; the workflow's validator and its handler both ask it, and nothing else decides.
 */
export function decide(room: RoomState, command: Command, now: number): Decision {
  const first = firstResult(room, command);
  if (first) return first;
  if (room.ended && command.type !== 'deleteAgent' && !isSoAlready(room, command)) {
    return refuse('room_closed', `Room ${room.slug} has ended (${room.ended.reason}).`, { hint: 'Open a new room for this pull request.' });
  }
  const decision = (needsMembership(room, command) ? notAMember(room, command.by) : null) ?? dispatch(room, command, now);
  if (decision.kind === 'refused') return decision;
  const remembered = remembering(command, decision);
  return roomIsFull(room, command, remembered, now) ?? remembered;
}

/** R7: joining is none for whoever is in the room, nor leaving for whoever has left it, so that its end refuses nothing (R12). */
function isSoAlready(room: RoomState, command: Command): boolean {
  if (command.type === 'join') return isPresent(room, command.participant.id);
  return command.type === 'leave' && !isPresent(room, command.by);
}

function dispatch(room: RoomState, command: Command, now: number): Decision {
  switch (command.type) {
    case 'join':
      return join(room, command, now);
    case 'leave':
      return leave(room, command);
    case 'deleteAgent':
      return deleteAgent(room, command);
    case 'setRoles':
      return setRoles(room, command);
    case 'setRecipe':
      return setRecipe(room, command);
    case 'setBarista':
      return setBarista(room, command);
    case 'finalDraft':
      return finalDraft(room, command);
    case 'archive':
      return archive(room, command);
    case 'openRound':
      return open(room, command);
    case 'nextRound':
      return next(room, command);
    case 'closeRound':
      return close(room, command);
    case 'submitReview':
      return submit(room, command, now);
    case 'declineReview':
      return decline(room, command, now);
    case 'reveal':
      return reveal(room, command);
    case 'answerFinding':
      return answer(room, command, now);
    case 'resolveFinding':
      return resolve(room, command, now);
    case 'saveDraft':
      return save(room, command);
    case 'editDraft':
      return edit(room, command);
    case 'postDraft':
      return post(room, command);
  }
}

/** Joining and leaving speak for themselves, and the owner acts whether or not it is in the room. */
function needsMembership(room: RoomState, command: Command): boolean {
  switch (command.type) {
    case 'reveal':
      return command.by !== room.owner;
    case 'join':
    case 'leave':
    case 'deleteAgent':
    case 'setRoles':
    case 'setRecipe':
    case 'setBarista':
    case 'finalDraft':
    case 'archive':
    case 'editDraft':
    case 'postDraft':
      return false;
    default:
      return true;
  }
}

/** S9: where a request id is given, it alone decides whether the call is a repeat. */
function firstResult(room: RoomState, command: Command): Decision | null {
  const known = room.requests.find((request) => request.by === command.by && request.id === command.requestId);
  return known ? repeat(known.result) : null;
}

/** Remembered before what it did, so that a round's own event stays the room's last (S9's "nothing changed since"). */
function remembering(command: Command, decision: Done): Done {
  if (command.requestId === undefined) return decision;
  const remembered: RoomFact = { type: 'RequestRemembered', request: { by: command.by, id: command.requestId, result: decision.result } };
  return { ...decision, events: [remembered, ...decision.events] };
}

import type { RoomFact } from '../room/events.js';
import type { ParticipantId, RoomState, Sha } from '../room/state.js';
import { holders, participantOf } from '../room/members.js';
import { roundClosed, roundOpened } from '../room/decide/rounds.js';
import type { RoleChange } from '../room/members.js';
import type { Action } from './step.js';

/**
 * What an action of Barista's adds to the room. `head` is the pull request's head as just read, null where the
 * forge could not be reached. The assembled draft is made by an activity, since it quotes texts.
 */
export function factsOf(room: RoomState, action: Exclude<Action, { do: 'assembleDraft' }>, head: { readonly sha: Sha } | null): RoomFact[] {
  switch (action.do) {
    case 'openRound':
      return [roundOpened(room, 'barista', 'open', room.head)];
    case 'closeRound':
      return room.round ? [roundClosed(room, room.round, 'barista', action.reason, head)] : [];
    case 'remindReviewers':
      return [{ type: 'ReviewersReminded', reviewers: action.reviewers }];
    case 'noteIdleRanOut':
      return room.round ? [{ type: 'IdleRanOut', number: room.round.number }] : [];
    case 'noteNoReview':
      return room.round ? [{ type: 'NoReviewNoted', number: room.round.number }] : [];
    case 'noteRoundLimit':
      return [{ type: 'RoundLimitNoted' }];
    case 'noteFixesNotPushed':
      return [{ type: 'FixesNotPushedNoted' }];
    case 'noteDraftStale':
      return [{ type: 'DraftStaleNoted' }];
    case 'askDraft':
      return [{ type: 'DraftAsked', leads: action.leads, why: room.round?.drafting.finalAt == null ? 'ready' : 'final' }];
    case 'remindLeads':
      return [{ type: 'LeadsReminded', leads: action.leads }];
    case 'handOff':
      return [
        { type: 'RolesChanged', roles: handedTo(room, action.to), why: 'hand_off' },
        { type: 'DraftAsked', leads: [action.to], why: 'hand_off' },
      ];
    case 'endRoom':
      return [{ type: 'RoomEnded', reason: action.reason }];
  }
}

/** B19: all agent leads lose the role to the one. */
function handedTo(room: RoomState, to: ParticipantId): RoleChange[] {
  const former = holders(room, 'lead').filter((lead) => lead.kind === 'agent' && lead.id !== to);
  const roles = participantOf(room, to)?.roles ?? [];
  return [
    ...former.map((lead) => ({ id: lead.id, roles: lead.roles.filter((role) => role !== 'lead') })),
    { id: to, roles: ['lead', ...roles.filter((role) => role !== 'lead')] },
  ];
}

import type { CommandResult, FindingId, ParticipantId, RoomState, Round } from '../state.js';
import type { RoomFact } from '../events.js';
import type { RefusalCode, Role } from '../words.js';
import type { RefusalFacts } from '../refusal.js';
import { type Lines, wrongRange } from '../lines.js';
import { holders, holds, isPresent, listed, nameOf } from '../members.js';
import { hasDeclined, hasSubmitted } from '../rounds.js';

/** What becomes of a command: events and a result, or a refusal that says what to do. Nothing in between. */
export type Decision = Done | Refused;
export interface Done {
  readonly kind: 'done';
  /** Empty for a repeat: it gets its first result and changes nothing (S9). */
  readonly events: readonly RoomFact[];
  readonly result: CommandResult;
}
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: RefusalFacts;
}

export function done(events: readonly RoomFact[], result: CommandResult = {}): Done {
  return { kind: 'done', events, result };
}

export function repeat(result: CommandResult): Done {
  return done([], result);
}

export function refuse(code: RefusalCode, message: string, more: { hint?: string; field?: string } = {}): Refused {
  return { kind: 'refused', refusal: { code, message, ...more } };
}

export function notAMember(room: RoomState, by: ParticipantId): Refused | null {
  if (isPresent(room, by)) return null;
  return refuse('not_a_member', `You are not in room ${room.slug}.`, { hint: 'Call join_room first.' });
}

export function notTheOwner(room: RoomState, by: ParticipantId): Refused | null {
  if (by === room.owner) return null;
  return refuse('role_required', `Only the owner of room ${room.slug}, ${nameOf(room, room.owner)}, can do this.`);
}

/** R5: a refusal names the role that is needed and who holds it. */
export function lacksRole(room: RoomState, by: ParticipantId, role: Role): Refused | null {
  if (holds(room, by, role)) return null;
  const who = holders(room, role).map((participant) => `@${participant.name}`);
  const held = who.length === 0 ? 'Nobody holds it' : `${listed(who)} ${who.length === 1 ? 'holds' : 'hold'} it`;
  return refuse('role_required', `This needs the role ${role}. ${held}.`, { hint: 'The owner can change roles.' });
}

/** N3: a lead who is also a reviewer submits, or declines, before closing or going on. */
export function owesReview(room: RoomState, round: Round, by: ParticipantId): Refused | null {
  if (!holds(room, by, 'reviewer') || hasSubmitted(round, by) || hasDeclined(round, by)) return null;
  return refuse('reviews_missing', `You review round ${round.number} too: submit your own review first.`, {
    hint: 'Call submit_review, or decline_review if you cannot review this round.',
  });
}

/** Once the owner has posted the latest round's draft, or is posting it, the draft is not to be changed (D5, D8). */
export function draftIsFixed(room: RoomState): Refused | null {
  const { draft } = room;
  if (!draft || draft.round !== room.round?.number) return null;
  switch (draft.posting.status) {
    case 'draft':
      return null;
    case 'posting':
      return refuse('conflict', `The draft of round ${draft.round} is being posted.`, { hint: 'Look again in a minute.' });
    case 'posted':
      return refuse('posted', `The review of round ${draft.round} is posted.`, { hint: 'The next review needs a new round.' });
  }
}

/** S6: a range ends at its finding's line and starts before it. */
export function badRange(findings: readonly Lines[]): Refused | null {
  for (const [index, finding] of findings.entries()) {
    const wrong = wrongRange(finding);
    const field = `findings[${index}].start_line`;
    if (wrong !== null) return refuse('invalid', `${field} ${wrong}.`, { field });
  }
  return null;
}

export function unknownFinding(room: RoomState, id: FindingId): Refused {
  if (room.settled.includes(id)) {
    return refuse('settled', `Finding ${id} was settled in an earlier round.`, { field: 'finding_id' });
  }
  return refuse('not_found', `There is no finding ${id} in the latest round.`, {
    field: 'finding_id',
    hint: 'get_review_round lists the findings with their ids.',
  });
}

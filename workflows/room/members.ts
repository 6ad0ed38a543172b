import type { Participant, ParticipantId, RoomState } from './state.js';
import type { Recipe, Role } from './words.js';

/** Who is in the room and what they may do (R). */

export function participantOf(room: RoomState, id: ParticipantId): Participant | undefined {
  return room.participants.find((participant) => participant.id === id);
}

export function isPresent(room: RoomState, id: ParticipantId): boolean {
  return participantOf(room, id)?.present === true;
}

export function holds(room: RoomState, id: ParticipantId, role: Role): boolean {
  return participantOf(room, id)?.roles.includes(role) === true;
}

/** Who holds a role now, earliest joined first. Whoever has left holds none (R7). */
export function holders(room: RoomState, role: Role): Participant[] {
  return room.participants.filter((participant) => participant.roles.includes(role));
}

export function someoneHolds(room: RoomState, role: Role): boolean {
  return holders(room, role).length > 0;
}

/** `@grok`, also for one that has been deleted since. */
export function nameOf(room: RoomState, id: string): string {
  if (id === 'barista') return 'barista';
  const participant = participantOf(room, id);
  return participant ? `@${participant.name}` : 'a deleted agent';
}

/** `@a, @b and @c`; `nobody` for an empty list. */
export function namesOf(room: RoomState, ids: readonly ParticipantId[]): string {
  return listed(ids.map((id) => nameOf(room, id)));
}

export function listed(words: readonly string[]): string {
  if (words.length === 0) return 'nobody';
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}

/** New roles of the participants that a newcomer's default changes; the newcomer last. */
export interface RoleChange {
  readonly id: ParticipantId;
  readonly roles: readonly Role[];
}

/**
 * R1, R10, R11: the default role of an agent that joins without one, by how many agents already hold a role.
 * People do not count. A default never makes a second lead and never takes a role that was set by hand.
 */
export function defaultRoles(room: RoomState, newcomer: ParticipantId): RoleChange[] {
  const agents = room.participants.filter((other) => other.kind === 'agent' && other.id !== newcomer && other.roles.length > 0);
  return DEFAULTS[room.recipe](agents, holders(room, 'lead'), newcomer);
}

type Defaults = (agents: readonly Participant[], leads: readonly Participant[], newcomer: ParticipantId) => RoleChange[];

const DEFAULTS: Record<Recipe, Defaults> = {
  panel: (agents, leads, id) => [{ id, roles: agents.length === 0 && leads.length === 0 ? ['lead', 'reviewer'] : ['reviewer'] }],
  build_duel: (agents, leads, id) => {
    if (agents.length === 0) return [{ id, roles: ['author'] }];
    if (agents.length === 1 && leads.length === 0) return [{ id, roles: ['lead', 'reviewer'] }];
    // Only the second agent's own default gives way: it kept the lead until somebody came who only leads.
    const [second, ...otherLeads] = leads;
    if (agents.length === 2 && second && otherLeads.length === 0 && hasDefaultOfSecond(second)) {
      return [
        { id: second.id, roles: ['reviewer'] },
        { id, roles: ['lead'] },
      ];
    }
    return [{ id, roles: ['reviewer'] }];
  },
};

function hasDefaultOfSecond({ kind, roles, rolesByHand }: Participant): boolean {
  return kind === 'agent' && !rolesByHand && roles.length === 2 && roles.includes('lead') && roles.includes('reviewer');
}

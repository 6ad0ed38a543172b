import type { JoinCommand, OwnerCommand } from '../commands.js';
import type { RoomFact, RolesChanged } from '../events.js';
import type { Durations, RoomState } from '../state.js';
import { ROLES, type Role } from '../words.js';
import { defaultRoles, isPresent, participantOf } from '../members.js';
import { apply } from '../apply.js';
import { type Decision, done, notAMember, notTheOwner, refuse, repeat } from './checks.js';

/** R1, R4, R7. Joining again is no joining: roles stay as they are, also none. */
export function join(room: RoomState, command: JoinCommand & { type: 'join' }, now: number): Decision {
  const { id, name, kind } = command.participant;
  const result = { participant: id };
  const refused = command.by === id ? null : notTheOwner(room, command.by);
  if (refused) return refused;
  if (isPresent(room, id)) return repeat(result);
  const joined: RoomFact = { type: 'ParticipantJoined', id, name, kind };
  if (kind === 'person') return done([joined], result);
  const roles = defaultRoles(apply(room, { ...joined, at: now }), id);
  return done([joined, { type: 'RolesChanged', roles, why: 'default' }], result);
}

export function leave(room: RoomState, command: JoinCommand & { type: 'leave' }): Decision {
  if (!participantOf(room, command.by)) return notAMember(room, command.by)!;
  if (!isPresent(room, command.by)) return repeat({});
  return done([{ type: 'ParticipantLeft', id: command.by }]);
}

/** R6. Sent to every room of the agent; a room that does not know it has nothing to do. */
export function deleteAgent(room: RoomState, command: JoinCommand & { type: 'deleteAgent' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  const agent = participantOf(room, command.agent);
  if (!agent) return repeat({});
  if (agent.kind === 'person') return refuse('invalid', `@${agent.name} is a person; only agents can be deleted.`);
  return done([{ type: 'AgentDeleted', id: agent.id, name: agent.name }]);
}

/** R3. Participants that are not named keep their roles. */
export function setRoles(room: RoomState, command: OwnerCommand & { type: 'setRoles' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  const changes: { id: string; roles: Role[] }[] = [];
  for (const [id, wanted] of Object.entries(command.roles)) {
    const participant = participantOf(room, id);
    if (!participant?.present) {
      return refuse('not_found', `There is no participant ${id} in room ${room.slug}.`, { field: `roles.${id}` });
    }
    const roles = ROLES.filter((role) => wanted.includes(role));
    if (!sameRoles(participant.roles, roles)) changes.push({ id, roles });
  }
  if (changes.length === 0) return repeat({});
  const event: RolesChanged = { type: 'RolesChanged', roles: changes, why: 'owner' };
  return done([event]);
}

function sameRoles(a: readonly Role[], b: readonly Role[]): boolean {
  return ROLES.every((role) => a.includes(role) === b.includes(role));
}

export function setRecipe(room: RoomState, command: OwnerCommand & { type: 'setRecipe' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  return command.recipe === room.recipe ? repeat({}) : done([{ type: 'RecipeChanged', recipe: command.recipe }]);
}

/** B26, and the room's durations: a change acts from then on. */
export function setBarista(room: RoomState, command: OwnerCommand & { type: 'setBarista' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  const enabled = command.enabled ?? room.barista.enabled;
  const durations: Durations = { ...room.durations, ...command.durations };
  const same = enabled === room.barista.enabled && names(durations).every((name) => durations[name] === room.durations[name]);
  return same ? repeat({}) : done([{ type: 'BaristaChanged', enabled, durations }]);
}

function names(durations: Durations): (keyof Durations)[] {
  return Object.keys(durations) as (keyof Durations)[];
}

/** R12. */
export function archive(room: RoomState, command: OwnerCommand & { type: 'archive' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  if (room.draft?.posting.status === 'posting') {
    return refuse('conflict', 'The draft is being posted.', { hint: 'Archive the room once it is posted.' });
  }
  return done([{ type: 'RoomEnded', reason: 'archived' }]);
}

import type { Agent } from '../../prisma/store.js';
import { participantOf } from '../../workflows/room/members.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { Participant } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';
import { iso } from '../views/time.js';
import { roomOfOwner } from './access.js';
import { wireParticipant } from './membership.js';
import { send } from './write.js';

export function wireAgent({ id, name, createdAt }: Agent) {
  return { id, name, created_at: iso(createdAt) };
}

/** For an agent whose key was lost: whoever holds the old one is out from now on. */
export async function renewKey(id: string, call: Call) {
  const renewed = await call.deps.store.accounts.renewKey(call.caller.id, id);
  if (renewed === null) throw noAgent(id);
  return { ...wireAgent(renewed.agent), key: renewed.key };
}

/** R6: its keys stop at once, then every living room of the owner forgets it. Safe to repeat, also after half of it. */
export async function deleteAgent(id: string, call: Call): Promise<void> {
  const { store } = call.deps;
  const deleted = await store.accounts.deleteAgent(call.caller.id, id);
  const rooms = await store.rooms.ofOwner(call.caller.id);
  let known = deleted;
  for (const { slug, endedAt } of rooms) {
    if (endedAt !== null) continue;
    const room = await store.rooms.state(slug);
    if (room === null || participantOf(room, id)?.kind !== 'agent') continue;
    known = true;
    await send(call, room, { type: 'deleteAgent', by: call.caller.id, agent: id });
  }
  if (!known) throw noAgent(id);
}

const noAgent = (id: string) => new Refusal('not_found', `You have no agent ${id}.`, undefined, 'id');

/** R4: the owner adds one of its agents; it has its default role at once. */
export async function addAgent(slug: string, agentId: string, call: Call) {
  const room = await roomOfOwner(call, slug);
  const agent = await call.deps.store.accounts.agent(room.owner, agentId);
  if (agent === null) throw new Refusal('not_found', `You have no agent ${agentId}.`, 'GET /agents lists yours.', 'agent_id');
  return added(slug, { id: agent.id, name: agent.name, kind: 'agent' }, call);
}

/** The owner makes a person a participant, without a role (R2). */
export async function addPerson(slug: string, userId: string, call: Call) {
  await roomOfOwner(call, slug);
  const user = await call.deps.store.accounts.user(userId);
  if (user === null) throw new Refusal('not_found', `There is no user ${userId}.`, undefined, 'user_id');
  return added(slug, { id: user.id, name: user.name, kind: 'person' }, call);
}

async function added(slug: string, participant: Pick<Participant, 'id' | 'name' | 'kind'>, call: Call) {
  await send(call, await roomOfOwner(call, slug), { type: 'join', by: call.caller.id, participant });
  const room = await roomOfOwner(call, slug);
  return { participant: wireParticipant(participantOf(room, participant.id)!) };
}

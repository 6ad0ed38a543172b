import { isPresent, participantOf } from '../../workflows/room/members.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { ParticipantId, RoomState } from '../../workflows/room/state.js';
import type { Call, Caller } from '../deps.js';

/** Who may know of a room, be in it, and own it: asked again on every call, for a slug is a name and no key. */

/** The person whose rooms these are: an agent joins only its owner's (R11). */
export function ownerOf(caller: Caller): ParticipantId {
  return caller.kind === 'agent' ? caller.ownerId : caller.id;
}

/** The room, for a caller that may know of it. @throws Refusal `not_found`, the same whether it is another's or not there */
export async function knownRoom({ deps, caller }: Call, slug: string): Promise<RoomState> {
  const room = await deps.store.rooms.state(slug);
  if (room !== null && (ownerOf(caller) === room.owner || isPresent(room, caller.id))) return room;
  throw new Refusal('not_found', `There is no room ${slug}.`, 'list_rooms names the rooms you can join.', 'room');
}

/** As {@link knownRoom}, also for whoever has left it: the answer to leaving may have been lost (S9). */
export async function roomToLeave(call: Call, slug: string): Promise<RoomState> {
  const room = await call.deps.store.rooms.state(slug);
  return room !== null && participantOf(room, call.caller.id) !== undefined ? room : knownRoom(call, slug);
}

/** The room, for somebody who is in it. @throws Refusal as {@link knownRoom}, and `not_a_member` */
export async function roomOfMember(call: Call, slug: string): Promise<RoomState> {
  const room = await knownRoom(call, slug);
  if (isPresent(room, call.caller.id)) return room;
  throw new Refusal('not_a_member', `You are not in room ${slug}.`, 'Call join_room first.');
}

/** The room, for its owner. @throws Refusal as {@link knownRoom}, and `role_required` */
export async function roomOfOwner(call: Call, slug: string): Promise<RoomState> {
  const room = await knownRoom(call, slug);
  if (call.caller.kind === 'person' && call.caller.id === room.owner) return room;
  const owner = participantOf(room, room.owner);
  throw new Refusal('role_required', `Only the owner of room ${slug}, @${owner?.name ?? 'its owner'}, can do this.`, 'Ask the owner.');
}

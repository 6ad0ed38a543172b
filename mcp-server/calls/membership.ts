import { participantOf } from '../../workflows/room/members.js';
import type { Participant, RoomState } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';
import { knownRoom, roomToLeave } from './access.js';
import { nextStepsFor } from './round-view.js';
import { asked, send } from './write.js';

interface Input {
  readonly room: string;
  readonly request_id?: string | undefined;
}

/** Joins the caller; being in the room already is no joining again (R7). */
export async function join({ room: slug, request_id }: Input, call: Call) {
  const { id, name, kind } = call.caller;
  await send(call, await knownRoom(call, slug), { ...asked(call, 'join', request_id), participant: { id, name, kind } });
  const room = await knownRoom(call, slug);
  return {
    participant: wireParticipant(participantOf(room, id)!),
    room: slug,
    members: wireMembers(room),
    last_message_id: String((await call.deps.store.messages.lastId(slug)) ?? 0),
    next_steps: await nextStepsFor(call, slug),
  };
}

/** Leaves; leaving twice is leaving once. */
export async function leave({ room: slug, request_id }: Input, call: Call) {
  await send(call, await roomToLeave(call, slug), asked(call, 'leave', request_id));
  return { left: true };
}

export function wireParticipant({ id, name, kind, roles }: Participant) {
  return { id, name, kind, roles };
}

export function wireMembers(room: RoomState) {
  return room.participants.filter((participant) => participant.present).map(wireParticipant);
}

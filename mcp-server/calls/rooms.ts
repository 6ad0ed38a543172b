import type { RoomRow } from '../../prisma/store.js';
import type { Call } from '../deps.js';
import { ownerOf } from './access.js';

/** The living rooms the caller can join or is in, newest first, with its roles in each. */
export async function listRooms({ deps, caller }: Call): Promise<object[]> {
  const [owned, joined] = await Promise.all([deps.store.rooms.ofOwner(ownerOf(caller)), deps.store.rooms.ofParticipant(caller.id)]);
  const roles = new Map(joined.map((room) => [room.slug, room.roles]));
  return distinct([...owned, ...joined])
    .filter((room) => room.endedAt === null)
    .map((room) => ({ ...listing(room), roles: roles.get(room.slug) ?? [], joined: roles.has(room.slug) }));
}

export function distinct(rooms: readonly RoomRow[]): RoomRow[] {
  const bySlug = new Map(rooms.map((room) => [room.slug, room]));
  return [...bySlug.values()].sort((a, b) => b.createdAt - a.createdAt);
}

export function listing(room: RoomRow) {
  return { slug: room.slug, title: room.title, pull_request: room.pullRequest.url, recipe: room.recipe };
}

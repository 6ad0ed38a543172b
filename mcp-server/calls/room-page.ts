import { Duration } from 'luxon';
import type { RoomRow } from '../../prisma/store.js';
import type { Calls } from '../../workflows/barista/idle.js';
import { type Listing, listingOf } from '../../workflows/barista/listing.js';
import { nextStep } from '../../workflows/barista/policy.js';
import { isPresent } from '../../workflows/room/members.js';
import type { Durations, RoomState } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';
import { iso } from '../views/time.js';
import { wireTroubles } from '../views/troubles.js';
import { knownRoom } from './access.js';
import { wireMembers } from './membership.js';
import { distinct, listing } from './rooms.js';
import { readRound } from './round-view.js';
import { callsIn } from './world.js';

/** Every room of a person, ended ones too, newest first. Nothing in a row tells of a hidden review (V2). */
export async function listOwnRooms({ deps, caller }: Call): Promise<object[]> {
  const [owned, joined] = await Promise.all([deps.store.rooms.ofOwner(caller.id), deps.store.rooms.ofParticipant(caller.id)]);
  const rooms = distinct([...owned, ...joined]);
  const listings = await deps.store.rooms.listings(rooms);
  return Promise.all(
    rooms.map(async (room) => {
      const listed = listings.get(room.slug)!;
      const members = listed.waitingOn.length === 0 ? [] : await deps.store.rooms.members(room.slug);
      return wireRow(room, listed, (id) => members.find((member) => member.id === id)?.name ?? id);
    }),
  );
}

function wireRow(room: RoomRow, { phase, chips, waitingOn }: Listing, nameOf: (id: string) => string) {
  return {
    ...listing(room),
    state: room.endedAt === null ? 'living' : 'ended',
    phase,
    round: room.round,
    chips,
    waiting_on: waitingOn.map((id) => ({ id, name: nameOf(id) })),
    opened_at: iso(room.createdAt),
    ended_at: room.endedAt === null ? null : iso(room.endedAt),
  };
}

/** One room whole, its latest round as the caller may see it; null for an owner that has left the room. */
export async function roomPage(call: Call, slug: string): Promise<object> {
  const room = await knownRoom(call, slug);
  const { store, now } = call.deps;
  const { forge, repository } = room.pullRequest;
  const [row, calls, troubles, review] = await Promise.all([
    store.rooms.get(slug),
    callsIn(call.deps, room),
    store.forgeStates.of(forge, repository),
    isPresent(room, call.caller.id) ? readRound({ room: slug }, call) : null,
  ]);
  return {
    ...wireRow(row!, listingOf(room, calls, now()), (id) => room.participants.find((participant) => participant.id === id)?.name ?? id),
    ...settings(room),
    clocks: wireClocks(room, calls, now()),
    members: wireMembers(room),
    forge: { troubles: wireTroubles(troubles, now()) },
    review,
  };
}

/** What the query `clocks` answers: none while Barista acts. They tell who submitted and who is idle, as anybody is shown (V2). */
function wireClocks(room: RoomState, calls: Calls, now: number) {
  const step = nextStep(room, calls, now);
  return step.kind === 'wait' ? step.clocks.map(({ name, what, at }) => ({ name, what, at: iso(at) })) : [];
}

export function settings(room: RoomState) {
  return {
    slug: room.slug,
    recipe: room.recipe,
    barista: { enabled: room.barista.enabled, durations: wireDurations(room.durations) },
  };
}

function wireDurations(durations: Durations): Record<string, string> {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(durations).map(([name, ms]) => [
      snake(name),
      Duration.fromMillis(ms as number)
        .rescale()
        .toISO(),
    ]),
  );
}

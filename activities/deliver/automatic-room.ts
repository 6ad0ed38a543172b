import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { AutomaticRooms } from '../../prisma/store.js';
import type { AutomaticRoom, DeliveryActivities, DeliveryName } from '../../workflows/delivery/activities.js';
import { carries } from '../../workflows/delivery/lag.js';
import { participantOf } from '../../workflows/room/members.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { ForgeError, type KnownHead } from '../forge/port.js';
import { refOf } from '../head.js';
import { openRoom } from '../open-room.js';
import { failureOfForge } from './failures.js';
import type { DeliveryDeps } from './index.js';

/**
 * Marks the room that a delivery opens for an owner: a delivery that died between opening it and adding its crew knows
 * it again, and no other one does. The crew is part of it, so that a crew set later is never added to an older room.
 */
export function slugEndOf({ forge, id }: DeliveryName, owner: string, { crew }: AutomaticRooms): string {
  return createHash('sha256')
    .update(JSON.stringify([forge, id, owner, crew]))
    .digest('hex')
    .slice(0, 16);
}

/** What may have changed since the delivery was looked at; a forge that does not say with the head was taken at its word. */
function whyNot({ state, draft, labels }: KnownHead, { label }: AutomaticRooms): string | null {
  if (state !== 'open') return `the pull request is ${state}`;
  if (draft === true) return 'the pull request is a draft';
  return label !== null && labels !== undefined && !carries(labels, label) ? `it no longer carries the label ${label}` : null;
}

/** Opens a room with what its owner has set for the repository, as its owner would (R4, R11). */
export function createOpenAutomaticRoom(deps: DeliveryDeps): DeliveryActivities['openAutomaticRoom'] {
  const { store, door } = deps;

  return async ({ delivery, owner: ownerId, pullRequest }): Promise<AutomaticRoom> => {
    const found = (await store.repositories.automatic(pullRequest.forge, pullRequest.repository)).find(({ owner }) => owner.id === ownerId);
    if (found === undefined) return { slug: null, why: 'rooms no longer open by themselves there' };
    const { owner, rooms } = found;
    const slugEnd = slugEndOf(delivery, ownerId, rooms);
    // Since it was looked at another delivery may have opened one, or the forge have been away for hours.
    const had = await store.rooms.everOf(ownerId, pullRequest.key);
    const own = had.find(({ slug }) => slug.endsWith(slugEnd));
    if (had.length > 0 && (own === undefined || own.endedAt !== null))
      return { slug: null, why: `@${owner.name} has, or had, room \`${had[0]!.slug}\` of it` };
    try {
      const { recipe, barista } = rooms;
      const { slug } = await openRoom(
        {
          owner,
          ref: refOf(pullRequest),
          recipe,
          barista,
          durations: {},
          another: false,
          slugEnd,
          // One that this delivery began is opened to its end.
          ...(own === undefined && { against: (head: KnownHead) => whyNot(head, rooms) }),
        },
        deps,
      );
      if (!slug.endsWith(slugEnd)) return { slug: null, why: `@${owner.name} has room \`${slug}\` of it` };
      const { joined, deleted } = await addCrew(slug, owner.id, rooms);
      const gone = deleted === 0 ? '' : `; ${deleted} of the crew ${deleted === 1 ? 'is' : 'are'} deleted and left out`;
      return { slug, why: `room \`${slug}\` opened by itself for @${owner.name}: ${recipe}, crew ${joined.join(', ') || 'none'}${gone}` };
    } catch (error) {
      if (error instanceof ForgeError) throw failureOfForge(error);
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'unavailable') throw ApplicationFailure.retryable(error.message, error.code);
      return { slug: null, why: `none opened for @${owner.name}: ${error.message}` };
    }
  };

  /** In their order; who was in the room before is not added again, nor is an agent that was deleted. */
  async function addCrew(slug: string, owner: string, { crew }: AutomaticRooms): Promise<{ joined: string[]; deleted: number }> {
    const joined: string[] = [];
    let deleted = 0;
    for (const id of crew) {
      const [agent, room] = await Promise.all([store.accounts.agent(owner, id), store.rooms.state(slug)]);
      if (agent === null) deleted += 1;
      else {
        joined.push(`@${agent.name}`);
        if (room === null || participantOf(room, id)) continue;
        await door.send(slug, { type: 'join', by: owner, participant: { id, name: agent.name, kind: 'agent' } });
      }
    }
    return { joined, deleted };
  }
}

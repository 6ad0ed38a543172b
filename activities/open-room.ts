import type { Store } from '../prisma/store.js';
import { Refusal } from '../workflows/room/refusal.js';
import { DEFAULT_DURATIONS, type Durations, type PullRequest } from '../workflows/room/state.js';
import type { Recipe } from '../workflows/room/words.js';
import type { Forge, KnownHead, PullRequestRef } from './forge/port.js';
import { notReachable } from './not-reachable.js';
import type { Door } from './room-door.js';

export interface RoomToOpen {
  readonly owner: { readonly id: string; readonly name: string };
  /** Resolved. */
  readonly ref: PullRequestRef;
  readonly recipe: Recipe;
  readonly barista: boolean;
  readonly durations: Partial<Durations>;
  /** R8: beside the room there is. */
  readonly another: boolean;
  /** It opens by itself: ends the new room's slug, the same for whoever opens it again. Absent: by hand, and nobody can guess it. */
  readonly slugEnd?: string;
  /** Why a new room is not to open on what the pull request is now; null: nothing stands against it. */
  readonly against?: (head: KnownHead) => string | null;
}

interface OpenRoomDeps {
  readonly store: Store;
  readonly forge: Forge;
  readonly door: Door;
}

/**
 * Opens a room, or answers the living one of this owner and pull request. A room whose opening was cut short is
 * opened to its end by the same call again.
 * @throws {Refusal} `not_found` where the owner may not open rooms there (R11), or the pull request's branch is gone
 */
export async function openRoom(room: RoomToOpen, { store, forge, door }: OpenRoomDeps): Promise<{ slug: string; created: boolean }> {
  const { owner, ref, slugEnd } = room;
  if (!(await store.accounts.mayOpen(owner.id, ref.forge, ref.repository))) throw notReachable('pull_request');
  const [head, { title }] = await Promise.all([forge.head(ref), forge.describe(ref)]);
  if (head.headSha === null) throw new Refusal('not_found', head.reason, undefined, 'pull_request');
  const against = room.against?.(head) ?? null;
  if (against !== null) throw new Refusal('invalid', against, undefined, 'pull_request');
  const { forge: name, key, repository, url } = ref;
  const pullRequest: PullRequest = { forge: name, key, repository, url };
  const { room: row, created } = await store.rooms.open({
    ownerId: owner.id,
    pullRequest,
    title,
    recipe: room.recipe,
    another: room.another,
    ...(slugEnd !== undefined && { slugEnd }),
  });
  if (row.seq === 0) {
    await door.open({
      slug: row.slug,
      pullRequest,
      recipe: row.recipe,
      owner,
      head: { sha: head.headSha, baseSha: head.baseSha, state: head.state },
      barista: room.barista,
      durations: { ...DEFAULT_DURATIONS, ...room.durations },
      ...(slugEnd !== undefined && { automatic: true }),
    });
  }
  return { slug: row.slug, created };
}

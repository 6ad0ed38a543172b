import type { Store } from '../prisma/store.js';
import { Refusal } from '../workflows/room/refusal.js';
import { DEFAULT_DURATIONS, type Durations, type PullRequest } from '../workflows/room/state.js';
import type { Recipe } from '../workflows/room/words.js';
import type { Forge, PullRequestRef } from './forge/port.js';
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
  /** Ends the new room's slug, the same for whoever opens it again; absent: one that nobody can guess. */
  readonly slugEnd?: string;
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
  if (!(await store.accounts.mayOpen(owner.id, ref.forge, ref.repository))) throw notReachable();
  const [head, { title }] = await Promise.all([forge.head(ref), forge.describe(ref)]);
  if (head.headSha === null) throw new Refusal('not_found', head.reason, undefined, 'pull_request');
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
    });
  }
  return { slug: row.slug, created };
}

/** R11: the same whether it is not there or not this owner's to open, so that nobody can search for repositories. */
export function notReachable(): Refusal {
  return new Refusal(
    'not_found',
    'There is no such pull request, or you may not open rooms on its repository.',
    'Link the repository (barista repo link), or have the operator add its folder to BARISTA_LOCAL_REPOS.',
    'pull_request',
  );
}

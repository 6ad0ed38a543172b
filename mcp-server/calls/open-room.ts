import { ForgeError, type PullRequestRef } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { DEFAULT_DURATIONS, type Durations, type PullRequest } from '../../workflows/room/state.js';
import type { Recipe } from '../../workflows/room/words.js';
import type { Call } from '../deps.js';

interface OpenRoomInput {
  readonly pullRequest: string;
  readonly recipe: Recipe;
  readonly barista: boolean;
  readonly durations: Partial<Durations>;
  /** R8: beside the room there is. */
  readonly another: boolean;
}

/**
 * Opens a room, or answers the living one of this owner and pull request. A room whose opening was cut short is
 * opened to its end by the same call again.
 */
export async function openRoom(input: OpenRoomInput, { deps, caller }: Call): Promise<{ slug: string; created: boolean }> {
  const ref = await resolved(deps.forge, input.pullRequest);
  if (!(await deps.store.accounts.mayOpen(caller.id, ref.forge, ref.repository))) throw notReachable();
  const [head, { title }] = await Promise.all([deps.forge.head(ref), deps.forge.describe(ref)]);
  if (head.headSha === null) throw new Refusal('not_found', head.reason, undefined, 'pull_request');
  const { forge, key, repository, url } = ref;
  const pullRequest: PullRequest = { forge, key, repository, url };
  const { room, created } = await deps.store.rooms.open({
    ownerId: caller.id,
    pullRequest,
    title,
    recipe: input.recipe,
    another: input.another,
  });
  if (room.seq === 0) {
    await deps.door.open({
      slug: room.slug,
      pullRequest,
      recipe: room.recipe,
      owner: { id: caller.id, name: caller.name },
      head: { sha: head.headSha, baseSha: head.baseSha, state: head.state },
      barista: input.barista,
      durations: { ...DEFAULT_DURATIONS, ...input.durations },
    });
  }
  return { slug: room.slug, created };
}

async function resolved(forge: Call['deps']['forge'], text: string): Promise<PullRequestRef> {
  let named: PullRequestRef | null = null;
  try {
    named = parsePullRequest(text);
    return await forge.resolve(named);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    switch (error.kind) {
      case 'invalid':
        throw new Refusal('invalid', error.message, undefined, 'pull_request');
      case 'not_found':
        throw new Refusal('not_found', error.message, undefined, 'pull_request');
      case 'refused':
        // Of a forge it says which App or token lacks what, and where to mend it (W9); of this disk it would tell what is there.
        throw named === null || named.forge === 'local'
          ? notReachable()
          : new Refusal('not_found', error.message, undefined, 'pull_request');
      case 'unavailable':
        throw error;
    }
  }
}

/** R11: the same whether it is not there or not this owner's to open, so that nobody can search for repositories. */
function notReachable(): Refusal {
  return new Refusal(
    'not_found',
    'There is no such pull request, or you may not open rooms on its repository.',
    'Link the repository (barista repo link), or have the operator add its folder to BARISTA_LOCAL_REPOS.',
    'pull_request',
  );
}

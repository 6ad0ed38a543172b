import type { DeliveryActivities } from '../../workflows/delivery/activities.js';
import type { AccessHeard } from '../../workflows/delivery/heard.js';
import type { PullRequest } from '../../workflows/room/state.js';
import type { RoomRow } from '../../prisma/store.js';
import type { ActivityDeps } from '../deps.js';

/** Pull requests that are looked at because of one delivery; the watches of the others find it out (P4, B29). */
const PULL_REQUESTS = 200;
const ROOMS = 1_000;

/** Keeps what one of our Apps may reach now, until a call tells otherwise; and names the pull requests to look at. */
export function createChangeAccess({ store }: ActivityDeps): DeliveryActivities['changeAccess'] {
  return async ({ delivery: { forge }, heard, at }) => {
    const rooms = await roomsOf(heard);
    const repositories = new Set(heard.repositories ?? rooms.map(({ pullRequest }) => pullRequest.repository));
    for (const repository of repositories) {
      if (heard.what !== 'taken') await mend(repository);
      else
        await store.forgeStates.troubled(forge, repository, {
          identity: heard.identity,
          kind: 'refused',
          message: takenFrom(heard),
          since: at,
          until: null,
        });
    }
    // Rooms read as the operator; what the reviewer may not do shows when it posts.
    return { pullRequests: heard.identity === 'operator' ? pullRequestsOf(rooms) : [] };

    async function mend(repository: string): Promise<void> {
      for (const { identity, part } of await store.forgeStates.of(forge, repository))
        if (identity === heard.identity) await store.forgeStates.mended(forge, repository, identity, part);
    }
  };

  async function roomsOf({ account, place, repositories }: AccessHeard): Promise<RoomRow[]> {
    if (repositories !== null) return store.rooms.onRepositories('github', repositories, ROOMS);
    const urlStart = `${place}/${account}/`;
    const rooms = await store.rooms.onRepositories('github', { urlStart }, ROOMS);
    return rooms.filter(({ pullRequest }) => pullRequest.url.toLowerCase().startsWith(urlStart.toLowerCase()));
  }
}

function pullRequestsOf(rooms: readonly RoomRow[]): PullRequest[] {
  const byKey = new Map(rooms.map(({ pullRequest }) => [pullRequest.key, pullRequest]));
  return [...byKey.values()].slice(0, PULL_REQUESTS);
}

function takenFrom({ account, identity, url }: AccessHeard): string {
  const app = identity === 'operator' ? 'GitHub App' : 'reviewer App';
  return `${account} no longer lets the ${app} reach this repository: it was removed or suspended.${url === null ? '' : ` Mend it at ${url}`}`;
}

import { ForgeError, type PullRequestRef } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { notReachable, openRoom as openRoomOn } from '../../activities/open-room.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { Durations } from '../../workflows/room/state.js';
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

/** Opens a room of the caller's, or answers the living one (R8). @throws {Refusal} as {@link openRoomOn} */
export async function openRoom(input: OpenRoomInput, { deps, caller }: Call): Promise<{ slug: string; created: boolean }> {
  const { pullRequest, ...room } = input;
  return openRoomOn({ ...room, owner: { id: caller.id, name: caller.name }, ref: await resolved(deps.forge, pullRequest) }, deps);
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

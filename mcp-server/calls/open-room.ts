import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { openRoom as openRoomOn } from '../../activities/open-room.js';
import type { Durations } from '../../workflows/room/state.js';
import type { Recipe } from '../../workflows/room/words.js';
import type { Call } from '../deps.js';
import { atAddress } from './on-forge.js';

interface OpenRoomInput {
  readonly pullRequest: string;
  readonly recipe: Recipe;
  readonly barista: boolean;
  readonly durations: Partial<Durations>;
  /** R8: beside the room there is. */
  readonly another: boolean;
}

/** Opens a room of the caller's, or answers the living one (R8). @throws {Refusal} as {@link openRoomOn} and {@link atAddress} */
export async function openRoom(input: OpenRoomInput, call: Call): Promise<{ slug: string; created: boolean }> {
  const { deps, caller } = call;
  const { pullRequest, ...room } = input;
  const ref = await atAddress(
    'pull_request',
    () => parsePullRequest(pullRequest),
    (named) => deps.forge.resolve(named),
    call,
  );
  return openRoomOn({ ...room, owner: { id: caller.id, name: caller.name }, ref }, deps);
}

import { ForgeError, type Forge, type HeadRead, type PullRequestRef } from './forge/port.js';
import { parsePullRequest } from './forge/pull-request.js';
import type { HeadMove, HeadSeen } from '../workflows/room/events.js';
import type { PullRequest, Sha } from '../workflows/room/state.js';
import type { HeadKnown } from '../workflows/activities.js';

/** What a room's pull request is to the forge. */
export function refOf(pullRequest: PullRequest): PullRequestRef {
  return { ...parsePullRequest(pullRequest.url), key: pullRequest.key, repository: pullRequest.repository };
}

/**
 * The head now, as a room is told of it. A pull request whose branch is gone is closed at the last head the room knows.
 * @throws {ForgeError}
 */
export async function lookAtHead(forge: Forge, room: HeadKnown): Promise<HeadSeen> {
  return seenFrom(forge, room, await forge.head(refOf(room.pullRequest)));
}

/** A head that was read, as this room is told of it. */
export async function seenFrom(forge: Forge, room: HeadKnown, head: HeadRead): Promise<HeadSeen> {
  const sha = head.headSha ?? room.head.sha;
  return { sha, baseSha: head.baseSha ?? room.head.baseSha, state: head.state, move: await moveTo(forge, room, sha) };
}

/** How `sha` stands to the commit of the latest round; null where there is none or it is that commit (P1). */
export async function moveTo(forge: Forge, room: HeadKnown, sha: Sha): Promise<HeadMove | null> {
  const from = room.round?.headSha;
  if (from === undefined || from === sha) return null;
  try {
    const commits = await forge.commitsBetween(refOf(room.pullRequest), from, sha);
    return { commits, rewritten: commits === null };
  } catch (error) {
    if (error instanceof ForgeError) return { commits: null, rewritten: false };
    throw error;
  }
}

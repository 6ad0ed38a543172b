import { ForgeError, type CommitPair } from './forge/port.js';
import { refOf } from './head.js';
import type { ActivityDeps } from './deps.js';
import { keepDiff } from './context/kept-diff.js';
import type { PullRequest } from '../workflows/room/state.js';

/** O1: what a round's reviewers will read is kept when it opens, so that no later push can take it away. */
export async function keepContext(
  { forge, store, log }: Pick<ActivityDeps, 'forge' | 'store' | 'log'>,
  pullRequest: PullRequest,
  commits: CommitPair,
): Promise<void> {
  try {
    await keepDiff({ forge, store: store.reads }, refOf(pullRequest), commits);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    // The round opens all the same: the first reader fetches it, or is told what is missing (C9).
    log.warn({ err: error, pullRequest: pullRequest.key }, 'the context of a round could not be kept');
  }
}

import { ForgeError, type GitHubPullRequestRef, type Identity, type PostAs } from '../port.js';
import type { GitHubApp } from './app.js';
import type { PostDeps } from './posted.js';
import type { Pull } from './pull.js';

/** The App that a review is posted as. */
export interface PosterApp {
  readonly app: GitHubApp;
  readonly by: Identity;
  readonly login: string;
  /** GitHub takes no verdict of it here: its own pull request, or it stands in for the reviewer App (W15). */
  readonly commentOnly: boolean;
}

const NOTHING_SET: PostAs = { identity: null, commentInstead: false };

/** W15: who posts the review, as the owner's setting has it. @throws {ForgeError} where that App may not */
export async function posterFor(
  { operator, reviewer }: PostDeps,
  ref: GitHubPullRequestRef,
  pull: Pull,
  as: PostAs = NOTHING_SET,
): Promise<PosterApp> {
  const own = (login: string) => login === pull.user?.login;
  const asReviewer = as.identity === null ? reviewer !== null : as.identity === 'reviewer';
  if (asReviewer && reviewer === null && !as.commentInstead) throw new ForgeError('refused', NO_REVIEWER);
  if (asReviewer && reviewer !== null) {
    // Read anew: one that was taken off since is told by its name (W9), not by what GitHub hides from it.
    const known = (await reviewer.installed(ref)) ?? (as.commentInstead ? null : await reviewer.installation(ref));
    if (known !== null) return { app: reviewer, by: 'reviewer', login: known.login, commentOnly: own(known.login) };
  }
  const { login } = await operator.installation(ref);
  return { app: operator, by: 'operator', login, commentOnly: asReviewer || own(login) };
}

const NO_REVIEWER =
  'Reviews of this repository are to be posted as the reviewer App, and this server has none. ' +
  'Set REVIEWER_APP_ID and its key, or let the operator post there.';

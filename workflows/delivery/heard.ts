import type { PullRequest } from '../room/state.js';

/**
 * A forge's delivery in our own words (P4): "look again, I heard X". Names and commits only, so that it may lie in a
 * workflow's history; whatever is decided on it is read from the forge first.
 */
export type Heard = PullRequestHeard | CiHeard | AccessHeard | IgnoredHeard;

export interface PullRequestHeard {
  readonly kind: 'pull_request';
  /** `ready`: it left draft. `edited`: its texts, labels or base branch changed. */
  readonly what: 'opened' | 'pushed' | 'closed' | 'merged' | 'reopened' | 'edited' | 'ready' | 'drafted';
  /** As the refs of the port have them once resolved: by the forge's own id, which no rename changes. */
  readonly repository: string;
  readonly key: string;
  readonly url: string;
  /** The head the delivery tells of; a read that does not know it yet lags behind. */
  readonly headSha: string | null;
  readonly draft: boolean;
  readonly labels: readonly string[];
}

/** Something was said of the CI of a commit. */
export interface CiHeard {
  readonly kind: 'ci';
  readonly repository: string;
  readonly headSha: string;
  /** The pull request it ran for, where the forge says so: its commit may be another one (a merge made for the run). */
  readonly key: string | null;
}

/** What one of our Apps may reach changed: rooms there stop asking, or may go on. */
export interface AccessHeard {
  readonly kind: 'access';
  /** `changed`: some were taken, or its permissions are others; which, only reading tells. */
  readonly what: 'given' | 'taken' | 'changed';
  /** As the refs of the port have them once resolved; null: every one of the installation. */
  readonly repositories: readonly string[] | null;
  /** Which of our two Apps. */
  readonly identity: 'operator' | 'reviewer';
  /** The installation's owner, as people know it. */
  readonly account: string;
  /** The forge's own address, without a slash at the end. */
  readonly place: string;
  /** Where that owner mends it; null: the forge named no place of its own. */
  readonly url: string | null;
}

/** Nothing for a room; answered like the others, and kept with its reason. */
export interface IgnoredHeard {
  readonly kind: 'ignored';
  readonly reason: string;
}

export interface Delivery {
  readonly forge: PullRequest['forge'];
  /** The same when the forge sends it again: what was done with it once is not done twice. Letters, digits, `.`, `_`, `-`. */
  readonly id: string;
  readonly heard: Heard;
}

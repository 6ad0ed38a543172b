import type { PullRequestHeard } from './heard.js';
import type { Shown } from './activities.js';

/** P4: when a read that lags behind what was heard is made again, in milliseconds from the first read. */
export const LOOK_AGAIN_MS: readonly number[] = [2_000, 5_000, 15_000, 60_000];

const OPENING: ReadonlySet<PullRequestHeard['what']> = new Set(['opened', 'ready', 'reopened', 'edited']);

/** Whether what was heard can open a room by itself. */
export const mayOpen = ({ what }: PullRequestHeard): boolean => OPENING.has(what);

/** A label's name is the same whatever its case. */
export function carries(labels: readonly string[], label: string): boolean {
  return labels.some((one) => one.toLowerCase() === label.toLowerCase());
}

/**
 * Whether a read shows what the delivery told of. One that does not may lag behind, or the delivery be an old one: only
 * another look tells. null: the pull request was not found.
 */
export function isShown(heard: PullRequestHeard, shown: Shown | null): boolean {
  if (shown === null) return false;
  // A branch that is gone has no commit to compare.
  if (shown.sha !== null && heard.headSha !== null && shown.sha !== heard.headSha) return false;
  switch (heard.what) {
    case 'merged':
      return shown.state === 'merged';
    case 'closed':
      return shown.state !== 'open';
    case 'reopened':
      return shown.state === 'open';
    case 'ready':
      return shown.draft !== true && showsLabels(heard, shown);
    case 'opened':
    case 'edited':
      return showsLabels(heard, shown);
    case 'pushed':
    case 'drafted':
      return true;
  }
}

function showsLabels({ labels }: PullRequestHeard, { labels: shown }: Shown): boolean {
  return shown === null || labels.every((label) => carries(shown, label));
}

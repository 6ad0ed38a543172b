import type { Comparison } from '../forge/port.js';
import { isWhole, type FileMeta } from './file-entry.js';

/** `since` of the contract, with how many files were left out of the view. */
export interface WireSince {
  readonly round: number;
  readonly base_sha: string;
  readonly head_sha: string;
  readonly status: Comparison['status'];
  readonly commits: number | null;
  readonly left_out: number;
}

export interface ManifestEntry {
  readonly path: string;
  readonly changed_since_round: boolean;
  readonly patch_complete: boolean;
  readonly blob_sha: string | null;
}

export interface SinceView {
  readonly since: WireSince;
  readonly hint: string | null;
  /** The files of the view, as positions in the diff it was made from. */
  readonly shown: readonly number[];
  readonly manifest: readonly ManifestEntry[];
}

interface SinceInput {
  readonly round: number;
  readonly from: string;
  readonly to: string;
  readonly comparison: Comparison;
  /** Every file of the pull request. */
  readonly pullRequest: readonly FileMeta[];
  /** What changed between the two commits; null: it cannot be had, and the view is the whole pull request. */
  readonly changes: readonly FileMeta[] | null;
  /** JSON characters an entry may take: decides which patches are shown whole. */
  readonly room: number;
}

/** C4 to C6: the short view. Files that are not in the pull request (its base was merged in) are left out and counted. */
export function sinceView({ round, from, to, comparison, pullRequest, changes, room }: SinceInput): SinceView {
  const { status, commits, changedPaths, capped } = comparison;
  const all = status === 'diverged' || capped || changedPaths === null;
  const changed = new Set(changedPaths ?? []);
  const inPullRequest = new Set(pullRequest.map((file) => file.path));
  const listed = changes ?? pullRequest;
  const shown = [...listed.keys()].filter((at) => inPullRequest.has((listed[at] as FileMeta).path));
  const inView = new Map(shown.map((at) => [(listed[at] as FileMeta).path, listed[at] as FileMeta]));
  const leftOut = listed.length - shown.length;
  return {
    since: { round, base_sha: from, head_sha: to, status, commits, left_out: leftOut },
    hint: hintOf(round, comparison, changes === null, leftOut),
    shown,
    manifest: pullRequest.map((file) => ({
      path: file.path,
      changed_since_round: all || changed.has(file.path) || (file.previousPath !== undefined && changed.has(file.previousPath)),
      patch_complete: isWhole(inView.get(file.path) ?? file, room),
      blob_sha: file.blobSha,
    })),
  };
}

/** C6: when the short view is not enough. null: it is. */
function hintOf(round: number, { status, capped }: Comparison, gone: boolean, leftOut: number): string | null {
  const hints: string[] = [];
  if (status === 'identical') hints.push(`Nothing changed since round ${round}: the commit under review is the same.`);
  if (status === 'diverged') {
    hints.push(
      `The branch was rewritten since round ${round} (rebase or force-push), so every file is marked changed: the comparison may leave out changes that the rewrite dropped. Read again what matters, or leave out since_round for the full view.`,
    );
  }
  if (status === 'unknown') {
    hints.push(
      'The history between the two commits is not known: a rebase cannot be seen here. If the branch was rebased, leave out since_round for the full view.',
    );
  }
  if (capped)
    hints.push('The forge listed only a part of the comparison, so every file is marked changed. Leave out since_round for the full view.');
  if (gone)
    hints.push(
      `The commit of round ${round} can no longer be read: the files are those of the whole pull request, and each is marked changed.`,
    );
  if (leftOut > 0)
    hints.push(
      `${leftOut} changed ${leftOut === 1 ? 'file is' : 'files are'} left out: not in the pull request (any more), as after merging its base in.`,
    );
  return hints.length === 0 ? null : hints.join(' ');
}

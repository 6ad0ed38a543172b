import { type Comparison, ForgeError, type GitLabPullRequestRef } from '../port.js';
import type { GitLabClient } from './client.js';
import { mergeBase, projectPath } from './merge-request.js';
import { comparison } from './shapes.js';

/** What GitLab lists of a comparison at most, on most servers; its own sign that it cut comes first. */
const CAPPED_AT = 1_000;

/** C4, C6: straight from one head to the next. GitLab reports no rebase, so how the two stand is `unknown`. */
export async function readComparison(client: GitLabClient, ref: GitLabPullRequestRef, from: string, to: string): Promise<Comparison> {
  if (from === to) return { status: 'identical', commits: 0, changedPaths: [], capped: false };
  try {
    const {
      commits,
      diffs,
      compare_timeout: cut,
    } = await client.get(`${projectPath(client, ref)}/repository/compare`, comparison, { from, to, straight: true });
    const changedPaths = [...new Set(diffs.flatMap((row) => [row.old_path, row.new_path]))];
    return { status: 'unknown', commits: commits.length, changedPaths, capped: cut || diffs.length >= CAPPED_AT };
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found')
      return { status: 'unknown', commits: null, changedPaths: null, capped: false };
    throw error;
  }
}

/** P1: null where `to` does not descend from `from`, which its merge base tells. */
export async function countCommits(client: GitLabClient, ref: GitLabPullRequestRef, from: string, to: string): Promise<number | null> {
  if (from === to) return 0;
  if ((await mergeBase(client, ref, from, to)) !== from) return null;
  return (await readComparison(client, ref, from, to)).commits;
}

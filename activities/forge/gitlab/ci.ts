import { type CiRead, ForgeError, type GitLabPullRequestRef } from '../port.js';
import { api, type GitLabClient } from './client.js';
import { projectPath, readMergeRequest } from './merge-request.js';
import { commitWithParents, pipeline, type Pipeline } from './shapes.js';

const STATES: Readonly<Record<string, CiRead['state']>> = {
  success: 'success',
  skipped: 'success',
  failed: 'failure',
  canceled: 'failure',
};

/** V5: the newest pipeline of the commit. Whatever GitLab has not ended yet, or may come to call so, is pending. */
export async function readCi(client: GitLabClient, ref: GitLabPullRequestRef, sha: string): Promise<CiRead> {
  const newest = await newestPipeline(client, ref, sha);
  if (newest === null) return { state: 'none', summary: 'No pipeline ran on this commit.', url: null };
  const waits = newest.status === 'manual' ? ' (it waits for somebody to start a job)' : '';
  return {
    state: STATES[newest.status] ?? 'pending',
    summary: `Pipeline #${newest.id}: ${newest.status}${waits}`,
    url: newest.web_url ?? null,
  };
}

/**
 * GitLab's own pick comes first, where it is of this commit: one of the merged result ran on another, and from a push to
 * its own pipeline GitLab still names that of the head before. Those of a fork are listed with the merge request, those of
 * a branch with the project. `pipelines/latest` is not asked: with none it answers as if it were forbidden.
 */
async function newestPipeline(client: GitLabClient, ref: GitLabPullRequestRef, sha: string): Promise<Pipeline | null> {
  const { sha: head, head_pipeline: picked } = await readMergeRequest(client, ref);
  if (picked != null && (picked.sha === sha || (head === sha && (await isMergeOf(client, ref, picked.sha, sha))))) return picked;
  const listed = [
    ...(await firstPage(client, `${projectPath(client, ref)}/merge_requests/${ref.iid}/pipelines`, {})),
    ...(await firstPage(client, `${projectPath(client, ref)}/pipelines`, { sha, order_by: 'id', sort: 'desc' })),
  ];
  const ofCommit = listed.filter((one) => one.sha === sha);
  return ofCommit.reduce<Pipeline | null>((newest, one) => (newest === null || one.id > newest.id ? one : newest), null);
}

/** Whether a pipeline's commit is the head's merged result. Of an older commit it may be a later head, into which the target was merged. */
async function isMergeOf(client: GitLabClient, ref: GitLabPullRequestRef, merged: string, sha: string): Promise<boolean> {
  try {
    const { parent_ids: parents } = await client.get(`${projectPath(client, ref)}/${api`repository/commits/${merged}`}`, commitWithParents);
    return parents.length > 1 && parents.includes(sha);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found') return false;
    throw error;
  }
}

async function firstPage(client: GitLabClient, path: string, query: Readonly<Record<string, string>>): Promise<Pipeline[]> {
  for await (const page of client.pages(path, pipeline, query)) return page;
  return [];
}

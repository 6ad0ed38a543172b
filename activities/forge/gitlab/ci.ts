import type { CiRead, GitLabPullRequestRef } from '../port.js';
import type { GitLabClient } from './client.js';
import { projectPath, readMergeRequest } from './merge-request.js';
import { pipeline, type Pipeline } from './shapes.js';

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
 * GitLab's own pick for the head comes first: a pipeline of the merged result ran on another commit. Those of a fork are
 * listed with the merge request, those of a branch with the project. `pipelines/latest` is not asked: with none it
 * answers as if it were forbidden.
 */
async function newestPipeline(client: GitLabClient, ref: GitLabPullRequestRef, sha: string): Promise<Pipeline | null> {
  const found = await readMergeRequest(client, ref);
  if (found.sha === sha && found.head_pipeline != null) return found.head_pipeline;
  const listed = [
    ...(await firstPage(client, `${projectPath(client, ref)}/merge_requests/${ref.iid}/pipelines`, {})),
    ...(await firstPage(client, `${projectPath(client, ref)}/pipelines`, { sha, order_by: 'id', sort: 'desc' })),
  ];
  const ofCommit = listed.filter((one) => one.sha === sha);
  return ofCommit.reduce<Pipeline | null>((newest, one) => (newest === null || one.id > newest.id ? one : newest), null);
}

async function firstPage(client: GitLabClient, path: string, query: Readonly<Record<string, string>>): Promise<Pipeline[]> {
  for await (const page of client.pages(path, pipeline, query)) return page;
  return [];
}

import { type CommitPair, ForgeError, type GitLabPullRequestRef, type HeadRead, type PullRequestRef, type RepositoryRef } from '../port.js';
import { gitlabRef } from '../pull-request.js';
import { gitlabRepository } from '../repository-ref.js';
import { api, type GitLabClient } from './client.js';
import { commit, mergeRequest, project as projectShape, type MergeRequest } from './shapes.js';

/** GitLab makes the diff of a push in the background; it takes a moment. */
const NOT_PREPARED_YET = 5;

export type GitLabRepositoryRef = Extract<RepositoryRef, { forge: 'gitlab' }>;

/** `projects/ID`: by the id once it is known, so that a moved project is still found. */
export function projectPath(client: GitLabClient, ref: GitLabPullRequestRef | GitLabRepositoryRef): string {
  const id = /#(\d+)$/.exec(ref.repository)?.[1];
  if (id !== undefined) return `projects/${id}`;
  return api`projects/${ref.url.slice(client.base.length + 1).replace(/\/-\/merge_requests\/\d+$/, '')}`;
}

/** The ref, if it is of the GitLab that this server reads; another's token must never see it. */
export function own<Ref extends PullRequestRef | RepositoryRef>(client: GitLabClient, ref: Ref): Extract<Ref, { forge: 'gitlab' }> {
  if (ref.forge !== 'gitlab') throw new ForgeError('invalid', `${ref.url} is not on GitLab.`);
  if (ref.url.toLowerCase().startsWith(`${client.base.toLowerCase()}/`)) return ref as Extract<Ref, { forge: 'gitlab' }>;
  throw new ForgeError('refused', `This server reads merge requests of ${client.base} (GITLAB_URL), not of ${ref.origin}.`);
}

export async function readMergeRequest(client: GitLabClient, ref: GitLabPullRequestRef): Promise<MergeRequest> {
  return client.get(`${projectPath(client, ref)}/merge_requests/${ref.iid}`, mergeRequest);
}

export async function resolveMergeRequest(client: GitLabClient, ref: GitLabPullRequestRef): Promise<GitLabPullRequestRef> {
  const { project_id: id } = await readMergeRequest(client, ref);
  const { origin, project } = await readProject(client, `projects/${id}`);
  return gitlabRef(origin, project, ref.iid, id);
}

/** The project by its id, at its path of today: a moved one redirects there. */
export async function resolveProject(client: GitLabClient, ref: GitLabRepositoryRef): Promise<GitLabRepositoryRef> {
  return readProject(client, projectPath(client, ref));
}

async function readProject(client: GitLabClient, at: string): Promise<GitLabRepositoryRef> {
  const { id, path_with_namespace: path } = await client.get(at, projectShape);
  const { origin, pathname } = new URL(`${client.base}/${path}`);
  return gitlabRepository(origin, pathname.slice(1), id);
}

export async function headFingerprint(client: GitLabClient, ref: GitLabPullRequestRef): Promise<string | null> {
  const { sha, diff_refs: refs, state } = await readMergeRequest(client, ref);
  // Its diff comes a moment after the push: a second change, so that the watch looks again.
  return sha == null ? null : `${sha} ${refs?.head_sha === sha ? `${refs.start_sha} ${refs.base_sha}` : ''} ${state}`;
}

/** O1: the base commit is the merge base of the diff that GitLab itself shows. */
export async function readHead(client: GitLabClient, ref: GitLabPullRequestRef, readAt: number): Promise<HeadRead> {
  const found = await readMergeRequest(client, ref);
  const { sha: headSha, diff_refs: refs } = found;
  const asked = { draft: found.draft ?? false, labels: found.labels ?? [] };
  const state = found.state === 'merged' || found.state === 'closed' ? found.state : 'open';
  if (headSha == null) {
    if (state === 'open') throw new ForgeError('refused', `Merge request !${ref.iid} has no commits yet: push some to its source branch.`);
    return { state: 'closed', headSha: null, baseSha: null, baseRefSha: null, reason: 'The source branch is gone.', readAt };
  }
  const shown = diffCommits(found);
  if (shown !== null && refs?.start_sha != null && shown.headSha === headSha)
    return { state, ...shown, ...asked, baseRefSha: refs.start_sha, readAt };
  const baseSha = await mergeBase(client, ref, found.target_branch, headSha);
  if (baseSha === null)
    throw new ForgeError('unavailable', `GitLab has not prepared the diff of ${headSha.slice(0, 8)} yet.`, NOT_PREPARED_YET);
  return { state, headSha, baseSha, ...asked, baseRefSha: baseSha, readAt };
}

/** What GitLab's own diff is made of; unrelated histories are compared with the base branch itself. null: not made yet. */
export function diffCommits({ diff_refs: refs }: MergeRequest): CommitPair | null {
  const baseSha = refs?.base_sha ?? refs?.start_sha;
  return baseSha == null || refs?.head_sha == null ? null : { baseSha, headSha: refs.head_sha };
}

/** null: GitLab knows none, or does not know one of the two. */
export async function mergeBase(client: GitLabClient, ref: GitLabPullRequestRef, one: string, other: string): Promise<string | null> {
  try {
    return (await client.get(`${projectPath(client, ref)}/repository/merge_base`, commit, { refs: [one, other] })).id;
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'not_found' || error.kind === 'invalid')) return null;
    throw error;
  }
}

import { ForgeError, type GitHubPullRequestRef, type HeadRead, type KnownHead } from '../port.js';
import { failedOf } from './failures.js';
import { placeOf, type GitHubApp } from './app.js';
import type { Octokit } from './clients.js';

/** What is read of GitHub's pull request. */
export interface Pull {
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly title: string;
  readonly body: string | null;
  /** null: GitHub hides who opened it. */
  readonly user: { readonly login: string } | null;
  readonly head: { readonly sha: string };
  /** `sha`: its branch when GitHub last looked, and for good once merged. */
  readonly base: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly id: number | bigint; readonly name: string; readonly owner: { readonly login: string } };
  };
  readonly changed_files: number;
  readonly draft?: boolean;
  readonly labels: readonly { readonly name: string }[];
}

/** A commit that was pushed a moment ago may not be known everywhere at GitHub. */
const FRESH_SECONDS = 3;

/**
 * The pull request now. A renamed repository redirects; one whose old name was given to another repository is refused,
 * for what is read and posted there would be somebody else's. @throws {ForgeError}
 */
export async function readPull(app: GitHubApp, ref: GitHubPullRequestRef): Promise<Pull> {
  const { data } = await app.call(ref, (octokit) =>
    octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...at(ref), pull_number: ref.number }),
  );
  // Not a name of digits, `owner/2048`, which is one that is not resolved yet.
  const [, id] = /^github:[^/]+\/(\d+)$/.exec(ref.repository) ?? [];
  if (id !== undefined && id !== String(data.base.repo.id)) {
    throw new ForgeError(
      'not_found',
      `${placeOf(ref)} is another repository now than the one this pull request was opened in. Open it by its new address.`,
    );
  }
  return data;
}

/** O1: the head, and the merge base its diff starts from. @throws {ForgeError} */
export async function readHead(app: GitHubApp, ref: GitHubPullRequestRef, now: () => number): Promise<HeadRead> {
  return headOf(app, ref, await readPull(app, ref), now);
}

export async function headOf(app: GitHubApp, ref: GitHubPullRequestRef, pull: Pull, now: () => number): Promise<KnownHead> {
  const headSha = pull.head.sha;
  const state = pull.merged ? ('merged' as const) : pull.state;
  const { baseSha, baseRefSha } = await mergeBase(app, ref, pull);
  const labels = pull.labels.map(({ name }) => name);
  return { state, headSha, baseSha, baseRefSha, draft: pull.draft ?? false, labels, readAt: now() };
}

/**
 * Of the base branch as it is now, which is what GitHub shows; a merged pull request keeps the base it was merged into,
 * for its branch now holds the head. No common history: the base's own commit, as everywhere.
 */
async function mergeBase(app: GitHubApp, ref: GitHubPullRequestRef, pull: Pull): Promise<{ baseSha: string; baseRefSha: string }> {
  const bases = pull.state === 'open' ? [pull.base.ref, pull.base.sha] : [pull.base.sha];
  for (const base of bases) {
    const found = await compareNoFiles(app, ref, base, pull.head.sha);
    if (found === 'unrelated') return { baseSha: pull.base.sha, baseRefSha: pull.base.sha };
    if (found !== null) return { baseSha: found.merge_base_commit.sha, baseRefSha: found.base_commit.sha };
  }
  throw new ForgeError(
    'unavailable',
    `GitHub does not know commit ${pull.head.sha.slice(0, 7)} of ${placeOf(ref)} everywhere yet.`,
    FRESH_SECONDS,
  );
}

/** A changed file as GitHub lists it. */
export interface Row {
  readonly filename: string;
  readonly previous_filename?: string;
  readonly status: string;
  readonly sha: string | null;
  readonly additions: number;
  readonly deletions: number;
  readonly changes: number;
  readonly patch?: string;
}

export interface Compared {
  readonly status: 'ahead' | 'behind' | 'diverged' | 'identical';
  readonly ahead_by: number;
  readonly base_commit: { readonly sha: string };
  readonly merge_base_commit: { readonly sha: string };
  readonly files?: readonly Row[];
}

/** How two commits stand, without the files: GitHub names those on the first page only. null: one is not there. */
export async function compareNoFiles(
  app: GitHubApp,
  ref: GitHubPullRequestRef,
  base: string,
  head: string,
): Promise<Compared | 'unrelated' | null> {
  return app.call(ref, (octokit) => compareOn(octokit, ref, base, head, { per_page: 1, page: 2 }));
}

/** The same with up to 300 files. */
export async function compareWithFiles(
  app: GitHubApp,
  ref: GitHubPullRequestRef,
  base: string,
  head: string,
): Promise<Compared | 'unrelated' | null> {
  return app.call(ref, (octokit) => compareOn(octokit, ref, base, head, { per_page: 1, page: 1 }));
}

async function compareOn(
  octokit: Octokit,
  ref: GitHubPullRequestRef,
  base: string,
  head: string,
  paging: { per_page: number; page: number },
): Promise<Compared | 'unrelated' | null> {
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', {
      ...at(ref),
      basehead: `${base}...${head}`,
      ...paging,
    });
    return data;
  } catch (error) {
    const failed = failedOf(error);
    if (failed?.status === 404 && /no common ancestor/i.test(failed.message)) return 'unrelated';
    // 422: a name that is none of its commits.
    if (failed?.status === 404 || failed?.status === 422) return null;
    throw error;
  }
}

/** Whether GitHub has the commit. @throws {ForgeError} */
export async function hasCommit(app: GitHubApp, ref: GitHubPullRequestRef, sha: string): Promise<boolean> {
  return app.call(ref, async (octokit) => {
    try {
      await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { ...at(ref), commit_sha: sha });
      return true;
    } catch (error) {
      if (failedOf(error)?.status === 404) return false;
      throw error;
    }
  });
}

export const at = (ref: GitHubPullRequestRef) => ({ owner: ref.owner, repo: ref.name });

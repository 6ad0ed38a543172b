import { createFetchedGit } from '../fetched-git.js';
import { fullSha } from '../local/git.js';
import type { Forge, LimitsHeard, RepositoryRef } from '../port.js';
import { readCi } from './ci.js';
import { createGitLabClient } from './client.js';
import { countCommits, readComparison } from './compare.js';
import { readDescription } from './describe.js';
import { readDiff } from './diff.js';
import { readFile } from './file.js';
import { headFingerprint, own, readHead, resolveMergeRequest, resolveProject } from './merge-request.js';
import { keepHook, type HookSettings } from './hooks.js';
import { findPosted, readBack } from './posted.js';
import { postReview } from './posting.js';

export interface GitLabForgeOptions {
  /** GITLAB_URL: `https://gitlab.com`, or where a self-managed GitLab is, with its path if it has one. */
  readonly url: string;
  /** A personal, group or project access token with the scope `api`; asked for at each call, so that it can change. */
  readonly token: () => Promise<string>;
  /** Limits that another process met. */
  readonly heard?: LimitsHeard;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Of the hooks that this server makes; absent: it makes none. */
  readonly hook?: HookSettings;
  /** Where commits lie that are fetched with git, while they are read; default: the system's folder for such. */
  readonly folder?: string;
  /** Ends every call when the program stops. */
  readonly stop?: AbortSignal;
}

/** The forge of merge requests on one GitLab. It keeps nothing but the limits GitLab named: any process answers any call. */
export function createGitLabForge({ url, token, heard, hook, now, folder, stop }: GitLabForgeOptions): Forge {
  const ending = stop === undefined ? {} : { stop };
  const client = createGitLabClient({ base: url.replace(/\/+$/, ''), token, ...(heard && { heard }), now, ...ending });
  const deps = { client, token, git: createFetchedGit({ ...(folder === undefined ? {} : { folder }), ...ending }) };

  return {
    resolve: async (ref) => resolveMergeRequest(client, own(client, ref)),
    repository: async (ref) => resolveProject(client, own(client, ref)),
    ...(hook && { hook: async (ref: RepositoryRef, wanted: boolean) => keepHook(client, own(client, ref), hook, wanted) }),
    headFingerprint: async (ref) => headFingerprint(client, own(client, ref)),
    head: async (ref) => readHead(client, own(client, ref), now()),
    describe: async (ref) => readDescription(client, own(client, ref)),
    diff: async (ref, commits) =>
      readDiff(deps, own(client, ref), { baseSha: fullSha(commits.baseSha), headSha: fullSha(commits.headSha) }),
    compare: async (ref, from, to) => readComparison(client, own(client, ref), fullSha(from), fullSha(to)),
    commitsBetween: async (ref, from, to) => countCommits(client, own(client, ref), fullSha(from), fullSha(to)),
    file: async (ref, sha, path) => readFile(client, own(client, ref), fullSha(sha), path),
    ci: async (ref, sha) => readCi(client, own(client, ref), fullSha(sha)),
    findPosted: async (ref, posting) => findPosted(client, own(client, ref), posting),
    post: async (ref, review, stop) => postReview(deps, own(client, ref), review, stop),
    readBack: async (ref, review) => readBack(client, own(client, ref), review),
  };
}

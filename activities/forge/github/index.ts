import { join } from 'node:path';
import { ForgeError, type Forge, type Identity, type LimitsHeard, type PullRequestRef, type RepositoryRef } from '../port.js';
import { createFetchedGit } from '../fetched-git.js';
import { fullSha } from '../local/git.js';
import { githubRef } from '../pull-request.js';
import { githubRepository } from '../repository-ref.js';
import { GitHubApp, type AppIdentity } from './app.js';
import { readCi } from './ci.js';
import { comparePull, countBetween, readPullDiff, type DiffDeps } from './diff.js';
import { createFingerprint } from './fingerprint.js';
import { postReview } from './post.js';
import { findPosted, readBack } from './posted.js';
import { readHead, readPull } from './pull.js';
import { readTexts } from './texts.js';
import { readRepository } from './repository.js';
import { TreeReader } from './tree.js';

export interface GitHubForgeOptions {
  /** GITHUB_API_URL: `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server. */
  readonly apiUrl: string;
  /** The operator's App: everything that is read, and what is posted where there is no reviewer App. */
  readonly app: AppIdentity;
  /** The review identity; null: none is set up. */
  readonly reviewer: AppIdentity | null;
  /** Limits of either App that another process met. */
  readonly heard?: LimitsHeard;
  /** Fetched commits lie in a folder of it while they are read. */
  readonly dataDir: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Ends every request and git process when the program stops. */
  readonly stop?: AbortSignal;
}

/** The forge of one GitHub, github.com or an Enterprise Server. Keeps no state but what it may forget: any process answers any call. */
export function createGitHubForge(options: GitHubForgeOptions): Forge {
  const { apiUrl, now, stop } = options;
  const api = apiUrl.replace(/\/+$/, '');
  const webUrl = webUrlOf(api);
  const { host } = new URL(webUrl);
  const heard = options.heard ?? (() => 0);
  const appOf = (role: Identity, identity: AppIdentity) =>
    new GitHubApp({ apiUrl: api, identity, role, heard, now, ...(stop && { stop }) });
  const app = appOf('operator', options.app);
  const reviewer = options.reviewer === null ? null : appOf('reviewer', options.reviewer);
  const posting = { operator: app, reviewer };
  const diffing: DiffDeps = {
    app,
    fetched: createFetchedGit({ folder: join(options.dataDir, 'fetched'), ...(stop && { stop }) }),
    webUrl,
    now,
  };
  const own = new Set([options.app.id, ...(options.reviewer === null ? [] : [options.reviewer.id])]);
  const trees = new TreeReader(app);
  const fingerprint = createFingerprint(app);

  const here = <Ref extends PullRequestRef | RepositoryRef>(ref: Ref): Extract<Ref, { forge: 'github' }> => {
    if (ref.forge === 'github' && ref.host === host) return ref as Extract<Ref, { forge: 'github' }>;
    throw new ForgeError('invalid', `${ref.url} is not on ${host}, which is the GitHub this server is set up for (GITHUB_API_URL).`);
  };

  return {
    async resolve(given) {
      const ref = here(given);
      const { base } = await readPull(app, ref);
      return githubRef(webUrl, base.repo.owner.login, base.repo.name, ref.number, Number(base.repo.id));
    },
    async repository(given) {
      const { id, owner, name } = await readRepository(app, here(given));
      return githubRepository(webUrl, owner, name, id);
    },
    headFingerprint: async (ref) => fingerprint(here(ref)),
    head: async (ref) => readHead(app, here(ref), now),
    describe: async (ref) => readTexts(app, here(ref)),
    diff: async (ref, commits) =>
      readPullDiff(diffing, here(ref), { baseSha: fullSha(commits.baseSha), headSha: fullSha(commits.headSha) }),
    compare: async (ref, from, to) => comparePull(diffing, here(ref), fullSha(from), fullSha(to)),
    commitsBetween: async (ref, from, to) => countBetween(app, here(ref), fullSha(from), fullSha(to)),
    file: async (ref, sha, path) => trees.file(here(ref), sha, path),
    ci: async (ref, sha) => readCi(app, here(ref), fullSha(sha), own, webUrl),
    findPosted: async (ref, wanted) => findPosted(posting, here(ref), wanted),
    post: async (ref, review, stop) => postReview(posting, here(ref), review, stop),
    readBack: async (ref, review) => readBack(posting, here(ref), review),
  };
}

/** Where its pages and its git are: `https://github.com` for `https://api.github.com`, `https://HOST` for `https://HOST/api/v3`. */
export function webUrlOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  // A host may be called so itself; without the path that says it is one, tokens would go to another.
  return `${protocol}//${pathname.startsWith('/api/') ? host : host.replace(/^api\./, '')}`;
}

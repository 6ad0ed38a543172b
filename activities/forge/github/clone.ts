import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ForgeError, type CommitPair, type GitHubPullRequestRef } from '../port.js';
import { fullSha, type Git } from '../local/git.js';
import { placeOf, type GitHubApp } from './app.js';

export interface CloneDeps {
  readonly app: GitHubApp;
  readonly git: Git;
  /** Where clones may stand for a while; made when missing. */
  readonly folder: string;
  /** `https://github.com`, without a slash at the end. */
  readonly webUrl: string;
  readonly now: () => number;
}

const FETCH_MS = 5 * 60_000;
/** A clone left behind by a process that died. */
const LEFTOVER_MS = 60 * 60_000;
const NO_OBJECT = /^0+$/;
const SUBMODULE_MODE = '160000';

/** Answers git's questions from its environment, so that no token is in an address, an argument or a file. */
const ASKPASS = '#!/bin/sh\ncase "$1" in Username*) echo x-access-token ;; *) printf "%s\\n" "$BARISTA_GIT_TOKEN" ;; esac\n';

/**
 * Runs `read` on a bare repository of its own with the trees of two commits and, where wanted, the blobs that differ:
 * no history, no other file. What is read is kept elsewhere, so the clone goes again. @throws {ForgeError}
 */
export async function withCommits<T>(deps: CloneDeps, ref: GitHubPullRequestRef, commits: CommitPair, blobs: boolean, read: (gitDir: string) => Promise<T>): Promise<T> {
  const pair = [fullSha(commits.baseSha), fullSha(commits.headSha)];
  await removeLeftovers(deps);
  const gitDir = await mkdtemp(join(deps.folder, `${deps.now()}-`));
  try {
    const env = await prepare(deps, ref, gitDir);
    const fetching = ['fetch', '-q', '--no-tags', '--no-write-fetch-head', '--no-auto-gc', '--no-recurse-submodules', '--filter=blob:none'];
    await fetched(deps, ref, gitDir, [...fetching, '--depth=1', 'origin', ...pair], env);
    if (blobs) {
      const wanted = await differing(deps.git, gitDir, pair);
      if (wanted.length > 0) await fetched(deps, ref, gitDir, [...fetching, '--stdin', 'origin'], env, `${wanted.join('\n')}\n`);
    }
    return await read(gitDir);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function prepare({ app, webUrl }: CloneDeps, ref: GitHubPullRequestRef, gitDir: string): Promise<Record<string, string>> {
  const token = await app.gitToken(ref);
  // A bare repository by hand: `git init` does not go with the environment our git runs in.
  await Promise.all(['objects', 'refs'].map((name) => mkdir(join(gitDir, name))));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  const remote = [`[remote "origin"]`, `url = ${webUrl}/${ref.owner}/${ref.name}.git`, 'promisor = true', 'partialclonefilter = blob:none'];
  const slow = ['[http]', 'lowSpeedLimit = 1000', 'lowSpeedTime = 30'];
  const partial = ['[core]', 'repositoryformatversion = 1', 'bare = true', '[extensions]', 'partialClone = origin', '[fetch]', 'negotiationAlgorithm = noop'];
  await writeFile(join(gitDir, 'config'), [...partial, ...remote, ...slow, ''].join('\n'));
  const askpass = join(gitDir, 'askpass');
  await writeFile(askpass, ASKPASS, { mode: 0o700 });
  return { GIT_ASKPASS: askpass, BARISTA_GIT_TOKEN: token, GIT_ALLOW_PROTOCOL: new URL(webUrl).protocol.slice(0, -1) };
}

async function fetched(deps: CloneDeps, ref: GitHubPullRequestRef, gitDir: string, args: readonly string[], env: Record<string, string>, input?: string): Promise<void> {
  try {
    await deps.git.run(gitDir, args, { env, timeoutMs: FETCH_MS, ...(input === undefined ? {} : { input }) });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw explainFetch(error, ref);
  }
}

function explainFetch(error: ForgeError, ref: GitHubPullRequestRef): ForgeError {
  const { message } = error;
  const place = placeOf(ref);
  // What took so long would do so again: read without it.
  if (/took over/.test(message)) return new ForgeError('refused', `Fetching commits of ${place} with git took over ${FETCH_MS / 60_000} minutes.`);
  if (/error: 40[13]|Authentication failed|could not read (?:Username|Password)/i.test(message)) return new ForgeError('refused', `GitHub does not let git fetch from ${place}: the App needs the permission contents=read.`);
  if (/not our ref|couldn't find remote ref|no such remote ref|error: 404|not found/i.test(message)) return new ForgeError('not_found', `GitHub does not give git the commits in ${place}: not yet, or not any more.`);
  return new ForgeError(error.kind, `git could not fetch from ${place}: ${message.slice(0, 200)}`, error.retryAfter);
}

/** The objects on both sides of every changed path; a submodule's are in another repository. */
async function differing(git: Git, gitDir: string, pair: readonly string[]): Promise<string[]> {
  const { stdout } = await git.run(gitDir, ['diff-tree', '-r', '--no-renames', '--no-ext-diff', '--raw', '--no-abbrev', '-z', ...pair, '--']);
  const wanted = new Set<string>();
  for (const [, oldMode, newMode, oldSha = '', newSha = ''] of stdout.toString('latin1').matchAll(/:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\0/g)) {
    if (oldMode !== SUBMODULE_MODE && !NO_OBJECT.test(oldSha)) wanted.add(oldSha);
    if (newMode !== SUBMODULE_MODE && !NO_OBJECT.test(newSha)) wanted.add(newSha);
  }
  return [...wanted];
}

async function removeLeftovers({ folder, now }: CloneDeps): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const made = Number(/^(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (now() - made > LEFTOVER_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForgeError, type CommitPair, type Diff } from './port.js';
import { readDiff } from './local/diff.js';
import { createGit, fullSha, type Git } from './local/git.js';

/** A repository reached over HTTPS. The token goes to git by a program that answers its question, never in the URL. */
export interface Remote {
  readonly url: string;
  readonly user: string;
  readonly token: () => Promise<string>;
}

/** C9: what a forge's listing caps or cuts, read from the commits themselves by the code that reads local repositories. */
export interface FetchedGit {
  /** Fetches the two commits and the files that differ, nothing else; what was fetched is removed again. Throws ForgeError. */
  diff(remote: Remote, commits: CommitPair): Promise<Diff>;
  /** Paths that differ, both names of a rename; no file is fetched for it. Throws ForgeError. */
  changedPaths(remote: Remote, commits: CommitPair): Promise<readonly string[]>;
}

const FETCH_TIMEOUT_MS = 5 * 60_000;
const PREFIX = 'barista-fetch-';
const LEFTOVER_MS = 60 * 60_000;
/** More changed files than this are no review. */
const MAX_OBJECTS = 50_000;
const NO_OBJECT = /^0+$/;

const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--recurse-submodules=no',
  '--filter=blob:none',
];

/** Git asks once for the name and once for the password; both come from the environment of that one process. */
const ASKPASS = '#!/bin/sh\ncase "$1" in Username*) printf %s "$BARISTA_GIT_USER" ;; *) printf %s "$BARISTA_GIT_TOKEN" ;; esac\n';

/** `folder`: where what is fetched lies while it is read. `stop` ends running fetches. */
export function createFetchedGit({ folder = tmpdir(), stop }: { readonly folder?: string; readonly stop?: AbortSignal } = {}): FetchedGit {
  const git = createGit(stop);

  /** The two commits with their trees; `fetchMore` brings objects by name. */
  async function withTrees<T>(
    remote: Remote,
    { baseSha, headSha }: CommitPair,
    read: (gitDir: string, fetchMore: (objects: readonly string[]) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    await mkdir(folder, { recursive: true });
    const place = await mkdtemp(join(folder, PREFIX));
    try {
      await removeLeftovers(folder, place);
      const gitDir = await emptyRepository(place, remote.url, headSha.length === 64);
      const env = await fetchEnvironment(place, remote);
      await fetchObjects(git, gitDir, env, ['--depth=1', 'origin', fullSha(baseSha), fullSha(headSha)]);
      return await read(gitDir, async (objects) => fetchObjects(git, gitDir, env, ['--stdin', 'origin'], `${objects.join('\n')}\n`));
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  }

  return {
    diff: async (remote, commits) =>
      withTrees(remote, commits, async (gitDir, fetchMore) => {
        const objects = await differingObjects(git, gitDir, commits);
        if (objects.length > 0) await fetchMore(objects);
        return readDiff(git, gitDir, commits);
      }),
    changedPaths: async (remote, commits) =>
      withTrees(remote, commits, async (gitDir) => {
        const names = ['diff-tree', '-r', '--no-renames', '--no-ext-diff', '--name-only', '-z', commits.baseSha, commits.headSha, '--'];
        return (await git.run(gitDir, names)).stdout.toString('utf8').split('\0').slice(0, -1);
      }),
  };
}

/** What processes left behind that died over an hour before `place` was made: no fetch takes so long. */
async function removeLeftovers(folder: string, place: string): Promise<void> {
  const made = (await stat(place)).mtimeMs;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const known = name.startsWith(PREFIX) ? await stat(path).catch(() => null) : null;
    if (known !== null && made - known.mtimeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Written by hand: `git init` would look at templates and settings of the machine. */
async function emptyRepository(place: string, url: string, sha256: boolean): Promise<string> {
  const gitDir = join(place, 'repository.git');
  await mkdir(join(gitDir, 'objects'), { recursive: true });
  await mkdir(join(gitDir, 'refs'));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  const format = sha256 ? '\tobjectFormat = sha256\n' : '';
  const remote = `[remote "origin"]\n\turl = "${new URL(url).href}"\n\tpromisor = true\n\tpartialclonefilter = blob:none\n`;
  await writeFile(
    join(gitDir, 'config'),
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n${format}${remote}`,
  );
  return gitDir;
}

async function fetchEnvironment(place: string, remote: Remote): Promise<Record<string, string>> {
  const askpass = join(place, 'askpass');
  await writeFile(askpass, ASKPASS);
  await chmod(askpass, 0o700);
  return {
    GIT_ALLOW_PROTOCOL: new URL(remote.url).protocol.slice(0, -1),
    GIT_ASKPASS: askpass,
    BARISTA_GIT_USER: remote.user,
    BARISTA_GIT_TOKEN: await remote.token(),
    // The token is for this host alone: a redirect to another would ask for it there.
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.followRedirects',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_CONFIG_KEY_1: 'fetch.negotiationAlgorithm',
    GIT_CONFIG_VALUE_1: 'noop',
  };
}

async function fetchObjects(git: Git, gitDir: string, env: Record<string, string>, args: readonly string[], input?: string): Promise<void> {
  try {
    await git.run(gitDir, [...FETCH, ...args], { env, timeoutMs: FETCH_TIMEOUT_MS, ...(input === undefined ? {} : { input }) });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    // What took so long would do so again: whoever asked reads without it.
    if (/took over/.test(error.message))
      throw new ForgeError('refused', `The commits could not be fetched with git within ${FETCH_TIMEOUT_MS / 60_000} minutes.`);
    if (/authentication failed|could not read (username|password)|returned error: 40[13]|access denied/i.test(error.message)) {
      throw new ForgeError('refused', 'The repository could not be fetched with git: the token may not read it.');
    }
    // These stay until somebody sets git up for that server.
    if (/certificate|server verification|redirect|returned error: 3\d\d/i.test(error.message))
      throw new ForgeError('refused', `The repository could not be fetched with git: ${error.message}`);
    if (/not our ref|returned error: 404|not found|could not find remote ref/i.test(error.message)) {
      throw new ForgeError('not_found', 'The commits could not be fetched with git: they, or the repository, are not there.');
    }
    throw error;
  }
}

/** Every file object that stands on one side only: patches and rename detection need both sides. */
async function differingObjects(git: Git, gitDir: string, { baseSha, headSha }: CommitPair): Promise<string[]> {
  const { stdout } = await git.run(gitDir, ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '-z', baseSha, headSha, '--']);
  const objects = new Set<string>();
  for (const token of stdout.toString('latin1').split('\0')) {
    const entry = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(token);
    if (entry === null) continue;
    const [, oldMode, newMode, oldSha, newSha] = entry as unknown as [string, string, string, string, string];
    if (oldMode !== '160000' && !NO_OBJECT.test(oldSha)) objects.add(oldSha);
    if (newMode !== '160000' && !NO_OBJECT.test(newSha)) objects.add(newSha);
  }
  if (objects.size > MAX_OBJECTS)
    throw new ForgeError('refused', `${objects.size} files differ between the two commits: too many to fetch.`);
  return [...objects];
}

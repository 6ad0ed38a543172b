import { ForgeError, type Forge, type LocalPullRequestRef, type PullRequestRef, type RepositoryRef } from '../port.js';
import { localRef } from '../pull-request.js';
import { localRepository } from '../repository-ref.js';
import { compareCommits, readBranches, readDescription, readHead } from './commits.js';
import { readDiff } from './diff.js';
import { readTreeFile } from './file.js';
import { createGit } from './git.js';
import { addNote, checkNote, findNote } from './notes.js';
import { findRepository } from './repository.js';

interface LocalForgeOptions {
  /** Folders under which repositories may be opened (BARISTA_LOCAL_REPOS); null: any the process can read. */
  readonly allowedRoots: readonly string[] | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Ends every git process when the program stops. */
  readonly stop?: AbortSignal;
}

/** The forge of two branches in a git repository on disk. Keeps no state: any process answers any call. */
export function createLocalForge({ allowedRoots, now, stop }: LocalForgeOptions): Forge {
  const git = createGit(stop);
  const open = async (ref: LocalPullRequestRef) => (await findRepository(ref.path, allowedRoots)).gitDir;
  const noteUrl = (ref: PullRequestRef, sha: string) => `${ref.url}#${sha}`;

  return {
    async resolve(given) {
      const ref = local(given);
      const { top, gitDir } = await findRepository(ref.path, allowedRoots);
      const { baseRefSha, headSha } = await readBranches(git, gitDir, ref);
      const gone = headSha === null ? ref.head : baseRefSha === null ? ref.base : null;
      if (gone !== null) throw new ForgeError('not_found', `${ref.path} has no branch ${gone}.`);
      return localRef(top, ref.base, ref.head, gitDir);
    },
    async repository(given) {
      const { top, gitDir } = await findRepository(local(given).path, allowedRoots);
      return localRepository(top, gitDir);
    },
    async headFingerprint(given) {
      const ref = local(given);
      const { baseRefSha, headSha } = await readBranches(git, await open(ref), ref);
      return baseRefSha === null || headSha === null ? null : `${headSha} ${baseRefSha}`;
    },
    async head(given) {
      const ref = local(given);
      return readHead(git, await open(ref), ref, now());
    },
    async describe(given) {
      const ref = local(given);
      return readDescription(git, await open(ref), ref);
    },
    diff: async (ref, commits) => readDiff(git, await open(local(ref)), commits),
    compare: async (ref, from, to) => compareCommits(git, await open(local(ref)), from, to),
    async commitsBetween(ref, from, to) {
      const { status, commits } = await compareCommits(git, await open(local(ref)), from, to);
      return status === 'ahead' || status === 'identical' ? commits : null;
    },
    file: async (ref, sha, path) => readTreeFile(git, await open(local(ref)), sha, path),
    ci: async () => Promise.resolve({ state: 'none', summary: 'A local repository has no CI.', url: null }),
    async findPosted(ref, posting) {
      const found = await findNote(git, await open(local(ref)), posting);
      return found === null ? null : { url: noteUrl(ref, posting.headSha) };
    },
    async post(ref, review) {
      await addNote(git, await open(local(ref)), review, now());
      return { url: noteUrl(ref, review.headSha) };
    },
    readBack: async (ref, review) => checkNote(git, await open(local(ref)), review, noteUrl(ref, review.headSha)),
  };
}

function local<Ref extends PullRequestRef | RepositoryRef>(ref: Ref): Extract<Ref, { forge: 'local' }> {
  if (ref.forge === 'local') return ref as Extract<Ref, { forge: 'local' }>;
  throw new ForgeError('invalid', `${ref.url} is in no local repository, and no other can be opened here.`);
}

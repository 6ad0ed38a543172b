import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { createGit, type Git } from '../../activities/forge/local/git.js';
import { CommandFailed } from '../failure.js';

/** The repository shown and what of it is reviewed. Nothing in it is ever written. */
export interface Shown {
  readonly git: Git;
  readonly gitDir: string;
  /** Of its folder. */
  readonly name: string;
  readonly head: Branch;
  /** Null where the head is the only commit there is: then everything in it is new. */
  readonly base: Branch | null;
}

interface Branch {
  readonly name: string;
  readonly sha: string;
}

interface Wish {
  readonly base?: string | undefined;
  readonly head?: string | undefined;
}

const USUAL_BASES = ['main', 'master', 'origin/HEAD', 'origin/main', 'origin/master', 'develop', 'origin/develop'];
/** How far back a base is made where no branch gives one: far enough to see something, near enough to read it. */
const STEPS_BACK = [5, 4, 3, 2, 1];
const FILES_AT_MOST = 80;

/**
 * What is reviewed in the repository around `path`: the current branch against the one it left, or against a commit
 * some way back where there is none. @throws CommandFailed with what to do
 */
export async function lookAt(path: string, wish: Wish): Promise<Shown> {
  const git = createGit();
  const gitDir = await gitDirOf(path);
  const name = basename(gitDir.replace(/\/\.git(\/worktrees\/[^/]*)?$/, '')).replace(/\.git$/, '') || 'repository';
  const read = reader(git, gitDir);
  const sha = await read.commit(wish.head ?? 'HEAD');
  if (sha === null) {
    throw new CommandFailed(
      wish.head === undefined
        ? `The repository at ${path} has no commit yet. Make one, or show another with --repo PATH.`
        : `${path} has no branch or commit ${wish.head}.`,
    );
  }
  const head = { name: await read.nameOf(wish.head, 'demo-head'), sha };
  if (wish.base !== undefined) {
    const base = await read.commit(wish.base);
    if (base === null) throw new CommandFailed(`${path} has no branch or commit ${wish.base}.`);
    if (!(await read.isReviewable(base, sha)))
      throw new CommandFailed(`${head.name} has nothing that ${wish.base} has not. Name two branches that differ.`);
    return { git, gitDir, name, head, base: { name: distinct(await read.nameOf(wish.base, 'demo-base'), head.name), sha: base } };
  }
  for (const branch of USUAL_BASES) {
    const base = await read.commit(branch);
    if (base !== null && (await read.isReviewable(base, sha))) {
      return { git, gitDir, name, head, base: { name: distinct(branch.replace(/^origin\//, ''), head.name), sha: base } };
    }
  }
  const base = await someWayBack(read, sha);
  return { git, gitDir, name, head, base: base === null ? null : { name: 'demo-base', sha: base } };
}

const distinct = (name: string, other: string): string => (name === other || name === 'HEAD' ? 'demo-base' : name);

async function someWayBack(read: Reader, head: string): Promise<string | null> {
  const line = await read.firstParents(head, Math.max(...STEPS_BACK));
  let fallback: string | null = null;
  for (const steps of STEPS_BACK) {
    const base = line[steps];
    const files = base === undefined ? 0 : await read.changedFiles(base, head);
    if (files > 0 && files <= FILES_AT_MOST) return base!;
    if (files > 0) fallback = base!; // the nearest that differs at all
  }
  return fallback;
}

async function gitDirOf(path: string): Promise<string> {
  try {
    const args = ['-c', 'safe.directory=*', '-C', path, 'rev-parse', '--absolute-git-dir'];
    const { stdout } = await promisify(execFile)('git', args, { env: { PATH: process.env.PATH, LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' } });
    return stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new CommandFailed('There is no git on PATH: install git 2.33 or later.');
    throw new CommandFailed(`${path} is not in a git repository. Start the demo in one, or show one with --repo PATH.`);
  }
}

type Reader = ReturnType<typeof reader>;

function reader(git: Git, gitDir: string) {
  const lines = async (args: string[], accept: number[] = []) => {
    const { code, stdout } = await git.run(gitDir, args, { accept });
    return code === 0 ? stdout.toString('utf8').split('\n').filter(Boolean) : [];
  };
  const first = async (args: string[], accept: number[] = []) => (await lines(args, accept))[0] ?? null;
  const tree = (sha: string) => first(['rev-parse', `${sha}^{tree}`]);
  return {
    commit: (rev: string) => first(['rev-parse', '--verify', '--quiet', '--end-of-options', `${rev}^{commit}`], [1, 128]),
    /** The branch that was named, or is checked out; what is no branch is called `otherwise`. */
    async nameOf(rev: string | undefined, otherwise: string): Promise<string> {
      if (rev === undefined) return (await first(['symbolic-ref', '--quiet', '--short', 'HEAD'], [1, 128])) ?? otherwise;
      return (await first(['rev-parse', '--verify', '--quiet', `refs/heads/${rev}`], [1, 128])) === null ? otherwise : rev;
    },
    async isReviewable(base: string, head: string): Promise<boolean> {
      if ((await git.run(gitDir, ['merge-base', '--is-ancestor', head, base], { accept: [1] })).code === 0) return false;
      const fork = (await first(['merge-base', base, head], [1])) ?? base;
      return (await tree(fork)) !== (await tree(head));
    },
    firstParents: (head: string, count: number) => lines(['rev-list', '--first-parent', `--max-count=${count + 1}`, head]),
    changedFiles: async (base: string, head: string) =>
      (await lines(['diff-tree', '-r', '--no-ext-diff', '--name-only', base, head])).length,
    objectFormat: async () => (await first(['rev-parse', '--show-object-format'])) ?? 'sha1',
    objects: async () => (await first(['rev-parse', '--git-path', 'objects']))!,
    shallow: async () => (await first(['rev-parse', '--git-path', 'shallow']))!,
  };
}

/** The demo's own repository: it borrows the objects of the one shown, and everything new goes into it alone. */
export interface Clone {
  readonly path: string;
  readonly base: string;
  readonly head: string;
  /** Adds a commit to the head that takes these lines out; one that is not there (any more) is left. @returns the commit */
  takeOut(lines: readonly { path: string; line: number; text: string }[], message: string): Promise<string>;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'builder',
  GIT_AUTHOR_EMAIL: 'builder@localhost',
  GIT_COMMITTER_NAME: 'builder',
  GIT_COMMITTER_EMAIL: 'builder@localhost',
};

/** Makes the clone in an empty folder. Its only branches are the two that are reviewed. */
export async function cloneOf({ git, gitDir, head, base }: Shown, path: string): Promise<Clone> {
  const source = reader(git, gitDir);
  mkdirSync(path, { recursive: true });
  const run = async (args: string[], input = '', env: Record<string, string> = {}) =>
    (await git.run(path, args, { input, env: { ...IDENTITY, ...env } })).stdout.toString('utf8').trim();
  await promisify(execFile)('git', ['init', '-q', '--bare', '--template=', `--object-format=${await source.objectFormat()}`, path], {
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  });
  mkdirSync(join(path, 'objects', 'info'), { recursive: true });
  writeFileSync(join(path, 'objects', 'info', 'alternates'), `${await source.objects()}\n`);
  const shallow = await source.shallow();
  if (existsSync(shallow)) copyFileSync(shallow, join(path, 'shallow'));

  const start = base === null ? await onNothing(head.sha) : { base: base.sha, head: head.sha };
  const branches = { base: base?.name ?? 'demo-base', head: head.name };
  await run(['update-ref', `refs/heads/${branches.base}`, start.base]);
  await run(['update-ref', `refs/heads/${branches.head}`, start.head]);
  await run(['symbolic-ref', 'HEAD', `refs/heads/${branches.head}`]);

  /** The only commit there is, again, on one without any file. */
  async function onNothing(sha: string): Promise<{ base: string; head: string }> {
    const root = await run(['commit-tree', await run(['mktree']), '-m', 'Nothing yet']);
    const message = (await run(['log', '-1', '--format=%B', sha])) || 'Everything';
    return { base: root, head: await run(['commit-tree', `${sha}^{tree}`, '-p', root, '-m', message]) };
  }

  return {
    path,
    ...branches,
    async takeOut(lines, message) {
      const parent = await run(['rev-parse', `refs/heads/${branches.head}`]);
      const env = { GIT_INDEX_FILE: join(path, 'demo-index') };
      await run(['read-tree', parent], '', env);
      for (const file of new Set(lines.map((line) => line.path))) {
        const [mode = '', , object = ''] = (await run(['ls-tree', parent, '--', file])).split(/\s/);
        if (!mode.startsWith('100')) continue;
        const before = (await git.run(path, ['cat-file', 'blob', object])).stdout.toString('latin1');
        const after = without(
          before,
          lines.filter((line) => line.path === file),
        );
        const blob = (await git.run(path, ['hash-object', '-w', '--no-filters', '--stdin'], { input: Buffer.from(after, 'latin1') }))
          .stdout;
        await run(['update-index', '--cacheinfo', `${mode},${blob.toString('latin1').trim()},${file}`], '', env);
      }
      const commit = await run(['commit-tree', await run(['write-tree'], '', env), '-p', parent, '-m', message]);
      await run(['update-ref', `refs/heads/${branches.head}`, commit, parent]);
      return commit;
    },
  };
}

/** The text (bytes, one a character) without each of these lines, looked for by its words as UTF-8 reads them, nearest to where it was. */
function without(text: string, lines: readonly { line: number; text: string }[]): string {
  const all = text.split('\n');
  for (const { line, text: wanted } of lines) {
    const words = (content: string) => Buffer.from(content, 'latin1').toString('utf8').replace(/\r$/, '');
    const found = all.flatMap((content, index) => (words(content) === wanted.replace(/\r$/, '') ? [index] : []));
    const nearest = found.sort((a, b) => Math.abs(a + 1 - line) - Math.abs(b + 1 - line))[0];
    if (nearest !== undefined) all.splice(nearest, 1);
  }
  return all.join('\n');
}

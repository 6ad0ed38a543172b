import { type Comparison, type Description, ForgeError, type HeadRead, type LocalPullRequestRef } from '../port.js';
import { fullSha, type Git } from './git.js';

/** Commit messages past this are named, not shown: page 1 could not hold them anyway. */
const MAX_DESCRIPTION_BYTES = 400_000;

interface Branches {
  readonly baseRefSha: string | null;
  readonly headSha: string | null;
}

/** Where both branches stand, in one git call. A name is a local branch, else a remote-tracking one (`origin/main`). */
export async function readBranches(git: Git, gitDir: string, ref: LocalPullRequestRef): Promise<Branches> {
  const names = [ref.base, ref.head].flatMap((name) => [`refs/heads/${name}`, `refs/remotes/${name}`]);
  const { stdout } = await git.run(gitDir, ['for-each-ref', '--format=%(objectname) %(refname)', ...names]);
  const shas = new Map<string, string>();
  for (const line of stdout.toString('utf8').split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0) shas.set(line.slice(space + 1), line.slice(0, space));
  }
  const shaOf = (name: string) => shas.get(`refs/heads/${name}`) ?? shas.get(`refs/remotes/${name}`) ?? null;
  return { baseRefSha: shaOf(ref.base), headSha: shaOf(ref.head) };
}

/**
 * Head contained in base: merged. A branch gone: closed. No common history: the base branch's own commit stands in
 * for the merge base (compare() then says `diverged`, which readers name), but a shallow clone is refused.
 */
export async function readHead(git: Git, gitDir: string, ref: LocalPullRequestRef, readAt: number): Promise<HeadRead> {
  const { baseRefSha, headSha } = await readBranches(git, gitDir, ref);
  if (baseRefSha === null || headSha === null) {
    const gone = headSha === null ? ref.head : ref.base;
    return { state: 'closed', headSha: null, baseSha: null, baseRefSha: null, reason: `The branch ${gone} is gone.`, readAt };
  }
  const { code, stdout } = await git.run(gitDir, ['merge-base', baseRefSha, headSha], { accept: [1] });
  if (code === 1) {
    await refuseShallow(git, gitDir, ref);
    return { state: 'open', headSha, baseSha: baseRefSha, baseRefSha, readAt };
  }
  const baseSha = fullSha(stdout.toString('latin1').trim());
  return { state: baseSha === headSha ? 'merged' : 'open', headSha, baseSha, baseRefSha, readAt };
}

async function refuseShallow(git: Git, gitDir: string, ref: LocalPullRequestRef): Promise<void> {
  const { stdout } = await git.run(gitDir, ['rev-parse', '--is-shallow-repository']);
  if (stdout.toString('latin1').trim() !== 'true') return;
  throw new ForgeError(
    'refused',
    `${ref.path} is a shallow clone that lacks the commit where ${ref.head} left ${ref.base}. Run: git fetch --unshallow`,
  );
}

/** Title: the only commit's subject, else the branch. Description: the commit messages, oldest first. */
export async function readDescription(git: Git, gitDir: string, ref: LocalPullRequestRef): Promise<Description> {
  const nothing = { description: '', issue: null, comments: [], gaps: [] };
  const { baseRefSha, headSha } = await readBranches(git, gitDir, ref);
  if (baseRefSha === null || headSha === null) return { title: ref.head, ...nothing };
  const range = [headSha, `^${baseRefSha}`];
  const format = ['--no-commit-header', '--format=tformat:%B%x00', '--encoding=UTF-8'];
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of git.stream(gitDir, ['rev-list', '--reverse', ...format, ...range, '--'])) {
    pieces.push(chunk);
    size += chunk.length;
    if (size > MAX_DESCRIPTION_BYTES) break;
  }
  const whole = size <= MAX_DESCRIPTION_BYTES;
  // What a message ends with is git's own form, not text.
  const messages = Buffer.concat(pieces)
    .toString('utf8')
    .split('\0')
    .slice(0, -1)
    .map((message) => message.trim());
  const [only] = messages;
  return {
    ...nothing,
    title: messages.length === 1 && whole ? (only as string).split('\n')[0] || ref.head : ref.head,
    description: messages.join('\n\n'),
    gaps: whole ? [] : [`Only the oldest ${messages.length} commit messages are in the description.`],
  };
}

async function countBetween(git: Git, gitDir: string, from: string, to: string): Promise<number> {
  const { stdout } = await git.run(gitDir, ['rev-list', '--count', fullSha(to), `^${fullSha(from)}`, '--']);
  return Number(stdout.toString('latin1').trim());
}

/** A commit that is no longer in the repository makes the comparison `unknown`. */
export async function compareCommits(git: Git, gitDir: string, from: string, to: string): Promise<Comparison> {
  const input = `${fullSha(from)}\n${fullSha(to)}\n`;
  const { stdout } = await git.run(gitDir, ['cat-file', '--batch-check=%(objecttype)'], { input });
  const types = stdout.toString('latin1').trim().split('\n');
  if (types.some((type) => type !== 'commit')) return { status: 'unknown', commits: null, changedPaths: null, capped: false };
  if (from === to) return { status: 'identical', commits: 0, changedPaths: [], capped: false };
  const { code } = await git.run(gitDir, ['merge-base', '--is-ancestor', from, to], { accept: [1] });
  const names = await git.run(gitDir, ['diff-tree', '-r', '--no-renames', '--no-ext-diff', '--name-only', '-z', from, to, '--']);
  return {
    status: code === 0 ? 'ahead' : 'diverged',
    commits: await countBetween(git, gitDir, from, to),
    changedPaths: names.stdout.toString('utf8').split('\0').slice(0, -1),
    capped: false,
  };
}

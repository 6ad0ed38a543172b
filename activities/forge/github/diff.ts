import { ForgeError, type ChangedFile, type CommitPair, type Comparison, type Diff, type GitHubPullRequestRef } from '../port.js';
import type { FetchedGit, Remote } from '../fetched-git.js';
import { placeOf, type GitHubApp } from './app.js';
import { MAX_DIFF_BYTES } from '../local/diff.js';
import { fileOfRow, firstZeroed, listRows, MAX_COMPARED, MAX_LISTED, patchesOf } from './listing.js';
import { at, compareNoFiles, compareWithFiles, hasCommit, headOf, readPull, type Compared, type Pull, type Row } from './pull.js';

export interface DiffDeps {
  readonly app: GitHubApp;
  readonly fetched: FetchedGit;
  /** `https://github.com`, without a slash at the end. */
  readonly webUrl: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What a listing gave of the diff that was asked for. */
interface Listed {
  readonly files: readonly ChangedFile[];
  /** What it lacks, as sentences. */
  readonly gaps: readonly string[];
}

/**
 * C1, C9, O1: what changed between two commits, tree against tree. GitHub's listing where it is of just these commits
 * and whole; else both commits are fetched and read as a local repository's. Where that cannot be, the listing with
 * its gaps named. @throws {ForgeError}
 */
export async function readPullDiff(deps: DiffDeps, ref: GitHubPullRequestRef, commits: CommitPair): Promise<Diff> {
  if (commits.baseSha === commits.headSha) return { files: [], gaps: [] };
  const pull = await readPull(deps.app, ref);
  const list = async () => (await listedFiles(deps, ref, commits, pull)) ?? (await comparedFiles(deps.app, ref, commits));
  // Thirty pages of a listing that is cut for certain are read only where git does not do.
  const gitFirst = pull.changed_files > MAX_LISTED;
  const listed = gitFirst ? null : await list();
  if (listed !== null && listed.gaps.length === 0) return listed;
  try {
    return await deps.fetched.diff(remoteOf(deps, ref, pull), commits);
  } catch (error) {
    // What passes is tried again by the caller: a diff is kept for ever, and must not be kept with passing gaps.
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    const shown = gitFirst ? await list() : listed;
    if (shown === null) throw error;
    return { files: shown.files, gaps: [...shown.gaps, `The commits could not be read with git instead: ${error.message}`] };
  }
}

/** Under its present name: git follows no redirect with a token. */
function remoteOf({ app, webUrl }: DiffDeps, ref: GitHubPullRequestRef, { base: { repo } }: Pull): Remote {
  return { url: `${webUrl}/${repo.owner.login}/${repo.name}.git`, user: 'x-access-token', token: () => app.gitToken(ref) };
}

/** The pull request's own listing; null where it is, or may be, of other commits (O1: the head moved under it). */
async function listedFiles(
  { app, now }: DiffDeps,
  ref: GitHubPullRequestRef,
  { baseSha, headSha }: CommitPair,
  before: Pull,
): Promise<Listed | null> {
  if (before.head.sha !== headSha || (await headOf(app, ref, before, now)).baseSha !== baseSha) return null;
  const rows = await listRows(
    (page, perPage) =>
      app.call(ref, async (octokit): Promise<readonly Row[]> => {
        const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
          ...at(ref),
          pull_number: ref.number,
          per_page: perPage,
          page,
        });
        return data;
      }),
    { maxPatches: MAX_DIFF_BYTES },
  );
  const after = await readPull(app, ref);
  if (after.head.sha !== headSha || after.base.ref !== before.base.ref) return null;
  const listed = `${rows.length} of ${after.changed_files} changed files`;
  if (patchesOf(rows) > MAX_DIFF_BYTES) return withGaps(rows, [`The patches are too large to hold: those of ${listed} are shown.`]);
  const capped = rows.length < after.changed_files || rows.length >= MAX_LISTED;
  return withGaps(rows, capped ? [`GitHub lists ${listed}; the others are not shown.`] : []);
}

/** A comparison starts at the merge base: it is the diff that was asked for only where the base is an ancestor. */
async function comparedFiles(app: GitHubApp, ref: GitHubPullRequestRef, { baseSha, headSha }: CommitPair): Promise<Listed | null> {
  const compared = await compareWithFiles(app, ref, baseSha, headSha);
  if (compared === null || compared === 'unrelated' || compared.merge_base_commit.sha !== baseSha) return null;
  const rows = compared.files ?? [];
  const gaps = [
    ...(rows.length >= MAX_COMPARED ? [`GitHub compares ${MAX_COMPARED} files at most; others may not be shown.`] : []),
    ...(firstZeroed(rows) === null ? [] : ['GitHub left out patches of this comparison because it is large.']),
  ];
  return withGaps(rows, gaps);
}

function withGaps(rows: readonly Row[], gaps: readonly string[]): Listed {
  const read = rows.map(fileOfRow);
  const unclear = read.filter((row) => !row.clear).map((row) => row.file);
  const hidden = unclear.filter(({ patch }) => patch === null);
  const shown = unclear.filter(({ patch }) => patch !== null);
  return {
    files: read.map((row) => row.file),
    gaps: [
      ...gaps,
      ...(hidden.length === 0 ? [] : [`GitHub shows no patch of ${named(hidden)}, and does not say why.`]),
      ...(shown.length === 0 ? [] : [`GitHub does not say whether ${named(shown)} is a file or a link.`]),
    ],
  };
}

function named(files: readonly ChangedFile[]): string {
  const paths = files.slice(0, 5).map(({ path }) => path);
  return `${paths.join(', ')}${files.length > paths.length ? ` and ${files.length - paths.length} more` : ''}`;
}

const UNKNOWN: Comparison = { status: 'unknown', commits: null, changedPaths: null, capped: false };

/**
 * C4, C6: `behind` is a branch forced back, so it counts as diverged. The paths are git's where GitHub names only some,
 * or those since the merge base. A first commit that is gone makes it `unknown`. @throws {ForgeError}
 */
export async function comparePull(deps: DiffDeps, ref: GitHubPullRequestRef, from: string, to: string): Promise<Comparison> {
  if (from === to) return { status: 'identical', commits: 0, changedPaths: [], capped: false };
  const compared = await compareWithFiles(deps.app, ref, from, to);
  if (compared === null) {
    await refuseFresh(deps.app, ref, to);
    return UNKNOWN;
  }
  const ahead = compared !== 'unrelated' && compared.status === 'ahead';
  const status = ahead ? ('ahead' as const) : ('diverged' as const);
  const commits = compared === 'unrelated' ? null : compared.ahead_by;
  const rows = ahead ? (compared.files ?? []) : [];
  if (ahead && rows.length < MAX_COMPARED) return { status, commits, changedPaths: pathsOf(rows), capped: false };
  try {
    const remote = remoteOf(deps, ref, await readPull(deps.app, ref));
    const changedPaths = await deps.fetched.changedPaths(remote, { baseSha: from, headSha: to });
    return { status, commits, changedPaths, capped: false };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    return { status, commits, changedPaths: ahead ? pathsOf(rows) : null, capped: ahead };
  }
}

/** P1: commits of `to` on top of `from`; null: rewritten, or `from` is no longer there. @throws {ForgeError} */
export async function countBetween(app: GitHubApp, ref: GitHubPullRequestRef, from: string, to: string): Promise<number | null> {
  if (from === to) return 0;
  const compared: Compared | 'unrelated' | null = await compareNoFiles(app, ref, from, to);
  if (compared === null) await refuseFresh(app, ref, to);
  return compared !== null && compared !== 'unrelated' && compared.status === 'ahead' ? compared.ahead_by : null;
}

/** A commit GitHub does not know yet must not pass for a rewritten branch. */
async function refuseFresh(app: GitHubApp, ref: GitHubPullRequestRef, sha: string): Promise<void> {
  if (!(await hasCommit(app, ref, sha)))
    throw new ForgeError('unavailable', `GitHub does not know commit ${sha.slice(0, 7)} of ${placeOf(ref)} everywhere yet.`, 3);
}

const pathsOf = (rows: readonly Row[]) => [
  ...new Set(
    rows.flatMap((row) => [
      row.filename,
      ...(row.previous_filename === undefined || row.status === 'copied' ? [] : [row.previous_filename]),
    ]),
  ),
];

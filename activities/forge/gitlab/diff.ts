import type { FetchedGit } from '../fetched-git.js';
import { MAX_DIFF_BYTES } from '../local/diff.js';
import { type ChangedFile, type CommitPair, type Diff, ForgeError, type GitLabPullRequestRef, UNRELATED } from '../port.js';
import { filesOfRows, isLeftOut } from './changed-file.js';
import type { GitLabClient } from './client.js';
import { diffCommits, mergeBase, projectPath, readMergeRequest } from './merge-request.js';
import { readRawDiff } from './raw-diff.js';
import { comparison, diffRow, project, type DiffRow, type MergeRequest } from './shapes.js';

/** An old self-managed GitLab fails at pages of more than 30 diffs. */
const DIFFS_PER_PAGE = 20;
const NAMED_FILES = 10;

export interface DiffDeps {
  readonly client: GitLabClient;
  readonly git: FetchedGit;
  readonly token: () => Promise<string>;
}

interface Listing {
  readonly files: readonly ChangedFile[];
  /** What is not listed at all, as a sentence; null: every file is. */
  readonly cut: string | null;
}

/**
 * C9: git's own diff where GitLab streams it; else its listing, and where that is capped or cut the commits themselves,
 * fetched with git. What cannot be had at all is named.
 */
export async function readDiff(deps: DiffDeps, ref: GitLabPullRequestRef, commits: CommitPair): Promise<Diff> {
  const { files, gaps } = await readFiles(deps, ref, commits);
  // Its comparison never says so (C4): it is `unknown` whatever the two are.
  const related = await mergeBase(deps.client, ref, commits.baseSha, commits.headSha);
  return { files, gaps: related === null ? [UNRELATED, ...gaps] : gaps };
}

async function readFiles(deps: DiffDeps, ref: GitLabPullRequestRef, commits: CommitPair): Promise<Diff> {
  const shown = await ofMergeRequest(deps.client, ref, commits);
  if (shown?.raw !== undefined) return shown.raw;
  const listing = shown?.listing ?? (await comparedDiffs(deps.client, ref, commits));
  const leftOut = listing.files.filter(isLeftOut);
  if (listing.cut === null && leftOut.length === 0) return { files: listing.files, gaps: [] };
  try {
    return await deps.git.diff(await remoteOf(deps, ref), commits);
  } catch (error) {
    // What passes is tried again by the caller: a diff is kept for ever, and must not be kept with passing gaps.
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    const gaps = [...(listing.cut === null ? [] : [listing.cut]), ...leftOutGap(leftOut), `Git could not make up for it: ${error.message}`];
    return { files: listing.files, gaps };
  }
}

function isCurrent(found: MergeRequest, { baseSha, headSha }: CommitPair): boolean {
  const shown = diffCommits(found);
  return shown?.baseSha === baseSha && shown.headSha === headSha;
}

/**
 * The merge request's own diff, if it is the one of these commits. What GitLab answers names no commits: it is theirs
 * as long as the merge request did not move meanwhile.
 */
async function ofMergeRequest(
  client: GitLabClient,
  ref: GitLabPullRequestRef,
  commits: CommitPair,
): Promise<{ raw?: Diff; listing?: Listing } | null> {
  const found = await readMergeRequest(client, ref);
  if (!isCurrent(found, commits)) return null;
  const raw = await rawDiff(client, ref);
  const read = raw === null ? { listing: await listedDiffs(client, ref, found) } : { raw };
  return isCurrent(await readMergeRequest(client, ref), commits) ? read : null;
}

/** null: this GitLab has no raw diffs (before 17.9), or failed or took too long at this one: its listing may still do. */
async function rawDiff(client: GitLabClient, ref: GitLabPullRequestRef): Promise<Diff | null> {
  try {
    return await readRawDiff(client.stream(`${projectPath(client, ref)}/merge_requests/${ref.iid}/raw_diffs`));
  } catch (error) {
    const limited = error instanceof ForgeError && error.retryAfter !== undefined;
    if (error instanceof ForgeError && !limited && (error.kind === 'not_found' || error.kind === 'unavailable')) return null;
    throw error;
  }
}

async function listedDiffs(client: GitLabClient, ref: GitLabPullRequestRef, { changes_count: expected }: MergeRequest): Promise<Listing> {
  const rows: DiffRow[] = [];
  let held = 0;
  const pages = client.pages(`${projectPath(client, ref)}/merge_requests/${ref.iid}/diffs`, diffRow, { per_page: DIFFS_PER_PAGE });
  for await (const page of pages) {
    rows.push(...page);
    held += page.reduce((sum, { diff }) => sum + diff.length, 0);
    if (held > MAX_DIFF_BYTES)
      return {
        files: filesOfRows(rows),
        cut: `The patches are too large to hold: those of ${rows.length} of ${expected ?? 'all'} changed files are shown.`,
      };
  }
  // "1000+" where GitLab stopped counting.
  const whole = expected == null || (/^\d+$/.test(expected) && Number(expected) <= rows.length);
  return { files: filesOfRows(rows), cut: whole ? null : `GitLab lists only ${rows.length} of ${expected} changed files.` };
}

async function comparedDiffs(client: GitLabClient, ref: GitLabPullRequestRef, { baseSha, headSha }: CommitPair): Promise<Listing> {
  const { diffs, compare_timeout: cut } = await client.get(`${projectPath(client, ref)}/repository/compare`, comparison, {
    from: baseSha,
    to: headSha,
    straight: true,
  });
  return {
    files: filesOfRows(diffs),
    cut: cut ? `GitLab lists only ${diffs.length} of the files that changed between the two commits.` : null,
  };
}

/** The address is our own, whatever GitLab says of itself: the token goes to no other place. */
async function remoteOf({ client, token }: DiffDeps, ref: GitLabPullRequestRef) {
  const { path_with_namespace: path } = await client.get(projectPath(client, ref), project);
  return { url: `${client.base}/${path}.git`, user: 'oauth2', token };
}

function leftOutGap(files: readonly ChangedFile[]): string[] {
  if (files.length === 0) return [];
  const names = files
    .slice(0, NAMED_FILES)
    .map(({ path }) => path)
    .join(', ');
  const more = files.length > NAMED_FILES ? ` and ${files.length - NAMED_FILES} more` : '';
  return [`GitLab left out ${files.length === 1 ? 'the patch' : 'the patches'} of ${names}${more}.`];
}

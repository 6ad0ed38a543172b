import type { CiRead, GitHubPullRequestRef } from '../port.js';
import { placeOf, type GitHubApp } from './app.js';
import { allPages, PER_PAGE } from './pages.js';
import { at } from './pull.js';

/** One check run or commit status, reduced. */
interface Check {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'pending';
  readonly url: string | null;
  /** Since when it is pending, ISO 8601; null: not known. */
  readonly since: string | null;
}

/** A deny-list: a word GitHub adds one day is no failure. */
const FAILED = new Set(['failure', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale', 'error']);
const MAX_PAGES = 10;
const MAX_NAMED = 5;

/**
 * V5: check runs and commit statuses of a commit, without the runs of our own Apps, which would wait for themselves.
 * @throws {ForgeError} also what an installation may not read, with where to mend it
 */
export async function readCi(
  app: GitHubApp,
  ref: GitHubPullRequestRef,
  sha: string,
  ownApps: ReadonlySet<number>,
  webUrl: string,
): Promise<CiRead> {
  const [runs, statuses] = await Promise.all([checkRuns(app, ref, sha, ownApps), commitStatuses(app, ref, sha)]);
  return reduced([...runs.items, ...statuses.items], runs.more || statuses.more, `${webUrl}/${placeOf(ref)}/pull/${ref.number}/checks`);
}

async function checkRuns(app: GitHubApp, ref: GitHubPullRequestRef, sha: string, ownApps: ReadonlySet<number>) {
  const { items, more } = await allPages(app, ref, MAX_PAGES, async (octokit, page) => {
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...at(ref),
      ref: sha,
      filter: 'latest',
      per_page: PER_PAGE,
      page,
    });
    return { rows: data.check_runs, headers };
  });
  const foreign = items.filter((run) => run.app === null || !ownApps.has(run.app.id));
  const checks = foreign.map((run): Check => {
    const state = run.status !== 'completed' ? 'pending' : FAILED.has(run.conclusion ?? '') ? 'failed' : 'passed';
    return { name: run.name, state, url: run.html_url, since: state === 'pending' ? run.started_at : null };
  });
  return { items: checks, more };
}

async function commitStatuses(app: GitHubApp, ref: GitHubPullRequestRef, sha: string) {
  const { items, more } = await allPages(app, ref, MAX_PAGES, async (octokit, page) => {
    // Its combined `state` is pending where there are no statuses at all: the single ones count.
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/status', {
      ...at(ref),
      ref: sha,
      per_page: PER_PAGE,
      page,
    });
    return { rows: data.statuses, headers };
  });
  const checks = items.map((status): Check => {
    const state = status.state === 'pending' ? 'pending' : FAILED.has(status.state) ? 'failed' : 'passed';
    return { name: status.context, state, url: status.target_url, since: state === 'pending' ? status.created_at : null };
  });
  return { items: checks, more };
}

/** The five states of V5 out of single checks. `more`: some were not read, so that nothing can be called a success. */
function reduced(checks: readonly Check[], more: boolean, page: string): CiRead {
  const of = (state: Check['state']) => checks.filter((check) => check.state === state);
  const [passed, failed, pending] = [of('passed'), of('failed'), of('pending')];
  if (checks.length === 0) return { state: 'none', summary: 'No checks ran.', url: null };
  const oldest = pending
    .map((check) => check.since)
    .filter((since) => since !== null)
    .sort()[0];
  const parts = [
    `${passed.length} passed`,
    `${failed.length} failed${named(failed)}`,
    `${pending.length} pending${named(pending)}${oldest === undefined ? '' : ` since ${oldest}`}`,
    ...(more ? ['and more that were not read'] : []),
  ];
  const summary = `${parts.join(', ')}.`;
  if (failed.length > 0) return { state: 'failure', summary, url: failed[0]?.url ?? page };
  if (pending.length > 0) return { state: 'pending', summary, url: page };
  return { state: more ? 'unknown' : 'success', summary, url: page };
}

function named(checks: readonly Check[]): string {
  if (checks.length === 0) return '';
  const more = checks.length > MAX_NAMED ? ` and ${checks.length - MAX_NAMED} more` : '';
  return ` (${checks
    .slice(0, MAX_NAMED)
    .map((check) => check.name.slice(0, 80))
    .join(', ')}${more})`;
}

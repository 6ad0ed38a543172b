import { ForgeError, type GitHubPullRequestRef, type GitLabPullRequestRef, type LocalPullRequestRef, type PullRequestRef } from './port.js';
import { absolutePath, githubRepository, gitlabRepository, localRepository, quoted } from './repository-ref.js';

const EXAMPLE = 'local:/path/to/repository?base=main&head=topic';
const GITHUB_EXAMPLE = 'https://github.com/owner/repository/pull/7';
const GITLAB_EXAMPLE = 'https://gitlab.com/group/project/-/merge_requests/7';
const WEB_EXAMPLES = `${GITHUB_EXAMPLE} or ${GITLAB_EXAMPLE}`;

/**
 * Reads a `pull_request` string. Pure: what it names need not exist.
 * Throws ForgeError `invalid` with what is wrong and an example.
 */
export function parsePullRequest(text: string): PullRequestRef {
  if (text.startsWith('local:')) return parseLocal(text.slice('local:'.length));
  if (/^https?:\/\//i.test(text)) return parseWeb(text);
  throw new ForgeError('invalid', `${quoted(text)} names no pull request. Give ${EXAMPLE}, ${WEB_EXAMPLES}`);
}

/**
 * The ref of a pull request on a GitHub server at `origin` (`https://github.com`); `repositoryId` is the forge's own,
 * which no rename changes, once resolved.
 */
export function githubRef(origin: string, owner: string, name: string, number: number, repositoryId?: number): GitHubPullRequestRef {
  const of = githubRepository(origin, owner, name, repositoryId);
  return { ...of, key: `${of.repository}#${number}`, url: `${of.url}/pull/${number}`, number };
}

/** The address of a pull request in a browser, whatever tab of it: any host, for it may be an Enterprise Server. */
function parseWeb(text: string): PullRequestRef {
  const url = URL.canParse(text) ? new URL(text) : null;
  // First, so that no message repeats it.
  if (url !== null && (url.username !== '' || url.password !== ''))
    throw new ForgeError('invalid', `The address holds a name or a password. Give ${WEB_EXAMPLES}`);
  const mergeRequest = url === null ? null : parseMergeRequest(url);
  if (mergeRequest !== null) return mergeRequest;
  const found = /^\/([A-Za-z0-9](?:[A-Za-z0-9_-]*))\/([A-Za-z0-9._-]{1,100})\/pull\/([1-9][0-9]{0,9})(?:\/|$)/.exec(url?.pathname ?? '');
  const [, owner, name, number] = found ?? [];
  if (url === null || owner === undefined || name === undefined || name === '.' || name === '..') {
    throw new ForgeError('invalid', `${quoted(text)} is no address of a pull request. Give ${WEB_EXAMPLES}`);
  }
  const host = url.host.replace(/^www\.(?=github\.com$)/, '');
  return githubRef(`${host === 'github.com' ? 'https:' : url.protocol}//${host}`, owner, name, Number(number));
}

/**
 * The ref of a merge request on the GitLab at `origin`; `projectId` once resolved. Paths are told apart without their
 * case, as GitLab does.
 */
export function gitlabRef(origin: string, project: string, iid: number, projectId?: number): GitLabPullRequestRef {
  const of = gitlabRepository(origin, project, projectId);
  return { ...of, key: `${of.repository}!${iid}`, url: `${of.url}/-/merge_requests/${iid}`, iid };
}

/** GitLab's groups nest and any host may be one: what tells is `/-/merge_requests/`, in old addresses without the dash. */
function parseMergeRequest({ protocol, host, pathname }: URL): GitLabPullRequestRef | null {
  const found = /^\/((?:(?!-\/)[A-Za-z0-9_.-]+\/)+(?!-\/)[A-Za-z0-9_.-]+)(?:\/-)?\/merge_requests\/([1-9][0-9]{0,9})(?:\/|$)/.exec(
    pathname,
  );
  const [, project, iid] = found ?? [];
  if (project === undefined || iid === undefined) return null;
  return gitlabRef(`${host === 'gitlab.com' ? 'https:' : protocol}//${host}`, project, Number(iid));
}

/** The ref of two branches of the repository at an absolute path; `gitDir` is its git folder once resolved. */
export function localRef(path: string, base: string, head: string, gitDir?: string): LocalPullRequestRef {
  const query = `base=${encodeBranch(base)}&head=${encodeBranch(head)}`;
  const of = localRepository(path, gitDir);
  return { ...of, key: `${of.repository}?${query}`, url: `${of.url}?${query}`, base, head };
}

function parseLocal(rest: string): LocalPullRequestRef {
  const mark = rest.indexOf('?');
  if (mark < 0) throw new ForgeError('invalid', `base and head are missing. Give ${EXAMPLE}`);
  const path = absolutePath(rest.slice(0, mark), EXAMPLE);
  const query = new URLSearchParams(rest.slice(mark + 1).replaceAll('+', '%2B'));
  for (const name of query.keys()) {
    if (name !== 'base' && name !== 'head') {
      throw new ForgeError('invalid', `${quoted(name)} is no part of a local pull request. Give ${EXAMPLE}`);
    }
  }
  const [base, head] = [branchOf(query, 'base'), branchOf(query, 'head')];
  if (base === head) throw new ForgeError('invalid', `base and head are both ${quoted(base)}. Name two branches.`);
  return localRef(path, base, head);
}

function branchOf(query: URLSearchParams, name: 'base' | 'head'): string {
  const values = query.getAll(name);
  if (values.length > 1) throw new ForgeError('invalid', `${name} is given ${values.length} times. Give it once.`);
  const branch = (values[0] ?? '').replace(/^refs\/heads\//, '');
  if (branch === '') throw new ForgeError('invalid', `${name} is missing. Give ${EXAMPLE}`);
  if (!isBranchName(branch)) throw new ForgeError('invalid', `${quoted(branch)} cannot be the name of a branch (${name}).`);
  return branch;
}

/** Git's own rules for a ref name, so that what passes is one literal ref and never an expression or a pattern. */
function isBranchName(name: string): boolean {
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return false;
  if (name.includes('..') || name.includes('@{') || name === '@' || name.endsWith('.') || name.length > 1000) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

function encodeBranch(name: string): string {
  return name.replace(/[%&]/g, encodeURIComponent);
}

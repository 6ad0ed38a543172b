import type { components } from '@octokit/openapi-types';

/** GitHub's own published response shapes: what does not fit them does not compile. */
export type Schemas = components['schemas'];

export interface RepositoryFacts {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly defaultBranch: string;
}

export interface Urls {
  readonly web: string;
  readonly api: string;
}

export const LONG_AGO = '2029-06-01T00:00:00Z';

export function user(urls: Urls, login: string): Schemas['simple-user'] {
  const id = [...login].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_000, 7);
  const url = `${urls.api}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: `U_${id}`,
    avatar_url: `${urls.web}/avatars/${id}`,
    gravatar_id: '',
    url,
    html_url: `${urls.web}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: login.endsWith('[bot]') ? 'Bot' : 'User',
    site_admin: false,
  };
}

export function repository(urls: Urls, facts: RepositoryFacts): Schemas['repository'] {
  const { id, owner, name } = facts;
  const url = `${urls.api}/repos/${owner}/${name}`;
  const html = `${urls.web}/${owner}/${name}`;
  return {
    id,
    node_id: `R_${id}`,
    name,
    full_name: `${owner}/${name}`,
    license: null,
    forks: 0,
    owner: user(urls, owner),
    private: false,
    html_url: html,
    description: null,
    fork: false,
    url,
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    git_url: `git:${html}.git`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    ssh_url: `git@host:${owner}/${name}.git`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
    clone_url: `${html}.git`,
    mirror_url: null,
    hooks_url: `${url}/hooks`,
    svn_url: html,
    homepage: null,
    language: null,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 1,
    default_branch: facts.defaultBranch,
    open_issues_count: 1,
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: true,
    archived: false,
    disabled: false,
    visibility: 'public',
    pushed_at: LONG_AGO,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    open_issues: 1,
    watchers: 0,
  };
}

/** `minimal-repository` is a `repository` with fewer promises; only the types of three fields differ. */
export function minimalRepository(urls: Urls, facts: RepositoryFacts): Schemas['minimal-repository'] {
  const { license: _, ...rest } = repository(urls, facts);
  return rest;
}

export interface PullFacts {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly author: string;
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly headRef: string;
  readonly headSha: string;
  readonly baseRef: string;
  readonly baseSha: string;
  /** The fork was deleted. */
  readonly headRepoGone: boolean;
  readonly changedFiles: number;
}

export function pull(urls: Urls, repo: RepositoryFacts, facts: PullFacts): Schemas['pull-request'] {
  const base = repository(urls, repo);
  const url = `${base.url}/pulls/${facts.number}`;
  const issue = `${base.url}/issues/${facts.number}`;
  const html = `${base.html_url}/pull/${facts.number}`;
  const statuses = `${base.url}/statuses/${facts.headSha}`;
  const head: Schemas['pull-request']['head'] = {
    label: `${repo.owner}:${facts.headRef}`,
    ref: facts.headRef,
    repo: base,
    sha: facts.headSha,
    user: base.owner,
  };
  return {
    url,
    id: 900 + facts.number,
    node_id: `PR_${facts.number}`,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${base.url}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    number: facts.number,
    state: facts.state,
    locked: false,
    title: facts.title,
    user: user(urls, facts.author),
    body: facts.body,
    labels: facts.labels.map((name, index) => ({
      id: 300 + index,
      node_id: `LA_${index}`,
      url: `${base.url}/labels/${name}`,
      name,
      description: null,
      color: 'ededed',
      default: false,
    })),
    milestone: null,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    closed_at: facts.state === 'closed' ? LONG_AGO : null,
    merged_at: facts.merged ? LONG_AGO : null,
    merge_commit_sha: null,
    assignee: null,
    // The published type has no null here, but a deleted fork is answered so.
    head: facts.headRepoGone ? ({ ...head, repo: null } as unknown as typeof head) : head,
    base: { label: `${repo.owner}:${facts.baseRef}`, ref: facts.baseRef, repo: base, sha: facts.baseSha, user: base.owner },
    _links: {
      comments: { href: `${issue}/comments` },
      commits: { href: `${url}/commits` },
      statuses: { href: statuses },
      html: { href: html },
      issue: { href: issue },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: `${base.url}/pulls/comments{/number}` },
      self: { href: url },
    },
    author_association: 'CONTRIBUTOR',
    auto_merge: null,
    draft: facts.draft,
    merged: facts.merged,
    mergeable: null,
    mergeable_state: 'unknown',
    merged_by: null,
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 0,
    deletions: 0,
    changed_files: facts.changedFiles,
  };
}

export interface AppFacts {
  readonly id: number;
  readonly slug: string;
  readonly owner: string;
  readonly permissions: Schemas['app-permissions'];
}

export function app(urls: Urls, facts: AppFacts): NonNullable<Schemas['integration']> {
  return {
    id: facts.id,
    slug: facts.slug,
    node_id: `A_${facts.id}`,
    owner: user(urls, facts.owner),
    name: facts.slug,
    description: null,
    external_url: urls.web,
    html_url: `${urls.web}/apps/${facts.slug}`,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    permissions: facts.permissions as Record<string, string>,
    events: ['pull_request'],
  };
}

export function installation(urls: Urls, facts: AppFacts, id: number, owner: string, suspended: boolean): Schemas['installation'] {
  return {
    id,
    account: user(urls, owner),
    repository_selection: 'selected',
    access_tokens_url: `${urls.api}/app/installations/${id}/access_tokens`,
    repositories_url: `${urls.api}/installation/repositories`,
    html_url: `${urls.web}/organizations/${owner}/settings/installations/${id}`,
    app_id: facts.id,
    target_id: 1,
    target_type: 'Organization',
    permissions: facts.permissions,
    events: ['pull_request'],
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    single_file_name: null,
    app_slug: facts.slug,
    suspended_by: suspended ? user(urls, owner) : null,
    suspended_at: suspended ? LONG_AGO : null,
  };
}

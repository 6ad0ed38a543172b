import { shownRows, type Row } from './git-views.js';
import { DIFF_REFUSED } from './faults.js';
import { invalid, notFound, ok, page, type Answer, type Asked } from './answers.js';
import { ReviewRoutes } from './reviews.js';
import { app as appShape, LONG_AGO, minimalRepository, pull, repository, user, type Schemas } from './shapes.js';
import type { FakeApp, FakeState, StoredCheck } from './state.js';

type Permission = readonly [name: keyof Schemas['app-permissions'], access: 'read' | 'write'];

interface Route {
  readonly method: string;
  /** Below `/repos/OWNER/NAME`. */
  readonly path: RegExp;
  readonly needs: Permission;
  answer(asked: Asked, parts: readonly string[], who: FakeApp): Answer;
}

/** Everything below one repository, as an installation may read and write it. */
export class RepositoryRoutes {
  readonly reviews: ReviewRoutes;
  readonly #routes: readonly Route[];

  constructor(private readonly state: FakeState) {
    const reviews = new ReviewRoutes(state);
    this.reviews = reviews;
    const isPull = (number: string | undefined) => Number(number) === state.pull.number;
    const pulls = (path: string, method: string, access: 'read' | 'write', answer: Route['answer']): Route => ({
      method,
      path: new RegExp(`^/pulls/(\\d+)${path}$`),
      needs: ['pull_requests', access],
      answer: (asked, parts, who) => (isPull(parts[0]) ? answer(asked, parts.slice(1), who) : notFound()),
    });
    this.#routes = [
      { method: 'GET', path: /^$/, needs: ['metadata', 'read'], answer: () => ok(repository(state.urls, state.repo)) },
      pulls('', 'GET', 'read', (asked) => this.#pull(asked)),
      pulls('/files', 'GET', 'read', (asked) => this.#files(asked)),
      pulls('/comments', 'GET', 'read', (asked) => {
        const { items, headers } = page(asked, state.reviewComments, state.urls.api);
        return { ...ok(items.map((comment) => reviews.commentShape(comment) as Schemas['pull-request-review-comment'])), headers };
      }),
      pulls('/reviews', 'GET', 'read', (asked, _, who) => reviews.list(asked, who)),
      pulls('/reviews', 'POST', 'write', (asked, _, who) => reviews.create(asked, who)),
      pulls('/reviews/(\\d+)', 'DELETE', 'write', (_, [id], who) => reviews.remove(Number(id), who)),
      pulls('/reviews/(\\d+)/events', 'POST', 'write', (asked, [id], who) => reviews.submit(Number(id), asked, who)),
      pulls('/reviews/(\\d+)/comments', 'GET', 'read', (asked, [id]) => reviews.comments(asked, Number(id))),
      {
        method: 'GET',
        path: /^\/issues\/(\d+)\/comments$/,
        needs: ['pull_requests', 'read'],
        answer: (asked) => this.#issueComments(asked),
      },
      {
        method: 'GET',
        path: /^\/compare\/(.+)\.\.\.(.+)$/,
        needs: ['contents', 'read'],
        answer: (asked, [base, head]) => this.#compare(asked, String(base), String(head)),
      },
      {
        method: 'GET',
        path: /^\/git\/commits\/([0-9a-f]{40})$/,
        needs: ['contents', 'read'],
        answer: (_, [sha]) => this.#commit(String(sha)),
      },
      { method: 'GET', path: /^\/git\/trees\/([0-9a-f]{40})$/, needs: ['contents', 'read'], answer: (_, [sha]) => this.#tree(String(sha)) },
      { method: 'GET', path: /^\/git\/blobs\/([0-9a-f]{40})$/, needs: ['contents', 'read'], answer: (_, [sha]) => this.#blob(String(sha)) },
      {
        method: 'GET',
        path: /^\/commits\/([0-9a-f]{40})\/check-runs$/,
        needs: ['checks', 'read'],
        answer: (asked, [sha]) => this.#checks(asked, String(sha)),
      },
      {
        method: 'GET',
        path: /^\/commits\/([0-9a-f]{40})\/status$/,
        needs: ['statuses', 'read'],
        answer: (asked, [sha]) => this.#statuses(asked, String(sha)),
      },
    ];
  }

  answer(asked: Asked, below: string, who: FakeApp): Answer {
    for (const { method, path, needs, answer } of this.#routes) {
      const parts = method === asked.method ? path.exec(below) : null;
      if (parts === null) continue;
      const [name, access] = needs;
      const held = who.permissions[name];
      if (held === undefined || (access === 'write' && held === 'read')) {
        const body: Schemas['basic-error'] = {
          message: 'Resource not accessible by integration',
          documentation_url: 'https://docs.github.com/rest',
          status: '403',
        };
        return { status: 403, body, headers: { 'x-accepted-github-permissions': `${name}=${access}` } };
      }
      return answer(asked, parts.slice(1).map(decodeURIComponent), who);
    }
    return notFound();
  }

  #pull(asked: Asked): Answer {
    const { state } = this;
    if (String(asked.headers['accept']).includes('diff')) return DIFF_REFUSED;
    const { number, title, body, author, merged, draft, labels, headRepoGone } = state.pull;
    const facts = {
      number,
      title,
      body,
      author,
      state: state.pull.state,
      merged,
      draft,
      labels,
      headRepoGone,
      headRef: state.world.topic,
      headSha: state.headSha,
      baseRef: state.world.base,
      baseSha: state.baseSha,
    };
    const changedFiles = state.views.rows(state.mergeBase, state.headSha).length;
    return ok(pull(state.urls, state.repo, { ...facts, changedFiles }));
  }

  #files(asked: Asked): Answer {
    const { state } = this;
    const rows = state.views.rows(state.mergeBase, state.headSha).slice(0, state.limits.listing);
    const { items, headers } = page(asked, rows, state.urls.api);
    const files: Schemas['diff-entry'][] = shownRows(items, state.limits, (row) => this.#rowUrls(row));
    return { ...ok(files), headers };
  }

  #rowUrls({ filename, sha }: Row) {
    const { html_url: html, url } = repository(this.state.urls, this.state.repo);
    const path = encodeURIComponent(filename);
    return {
      blob_url: `${html}/blob/${sha}/${path}`,
      raw_url: `${html}/raw/${sha}/${path}`,
      contents_url: `${url}/contents/${path}?ref=${sha}`,
    };
  }

  #issueComments(asked: Asked): Answer {
    const { state } = this;
    const base = repository(state.urls, state.repo);
    const { items, headers } = page(asked, state.issueComments, state.urls.api);
    const shown = items.filter(({ author }) => !state.hidden.has(author));
    const comments = shown.map(({ id, author, body, at }): Schemas['issue-comment'] => ({
      id,
      node_id: `IC_${id}`,
      url: `${base.url}/issues/comments/${id}`,
      html_url: `${base.html_url}/pull/${state.pull.number}#issuecomment-${id}`,
      issue_url: `${base.url}/issues/${state.pull.number}`,
      user: user(state.urls, author),
      body,
      created_at: at,
      updated_at: at,
    }));
    return { ...ok(comments), headers };
  }

  #compare(asked: Asked, baseName: string, headName: string): Answer {
    const { state } = this;
    const [base, head] = [this.#resolve(baseName), this.#resolve(headName)];
    if (base === null || head === null) return notFound();
    const merge = state.views.mergeBase(base, head);
    if (merge === null) return notFound(`No common ancestor between ${baseName} and ${headName}.`);
    const [ahead, behind] = [state.views.count(base, head), state.views.count(head, base)];
    const repo = repository(state.urls, state.repo);
    const number = Number(asked.query.get('page') ?? 1);
    const size = Number(asked.query.get('per_page') ?? 250);
    const shown = state.views.commits(base, head).slice((number - 1) * size, number * size);
    const rows = state.views.rows(merge, head).slice(0, state.limits.compareFiles);
    const comparison: Schemas['commit-comparison'] = {
      url: `${repo.url}/compare/${base}...${head}`,
      html_url: `${repo.html_url}/compare/${base}...${head}`,
      permalink_url: `${repo.html_url}/compare/${base}...${head}`,
      diff_url: `${repo.html_url}/compare/${base}...${head}.diff`,
      patch_url: `${repo.html_url}/compare/${base}...${head}.patch`,
      base_commit: this.#commitShape(base),
      merge_base_commit: this.#commitShape(merge),
      status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
      ahead_by: ahead,
      behind_by: behind,
      total_commits: ahead,
      commits: shown.map((sha) => this.#commitShape(sha)),
      ...(number === 1 ? { files: shownRows(rows, state.limits, (row) => this.#rowUrls(row)) } : {}),
    };
    return ok(comparison);
  }

  #resolve(name: string): string | null {
    if (/^[0-9a-f]{40}$/.test(name)) return this.state.views.has(name) ? name : null;
    try {
      return this.state.world.head(`refs/heads/${name}`);
    } catch {
      return null;
    }
  }

  #commitShape(sha: string): Schemas['commit'] {
    const { url, html_url: html } = repository(this.state.urls, this.state.repo);
    const [tree = '', parents = ''] = this.state.world.git('show', '-s', '--format=%T%n%P', sha).split('\n');
    const person = { name: 'Robin', email: 'robin@example.com', date: LONG_AGO };
    return {
      url: `${url}/commits/${sha}`,
      sha,
      node_id: `C_${sha}`,
      html_url: `${html}/commit/${sha}`,
      comments_url: `${url}/commits/${sha}/comments`,
      commit: {
        url: `${url}/git/commits/${sha}`,
        author: person,
        committer: person,
        message: 'A commit',
        comment_count: 0,
        tree: { sha: tree, url: `${url}/git/trees/${tree}` },
      },
      author: null,
      committer: null,
      parents: parents
        .split(' ')
        .filter((parent) => parent !== '')
        .map((parent) => ({ sha: parent, url: `${url}/commits/${parent}` })),
    };
  }

  #commit(sha: string): Answer {
    if (!this.state.views.has(sha)) return notFound();
    const { url } = repository(this.state.urls, this.state.repo);
    const shape = this.#commitShape(sha);
    const person = { name: 'Robin', email: 'robin@example.com', date: LONG_AGO };
    const commit: Schemas['git-commit'] = {
      sha,
      node_id: shape.node_id,
      url: `${url}/git/commits/${sha}`,
      author: person,
      committer: person,
      message: 'A commit',
      tree: shape.commit.tree,
      parents: shape.parents.map((parent) => ({ sha: parent.sha, url: parent.url, html_url: parent.url })),
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
      html_url: shape.html_url,
    };
    return ok(commit);
  }

  /** A tree by its own name or its commit's. */
  #tree(name: string): Answer {
    const { world, repo, urls } = this.state;
    let listing: string;
    try {
      listing = world.git('ls-tree', '-z', '-l', name);
    } catch {
      return notFound();
    }
    const sha = world.head(`${name}^{tree}`);
    const entries = listing
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [, mode = '', type = '', object = '', size = '', path = ''] = /^(\d+) (\w+) ([0-9a-f]+) +(\S+)\t(.*)$/s.exec(line) ?? [];
        return { path, mode, type, sha: object, ...(type === 'blob' ? { size: Number(size) } : {}) };
      });
    const tree: Schemas['git-tree'] = { sha, url: `${repository(urls, repo).url}/git/trees/${sha}`, truncated: false, tree: entries };
    return ok(tree);
  }

  #blob(sha: string): Answer {
    const { world, repo, urls } = this.state;
    try {
      const content = world.gitBytes(['cat-file', 'blob', sha]);
      const base64 = content.toString('base64').replace(/.{60}/g, '$&\n');
      const blob: Schemas['blob'] = {
        sha,
        size: content.length,
        content: base64,
        encoding: 'base64',
        node_id: `B_${sha}`,
        url: `${repository(urls, repo).url}/git/blobs/${sha}`,
      };
      return ok(blob);
    } catch {
      return notFound();
    }
  }

  #checks(asked: Asked, sha: string): Answer {
    if (!this.state.views.has(sha)) return invalid([], `No commit found for SHA: ${sha}`);
    const all = this.state.checks.filter((check) => check.sha === sha);
    const { items, headers } = page(asked, all, this.state.urls.api);
    const runs = items.map((check) => this.#checkShape(check));
    return { ...ok({ total_count: all.length, check_runs: runs }), headers };
  }

  #checkShape({ name, sha, status, conclusion, appId }: StoredCheck): Schemas['check-run'] {
    const { urls, repo, apps } = this.state;
    const { url, html_url: html } = repository(urls, repo);
    const own = apps.find((app) => app.id === appId) ?? { id: appId, slug: 'some-ci', owner: 'some-ci', permissions: {} };
    return {
      id: 1,
      head_sha: sha,
      node_id: 'CR_1',
      external_id: null,
      url: `${url}/check-runs/1`,
      html_url: `${html}/runs/${encodeURIComponent(name)}`,
      details_url: null,
      status,
      // GraphQL has two more words than the published REST type; REST answers them all the same.
      conclusion: conclusion as Schemas['check-run']['conclusion'],
      started_at: LONG_AGO,
      completed_at: status === 'completed' ? LONG_AGO : null,
      output: { title: null, summary: null, text: null, annotations_count: 0, annotations_url: `${url}/check-runs/1/annotations` },
      name,
      check_suite: { id: 1 },
      app: appShape(urls, own),
      // Empty for a push to a fork.
      pull_requests: [],
    };
  }

  #statuses(asked: Asked, sha: string): Answer {
    const { state } = this;
    const all = state.statuses.filter((status) => status.sha === sha);
    const { items, headers } = page(asked, all, state.urls.api);
    const repo = minimalRepository(state.urls, state.repo);
    const worst = all.some(({ state: word }) => word === 'failure' || word === 'error')
      ? 'failure'
      : all.length > 0 && all.every(({ state: word }) => word === 'success')
        ? 'success'
        : 'pending';
    const combined: Schemas['combined-commit-status'] = {
      state: worst,
      statuses: items.map(({ context, state: word }) => ({
        description: null,
        id: 1,
        node_id: 'SC_1',
        state: word,
        context,
        target_url: `${repo.html_url}/status/${encodeURIComponent(context)}`,
        avatar_url: null,
        url: `${repo.url}/statuses/${sha}`,
        created_at: LONG_AGO,
        updated_at: LONG_AGO,
      })),
      sha,
      total_count: all.length,
      repository: repo,
      commit_url: `${repo.url}/commits/${sha}`,
      url: `${repo.url}/commits/${sha}/status`,
    };
    return { ...ok(combined), headers };
  }
}

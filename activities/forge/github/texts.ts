import type { Description, GitHubPullRequestRef, Issue, ReviewComment } from '../port.js';
import { ForgeError } from '../port.js';
import type { GitHubApp } from './app.js';
import { allPages, PER_PAGE } from './pages.js';
import { reviewRows } from './posted.js';
import { at, readPull } from './pull.js';

/** Of each kind of comment; a page shows far fewer. */
const MAX_COMMENT_PAGES = 10;
const MAX_THREAD_PAGES = 10;

const TEXTS = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    pullRequest(number: $number) {
      closingIssuesReferences(first: 10) { totalCount nodes { number title body url repository { nameWithOwner } } }
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { isResolved comments(first: 1) { nodes { fullDatabaseId } } }
      }
    }
  }
}`;

interface TextsAnswer {
  readonly repository: {
    readonly nameWithOwner: string;
    readonly pullRequest: {
      readonly closingIssuesReferences: {
        readonly totalCount: number;
        readonly nodes: readonly ({
          readonly number: number;
          readonly title: string;
          readonly body: string;
          readonly url: string;
          readonly repository: { readonly nameWithOwner: string };
        } | null)[];
      } | null;
      readonly reviewThreads: {
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
        readonly nodes: readonly ({
          readonly isResolved: boolean;
          readonly comments: { readonly nodes: readonly ({ readonly fullDatabaseId: string | number } | null)[] };
        } | null)[];
      };
    } | null;
  } | null;
}

/** C1: title, description, closing issue and every comment, a thread's together; what cannot be had is a gap (C9). @throws {ForgeError} */
export async function readTexts(app: GitHubApp, ref: GitHubPullRequestRef): Promise<Description> {
  const [pull, issues, remarks, reviews, linked] = await Promise.all([
    readPull(app, ref),
    orGap('Comments', issueComments(app, ref)),
    orGap('Review comments', reviewComments(app, ref)),
    orGap('Reviews', reviewBodies(app, ref)),
    orGap('The closing issue and which threads are resolved', readLinked(app, ref)),
  ]);
  const gaps = [issues, remarks, reviews, linked].flatMap((part) => part.gaps);
  const { issue, resolved } = linked.value ?? { issue: null, resolved: new Set<string>() };
  const threads = (remarks.value ?? []).map(({ comment, thread }) => ({
    comment: resolved.has(thread) ? { ...comment, resolved: true as const } : comment,
    thread,
  }));
  const alone = [...(issues.value ?? []), ...(reviews.value ?? [])].map((comment) => ({ comment, thread: comment.id }));
  return { title: pull.title, description: pull.body ?? '', issue, comments: inThreads([...alone, ...threads]), gaps };
}

interface Part<T> {
  readonly value: T | null;
  readonly gaps: readonly string[];
}

/** A limit stops the whole read, for it would stop the rest too; anything else costs this part alone. */
async function orGap<T>(what: string, reading: Promise<{ readonly value: T; readonly gap: string | null }>): Promise<Part<T>> {
  try {
    const { value, gap } = await reading;
    return { value, gaps: gap === null ? [] : [gap] };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    return { value: null, gaps: [`${what} could not be read: ${error.message}`] };
  }
}

interface InThread {
  readonly comment: ReviewComment;
  /** The id of the comment that began it. */
  readonly thread: string;
}

/** Oldest thread first, by its first comment; replies follow it. */
function inThreads(all: readonly InThread[]): ReviewComment[] {
  const threads = new Map<string, ReviewComment[]>();
  for (const { comment, thread } of [...all].sort((one, other) =>
    one.comment.at < other.comment.at ? -1 : one.comment.at > other.comment.at ? 1 : 0,
  )) {
    threads.set(thread, [...(threads.get(thread) ?? []), comment]);
  }
  return [...threads.values()].flat();
}

const capped = (what: string, more: boolean) => (more ? `Only the first ${MAX_COMMENT_PAGES * PER_PAGE} ${what} are shown.` : null);

async function issueComments(app: GitHubApp, ref: GitHubPullRequestRef) {
  const { items, more } = await allPages(app, ref, MAX_COMMENT_PAGES, async (octokit, page) => {
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...at(ref),
      issue_number: ref.number,
      per_page: PER_PAGE,
      page,
    });
    return { rows: data, headers };
  });
  const value = items.map((comment): ReviewComment => ({
    id: String(comment.id),
    author: comment.user?.login ?? 'ghost',
    at: comment.created_at,
    body: comment.body ?? '',
    path: null,
    line: null,
    url: comment.html_url,
  }));
  return { value, gap: capped('comments', more) };
}

async function reviewComments(app: GitHubApp, ref: GitHubPullRequestRef) {
  const { items, more } = await allPages(app, ref, MAX_COMMENT_PAGES, async (octokit, page) => {
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', {
      ...at(ref),
      pull_number: ref.number,
      per_page: PER_PAGE,
      page,
    });
    return { rows: data, headers };
  });
  const value = items.map((comment): InThread => ({
    comment: {
      id: String(comment.id),
      author: comment.user?.login ?? 'ghost',
      at: comment.created_at,
      body: comment.body,
      path: comment.path,
      line: comment.line ?? comment.original_line ?? null,
      url: comment.html_url,
    },
    thread: String(comment.in_reply_to_id ?? comment.id),
  }));
  return { value, gap: capped('review comments', more) };
}

/** What reviews say beside their line comments. */
async function reviewBodies(app: GitHubApp, ref: GitHubPullRequestRef) {
  const { items, more } = await reviewRows(app, ref, MAX_COMMENT_PAGES);
  const value = items
    .filter((review) => review.body !== '' && review.submitted_at !== undefined)
    .map((review): ReviewComment => ({
      id: `review-${String(review.id)}`,
      author: review.user?.login ?? 'ghost',
      at: review.submitted_at ?? '',
      body: review.body,
      path: null,
      line: null,
      url: review.html_url,
    }));
  return { value, gap: capped('reviews', more) };
}

/** The issue it closes and the first comments of resolved threads: only GraphQL knows either. */
async function readLinked(app: GitHubApp, ref: GitHubPullRequestRef) {
  const resolved = new Set<string>();
  let [issue, gap, after]: [Issue | null, string | null, string | null] = [null, null, null];
  for (let page = 1; page <= MAX_THREAD_PAGES; page++) {
    const answer: TextsAnswer = await app.query(ref, TEXTS, { owner: ref.owner, name: ref.name, number: ref.number, after });
    const pull = answer.repository?.pullRequest;
    if (!pull) throw new ForgeError('not_found', 'GitHub does not show the pull request to GraphQL.');
    const [first, ...further] = pull.closingIssuesReferences?.nodes.filter((node) => node !== null) ?? [];
    if (page === 1 && first !== undefined) {
      // An issue of another repository must not be taken for the one of that number here.
      const elsewhere = first.repository.nameWithOwner === answer.repository.nameWithOwner ? '' : first.repository.nameWithOwner;
      issue = { id: `${elsewhere}#${first.number}`, title: first.title, body: first.body, url: first.url };
      const others = further.map((other) => other.url);
      if (others.length > 0)
        gap = `It closes ${(pull.closingIssuesReferences?.totalCount ?? 1) - 1} further issues, not shown here: ${others.join(', ')}`;
    }
    for (const thread of pull.reviewThreads.nodes) {
      const head = thread?.comments.nodes[0];
      if (thread?.isResolved && head) resolved.add(String(head.fullDatabaseId));
    }
    after = pull.reviewThreads.pageInfo.endCursor;
    if (!pull.reviewThreads.pageInfo.hasNextPage) break;
  }
  return { value: { issue, resolved }, gap };
}

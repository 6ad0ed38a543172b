import {
  validate,
  type AddPullRequestReviewThreadPayload,
  type Issue,
  type PageInfo,
  type PullRequestReviewComment,
  type PullRequestReviewThread,
} from '@octokit/graphql-schema';
import { ok, type Answer } from './answers.js';
import type { ReviewRoutes } from './reviews.js';
import type { FakeApp, FakeState } from './state.js';

const THREADS = 100;

interface TextsOf {
  readonly closingIssuesReferences: {
    readonly totalCount: number;
    readonly nodes: readonly (Pick<Issue, 'number' | 'title' | 'body' | 'url'> & {
      readonly repository: Pick<Issue['repository'], 'nameWithOwner'>;
    })[];
  };
  readonly reviewThreads: {
    readonly pageInfo: Pick<PageInfo, 'hasNextPage' | 'endCursor'>;
    readonly nodes: readonly (Pick<PullRequestReviewThread, 'isResolved'> & {
      readonly comments: { readonly nodes: readonly Pick<PullRequestReviewComment, 'fullDatabaseId'>[] };
    })[];
  };
}

/** The few queries the forge asks, each held to GitHub's published schema before it is answered. */
export function graphql(state: FakeState, reviews: ReviewRoutes, body: Record<string, unknown>, who: FakeApp): Answer {
  const query = String(body['query']);
  const wrong = validate(query);
  if (wrong.length > 0) return ok({ errors: wrong.map((error) => ({ message: error.message })) });
  const variables = (body['variables'] ?? {}) as Record<string, string>;
  if (query.includes('addPullRequestReviewThread')) {
    if (who.permissions.pull_requests !== 'write') return forbidden();
    const id = Number(String(variables['review']).replace('PRR_', ''));
    const added = reviews.addFileThread(id, String(variables['path']), String(variables['body']), who);
    const data: {
      addPullRequestReviewThread: Pick<AddPullRequestReviewThreadPayload, 'clientMutationId'> & { thread: { id: string } | null };
    } = {
      // A thread that has no place succeeds without one, as on the real one.
      addPullRequestReviewThread: { clientMutationId: null, thread: added ? { id: 'PRRT_1' } : null },
    };
    return ok({ data });
  }
  if (who.permissions.issues === undefined) return forbidden();
  const nameWithOwner = `${state.repo.owner}/${state.repo.name}`;
  return ok({ data: { repository: { nameWithOwner, pullRequest: texts(state, Number(variables['after'] ?? 0)) } } });
}

function texts({ pull, reviewComments, resolved, urls, repo }: FakeState, from: number): TextsOf {
  const heads = reviewComments.filter((comment) => comment.replyTo === null);
  const shown = heads.slice(from, from + THREADS);
  const more = from + THREADS < heads.length;
  return {
    closingIssuesReferences: {
      totalCount: pull.closes.length,
      nodes: pull.closes.slice(0, 10).map(({ of: nameWithOwner = `${repo.owner}/${repo.name}`, ...issue }) => ({
        ...issue,
        url: `${urls.web}/${nameWithOwner}/issues/${issue.number}`,
        repository: { nameWithOwner },
      })),
    },
    reviewThreads: {
      pageInfo: { hasNextPage: more, endCursor: more ? String(from + THREADS) : null },
      nodes: shown.map(({ id }) => ({ isResolved: resolved.has(id), comments: { nodes: [{ fullDatabaseId: String(id) }] } })),
    },
  };
}

const forbidden = (): Answer => ok({ data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] });

import {
  ForgeError,
  type GitHubPullRequestRef,
  type LineComment,
  type Posted,
  type Posting,
  type ReadBack,
  type ReviewToPost,
} from '../port.js';
import { isMarked, placeOfRemark, plain, type Remark, remarksOf } from '../remarks.js';
import { placeOf, type GitHubApp } from './app.js';
import { allPages, PER_PAGE } from './pages.js';
import { at, readPull } from './pull.js';
import { markerOf } from './review-body.js';

export interface PostDeps {
  readonly operator: GitHubApp;
  /** The review identity; null: none is set up, the operator posts. */
  readonly reviewer: GitHubApp | null;
}

export interface Review {
  readonly id: number;
  readonly login: string;
  readonly state: string;
  readonly body: string;
  readonly url: string;
}

const MAX_REVIEW_PAGES = 30;

/** D5: what one of our Apps posted under this marker. Another's text with the marker in it is not it. @throws {ForgeError} */
export async function findPosted(deps: PostDeps, ref: GitHubPullRequestRef, posting: Posting): Promise<Posted | null> {
  const found = await findReview(deps, ref, posting);
  return found === null ? null : { url: found.url };
}

/** D9: compares what GitHub shows with what was to be posted. @throws {ForgeError} */
export async function readBack(deps: PostDeps, ref: GitHubPullRequestRef, review: ReviewToPost): Promise<ReadBack> {
  const found = await findReview(deps, ref, review);
  if (found === null) return { found: false, url: null, inBody: [], differences: [] };
  const { items } = await allPages(deps.operator, ref, MAX_REVIEW_PAGES, async (octokit, page) => {
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments', {
      ...at(ref),
      pull_number: ref.number,
      review_id: found.id,
      per_page: PER_PAGE,
      page,
    });
    return { rows: data, headers };
  });
  const missing = new Set<number>();
  const differences = remarksOf(review).flatMap((remark, index) => {
    const shown = items.filter((comment) => comment.path === remark.path && plain(comment.body) === plain(remark.body));
    if (shown.length === 0) missing.add(index);
    if (shown.length === 0) return [`${placeOfRemark(remark)} stands in the body: GitHub took no comment there.`];
    return shown.some((comment) => standsAt(comment, remark)) ? [] : [`The comment for ${placeOfRemark(remark)} stands at another place.`];
  });
  const body = missing.size === 0 ? review.body : review.bodyWithout(missing);
  if (!plain(found.body).includes(plain(body))) differences.unshift('The body reads otherwise than what was sent.');
  return { found: true, url: found.url, inBody: [...missing], differences };
}

/** D5: whoever posted, for what the owner set may have changed between two attempts. */
export async function ourLogins({ operator, reviewer }: PostDeps, ref: GitHubPullRequestRef): Promise<ReadonlySet<string>> {
  const logins = await Promise.all([operator.login(ref), reviewer?.login(ref) ?? null]);
  return new Set(logins.filter((login) => login !== null));
}

async function findReview(deps: PostDeps, ref: GitHubPullRequestRef, posting: Posting): Promise<Review | null> {
  await readPull(deps.operator, ref);
  return submittedIn(await listReviews(deps.operator, ref), await ourLogins(deps, ref), posting);
}

/** All of the pull request's, whoever wrote them. @throws {ForgeError} */
export async function listReviews(app: GitHubApp, ref: GitHubPullRequestRef): Promise<Review[]> {
  const { items, more } = await reviewRows(app, ref, MAX_REVIEW_PAGES);
  // Ours may stand among those that were not read: sent all the same it could be there twice.
  if (more) throw new ForgeError('refused', `${placeOf(ref)}#${ref.number} has more reviews than can be looked through for our own.`);
  return items.map((review) => ({
    id: Number(review.id),
    login: review.user?.login ?? '',
    state: review.state,
    body: review.body,
    url: review.html_url,
  }));
}

/** What was submitted under the marker by one of `logins`. */
export function submittedIn(reviews: readonly Review[], logins: ReadonlySet<string>, { marker }: Posting): Review | null {
  return (
    reviews.find((review) => review.state !== 'PENDING' && logins.has(review.login) && isMarked(review.body, markerOf(marker))) ?? null
  );
}

/** Reviews as GitHub lists them, at most `maxPages` pages of 100. @throws {ForgeError} */
export async function reviewRows(app: GitHubApp, ref: GitHubPullRequestRef, maxPages: number) {
  return allPages(app, ref, maxPages, async (octokit, page) => {
    const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...at(ref),
      pull_number: ref.number,
      per_page: PER_PAGE,
      page,
    });
    return { rows: data, headers };
  });
}

/** What GitHub says of a comment's lines; the original ones where the file has changed there since. */
interface Shown {
  readonly line?: number | null;
  readonly original_line?: number | null;
  readonly start_line?: number | null;
  readonly original_start_line?: number | null;
  readonly side?: string;
  readonly subject_type?: string;
}

function standsAt(shown: Shown, remark: Remark): boolean {
  if (!('line' in remark)) return shown.subject_type === 'file';
  const line = shown.original_line ?? shown.line ?? null;
  const start = shown.original_start_line ?? shown.start_line ?? undefined;
  return line === remark.line && start === remark.startLine && shown.side === sideOf(remark);
}

/** A side by GitHub's name for it. */
export const sideOf = ({ side }: LineComment): 'LEFT' | 'RIGHT' => (side === 'old' ? 'LEFT' : 'RIGHT');

import { setTimeout as pause } from 'node:timers/promises';
import { type FileComment, ForgeError, type GitHubPullRequestRef, type LineComment, type Posted, type ReviewToPost } from '../port.js';
import { createPlacer } from '../../context/anchors.js';
import { cutText } from '../../markdown.js';
import { placeOf } from './app.js';
import type { Octokit } from './clients.js';
import { MAX_DIFF_BYTES } from '../local/diff.js';
import { failedOf, isTooQuick } from './failures.js';
import { listRows } from './listing.js';
import { findPosted, listReviews, ourLogins, sideOf, submittedIn, type PostDeps, type Review } from './posted.js';
import { at, readPull, type Pull, type Row } from './pull.js';
import { goesOn } from '../remarks.js';
import { posterFor, type PosterApp } from './poster-app.js';
import { refusedFor, type Refused } from './refused-review.js';
import { COMMENT_LIMIT, composeReview, type Composed } from './review-body.js';

/** What GitHub did with a request it answered 502 to shows within this. */
const SETTLE_MS = 2_000;
const EVENTS = { approve: 'APPROVE', request_changes: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;
type Event = (typeof EVENTS)[keyof typeof EVENTS];
/** Never sent a second time by the client: it may have worked. */
const ONCE = { request: { retries: 0 } };

const ADD_FILE_THREAD = `mutation ($review: ID!, $path: String!, $body: String!) {
  addPullRequestReviewThread(input: { pullRequestReviewId: $review, path: $path, body: $body, subjectType: FILE }) { thread { id } }
}`;

/** D5, D9: one review, once. What GitHub would refuse of it stands in its body. @throws {ForgeError} */
export async function postReview(deps: PostDeps, ref: GitHubPullRequestRef, review: ReviewToPost, stop?: AbortSignal): Promise<Posted> {
  const pull = await readPull(deps.operator, ref);
  const poster = await posterFor(deps, ref, pull, review.as);
  const reviews = await listReviews(poster.app, ref);
  const done = submittedIn(reviews, await ourLogins(deps, ref), review);
  if (done !== null) return { url: done.url };
  goesOn(stop);
  await removePending(poster, ref, reviews);
  return new Poster(deps, poster, ref, pull, review, stop).post();
}

/** One pending review of ours, left by a posting that died, would keep every further one out. Nobody but us writes in it. */
async function removePending({ app, login }: PosterApp, ref: GitHubPullRequestRef, reviews: readonly Review[]): Promise<void> {
  for (const { id } of reviews.filter((review) => review.state === 'PENDING' && review.login === login)) {
    await app.call(ref, async (octokit) => {
      try {
        await octokit.request('DELETE /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}', {
          ...at(ref),
          pull_number: ref.number,
          review_id: id,
          ...ONCE,
        });
      } catch (error) {
        // Another posting of ours was faster, to remove it or to submit it.
        if (![404, 422].includes(failedOf(error)?.status ?? 0)) throw error;
      }
    });
  }
}

class Poster {
  #unplaced = new Set<number>();
  #commentOnly: boolean;
  #commit: string | undefined;

  constructor(
    private readonly deps: PostDeps,
    private readonly poster: PosterApp,
    private readonly ref: GitHubPullRequestRef,
    private readonly pull: Pull,
    private review: ReviewToPost,
    private readonly stop: AbortSignal | undefined,
  ) {
    this.#commentOnly = poster.commentOnly;
    this.#commit = review.headSha;
  }

  /** Sends it, each time without what GitHub refused the last time; every cause is taken away once. */
  async post(): Promise<Posted> {
    const seen = new Set<Refused>();
    for (;;) {
      const composed = composeReview(this.review, { openWithVerdict: this.#commentOnly, unplaced: this.#unplaced });
      const refused = await this.#send(composed);
      if (typeof refused === 'object') return refused;
      if (refused === 'anchors') await this.#dropAnchors(seen.has('anchors'));
      else if (seen.has(refused))
        throw new ForgeError('invalid', `GitHub refuses the review in ${placeOf(this.ref)} however it is sent (${refused}).`);
      else if (refused === 'own') this.#commentOnly = true;
      else if (refused === 'pending') await removePending(this.poster, this.ref, await listReviews(this.poster.app, this.ref));
      else this.#withoutCommit();
      seen.add(refused);
    }
  }

  async #send(composed: Composed): Promise<Posted | Exclude<Refused, null>> {
    try {
      return await this.poster.app.call(this.ref, async (octokit) => {
        try {
          return await this.#create(octokit, composed);
        } catch (error) {
          const refused = refusedFor(error);
          if (refused === null) throw error;
          return refused;
        }
      });
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'unavailable') throw error;
      const worked = await this.#lookTwice();
      if (worked === null) throw error;
      return worked;
    }
  }

  /** D5: an unclear end may have been a good one. Where looking fails too, the first failure is the one to tell. */
  async #lookTwice(): Promise<Posted | null> {
    for (const wait of [0, SETTLE_MS]) {
      await pause(wait);
      try {
        const found = await findPosted(this.deps, this.ref, this.review);
        if (found !== null) return found;
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return null;
      }
    }
    return null;
  }

  async #create(octokit: Octokit, { body, comments }: Composed): Promise<Posted> {
    const event: Event = this.#commentOnly ? 'COMMENT' : EVENTS[this.review.verdict];
    const { fileComments } = this.review;
    const pull = { ...at(this.ref), pull_number: this.ref.number };
    goesOn(this.stop);
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...pull,
      ...ONCE,
      body,
      comments: comments.map(sent),
      ...(this.#commit === undefined ? {} : { commit_id: this.#commit }),
      ...(fileComments.length === 0 ? { event } : {}),
    });
    if (fileComments.length === 0) return { url: data.html_url, by: this.poster.by };
    try {
      return await this.#finish(octokit, { id: Number(data.id), node: data.node_id }, event);
    } catch (error) {
      // Another posting of ours took it for a left-over: what is sent anew is looked for first.
      if (failedOf(error)?.status !== 404) throw error;
      throw new ForgeError('unavailable', `The review in ${placeOf(this.ref)} was gone before it was submitted.`, SETTLE_MS / 1_000);
    }
  }

  /** Remarks on whole files can only be added to a review that is not submitted yet. */
  async #finish(octokit: Octokit, { id, node }: { id: number; node: string }, event: Event): Promise<Posted> {
    const unplaced = new Set(this.#unplaced);
    for (const [index, comment] of this.review.fileComments.entries()) {
      goesOn(this.stop);
      if (!(await addFileThread(octokit, node, comment))) unplaced.add(this.review.comments.length + index);
    }
    const { body } = composeReview(this.review, { openWithVerdict: this.#commentOnly, unplaced });
    goesOn(this.stop);
    const submitted = await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events', {
      ...at(this.ref),
      pull_number: this.ref.number,
      ...ONCE,
      review_id: id,
      event,
      body,
    });
    return { url: submitted.data.html_url, by: this.poster.by };
  }

  /**
   * D9: GitHub's own hunks decide, where they are still those of the review's commit; what they do not settle at once
   * is not tried line by line: all comments go into the body.
   */
  async #dropAnchors(again: boolean): Promise<void> {
    const all = this.review.comments;
    if (again || this.pull.head.sha !== this.review.headSha) return this.#withoutLines();
    const paths = new Set(all.map(({ path }) => path));
    const rows = await listRows(
      (page, perPage) =>
        this.deps.operator.call(this.ref, async (octokit): Promise<readonly Row[]> => {
          const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
            ...at(this.ref),
            pull_number: this.ref.number,
            per_page: perPage,
            page,
          });
          return data;
        }),
      // At most forty files, whatever else the pull request has.
      { maxPatches: MAX_DIFF_BYTES, wanted: ({ filename }) => paths.has(filename) },
    );
    const placer = createPlacer(new Map(rows.map((row) => [row.filename, row.patch ?? null])));
    const placements = all.map((comment) => placer(comment));
    const bad = all.flatMap((_, index) => (placements[index]?.placed ? [] : [index]));
    // What fits with its last line only stands there.
    const comments = all.map(({ startLine, ...comment }, index): LineComment => {
      const placement = placements[index];
      return startLine !== undefined && placement?.placed && placement.startLine === undefined ? comment : (all[index] as LineComment);
    });
    const shortened = comments.some((comment, index) => comment !== all[index]);
    if (bad.length === 0 && !shortened) return this.#withoutLines();
    this.review = { ...this.review, comments };
    this.#unplaced = new Set(bad);
  }

  #withoutLines(): void {
    if (this.#unplaced.size === this.review.comments.length)
      throw new ForgeError('invalid', `GitHub refuses the review in ${placeOf(this.ref)} though it has no line comments left.`);
    this.#unplaced = new Set(this.review.comments.keys());
  }

  /** D6: a commit that is no longer the pull request's takes no comments at lines, but the review is still posted. */
  #withoutCommit(): void {
    this.#commit = undefined;
    this.#unplaced = new Set(this.review.comments.keys());
  }
}

function sent(comment: LineComment) {
  const { path, line, startLine, body } = comment;
  const side = sideOf(comment);
  return { path, line, side, ...(startLine === undefined ? {} : { start_line: startLine, start_side: side }), body };
}

/** false: GitHub has no place for it, which it says with no thread, or with a refusal. */
async function addFileThread(octokit: Octokit, review: string, { path, body }: FileComment): Promise<boolean> {
  try {
    const variables = { review, path, body: cutText(body, COMMENT_LIMIT).text, ...ONCE };
    const added = await octokit.graphql<{ addPullRequestReviewThread: { thread: unknown } | null }>(ADD_FILE_THREAD, variables);
    return Boolean(added.addPullRequestReviewThread?.thread);
  } catch (error) {
    const failed = failedOf(error);
    if (failed?.status === 422 && !isTooQuick(failed)) return false;
    throw error;
  }
}

import { anchorsOf } from './git-views.js';
import { invalid, notFound, ok, page, type Answer, type Asked } from './answers.js';
import { LONG_AGO, repository, user, type Schemas } from './shapes.js';
import type { FakeApp, FakeState, StoredReview, StoredReviewComment } from './state.js';

const BODY_LIMIT = 65_536;
const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;
type Event = keyof typeof STATES;

interface SentComment {
  readonly path: string;
  readonly body: string;
  readonly line?: number;
  readonly side?: 'LEFT' | 'RIGHT';
  readonly start_line?: number;
  readonly start_side?: 'LEFT' | 'RIGHT';
}

/** Reviews as the real one takes them: all or nothing, one pending a user, no verdict on one's own. */
export class ReviewRoutes {
  constructor(private readonly state: FakeState) {}

  list(asked: Asked, who: FakeApp): Answer {
    // A pending review is seen by its own user alone.
    const seen = this.state.reviews.filter((review) => review.state !== 'PENDING' || review.author === loginOf(who));
    const { items, headers } = page(asked, seen, this.state.urls.api);
    const shown = items.filter((review) => !this.state.hidden.has(review.author));
    return { ...ok(shown.map((review) => this.shape(review))), headers };
  }

  create({ body }: Asked, who: FakeApp): Answer {
    const { state } = this;
    const event = body['event'] as Event | undefined;
    const text = (body['body'] as string | undefined) ?? '';
    const comments = (body['comments'] as SentComment[] | undefined) ?? [];
    const commit = (body['commit_id'] as string | undefined) ?? state.headSha;
    if (state.reviews.some((review) => review.state === 'PENDING' && review.author === loginOf(who))) {
      return invalid(['User can only have one pending review per pull request']);
    }
    const refusal = this.#verdictRefusal(event, text, who) ?? this.#bodyRefusal([text, ...comments.map((comment) => comment.body)]);
    if (refusal !== null) return refusal;
    if (!state.views.has(commit)) return invalid(['The commit_id is not part of the pull request']);
    const rows = state.views.rows(state.views.mergeBase(state.baseSha, commit) ?? state.baseSha, commit);
    for (const { path, line, side = 'RIGHT', start_line: start, start_side = side } of comments) {
      const patch = rows.find((row) => row.filename === path)?.whole ?? null;
      // One bad anchor costs the whole review.
      if (patch === null) return invalid(['Path could not be resolved']);
      const anchors = anchorsOf(patch);
      const hunk = line === undefined ? undefined : anchors[side].get(line);
      if (line === undefined || hunk === undefined) return invalid(['Line could not be resolved']);
      if (start === undefined) continue;
      if (start_side === side && start >= line) return invalid(['start_line must precede the end line.']);
      if (anchors[start_side].get(start) !== hunk) return invalid(['start_line must be part of the same hunk as the line.']);
    }
    const review: StoredReview = { id: state.nextId(), author: loginOf(who), body: text, state: 'PENDING', commit, submittedAt: null };
    state.reviews.push(review);
    for (const { path, line, side, start_line: start, body: said } of comments)
      this.#add(review, said, path, line ?? null, side ?? 'RIGHT', start ?? null);
    if (event !== undefined) this.#submit(review, event);
    return ok(this.shape(review));
  }

  submit(id: number, { body }: Asked, who: FakeApp): Answer {
    const review = this.#own(id, who);
    const event = body['event'] as Event;
    if (review === undefined) return notFound();
    if (review.state !== 'PENDING') return invalid(['Could not submit a review that is not pending']);
    const text = (body['body'] as string | undefined) ?? review.body;
    const refusal = this.#verdictRefusal(event, text, who) ?? this.#bodyRefusal([text]);
    if (refusal !== null) return refusal;
    review.body = text;
    this.#submit(review, event);
    return ok(this.shape(review));
  }

  remove(id: number, who: FakeApp): Answer {
    const review = this.#own(id, who);
    if (review === undefined) return notFound();
    if (review.state !== 'PENDING') return invalid(['Can not delete a non-pending pull request review']);
    this.state.reviews.splice(this.state.reviews.indexOf(review), 1);
    for (const comment of this.commentsOf(review.id)) this.state.reviewComments.splice(this.state.reviewComments.indexOf(comment), 1);
    return ok(this.shape(review));
  }

  comments(asked: Asked, id: number): Answer {
    const { items, headers } = page(asked, this.commentsOf(id), this.state.urls.api);
    return { ...ok(items.map((comment) => this.commentShape(comment))), headers };
  }

  commentsOf(id: number): StoredReviewComment[] {
    return this.state.reviewComments.filter((comment) => comment.reviewId === id);
  }

  /** GraphQL's addPullRequestReviewThread on a file. */
  addFileThread(id: number, path: string, body: string, who: FakeApp): boolean {
    const review = this.#own(id, who);
    const known = this.state.views.rows(this.state.mergeBase, review?.commit ?? this.state.headSha).some((row) => row.filename === path);
    if (review?.state !== 'PENDING' || !known) return false;
    this.#add(review, body, path, null, 'RIGHT');
    return true;
  }

  #own(id: number, who: FakeApp): StoredReview | undefined {
    return this.state.reviews.find((review) => review.id === id && review.author === loginOf(who));
  }

  #add(
    review: StoredReview,
    body: string,
    path: string,
    line: number | null,
    side: 'LEFT' | 'RIGHT',
    startLine: number | null = null,
  ): void {
    const subject = line === null ? ('file' as const) : ('line' as const);
    this.state.reviewComments.push({
      id: this.state.nextId(),
      author: review.author,
      body,
      at: LONG_AGO,
      reviewId: review.id,
      path,
      line,
      startLine,
      side,
      subject,
      replyTo: null,
    });
  }

  #submit(review: StoredReview, event: Event): void {
    review.state = STATES[event];
    review.submittedAt = LONG_AGO;
  }

  #verdictRefusal(event: Event | undefined, body: string, who: FakeApp): Answer | null {
    if (event === undefined) return null;
    if (event !== 'APPROVE' && body === '') return invalid(['Body is required']);
    if (event !== 'COMMENT' && this.state.pull.author === loginOf(who)) {
      return invalid([event === 'APPROVE' ? 'Can not approve your own pull request' : 'Can not request changes on your own pull request']);
    }
    return null;
  }

  #bodyRefusal(texts: readonly string[]): Answer | null {
    return texts.some((text) => text.length > BODY_LIMIT)
      ? invalid([{ code: 'custom', field: 'body', message: 'body is too long (maximum is 65536 characters)' }])
      : null;
  }

  shape(review: StoredReview): Schemas['pull-request-review'] {
    const { urls, repo, pull } = this.state;
    const base = repository(urls, repo);
    const html = `${base.html_url}/pull/${pull.number}#pullrequestreview-${review.id}`;
    return {
      id: review.id,
      node_id: `PRR_${review.id}`,
      user: user(urls, review.author),
      body: review.body,
      state: review.state,
      html_url: html,
      pull_request_url: `${base.url}/pulls/${pull.number}`,
      _links: { html: { href: html }, pull_request: { href: `${base.url}/pulls/${pull.number}` } },
      ...(review.submittedAt === null ? {} : { submitted_at: review.submittedAt }),
      // The real one points an old review at the new head after a force-push.
      commit_id: this.state.headSha,
      author_association: 'NONE',
    };
  }

  commentShape(comment: StoredReviewComment): Schemas['review-comment'] {
    const { urls, repo, pull, headSha } = this.state;
    const base = repository(urls, repo);
    const url = `${base.url}/pulls/comments/${comment.id}`;
    const html = `${base.html_url}/pull/${pull.number}#discussion_r${comment.id}`;
    const pullUrl = `${base.url}/pulls/${pull.number}`;
    return {
      url,
      pull_request_review_id: comment.reviewId,
      id: comment.id,
      node_id: `PRRC_${comment.id}`,
      diff_hunk: '@@',
      path: comment.path,
      position: 1,
      original_position: 1,
      commit_id: headSha,
      original_commit_id: headSha,
      ...(comment.replyTo === null ? {} : { in_reply_to_id: comment.replyTo }),
      user: user(urls, comment.author),
      body: comment.body,
      created_at: comment.at,
      updated_at: comment.at,
      html_url: html,
      pull_request_url: pullUrl,
      author_association: 'NONE',
      _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
      subject_type: comment.subject,
      ...(comment.line === null ? {} : { line: comment.line, side: comment.side, start_line: comment.startLine }),
      ...(comment.startLine === null ? {} : { start_side: comment.side }),
    };
  }
}

export const loginOf = (app: FakeApp): string => `${app.slug}[bot]`;

import { cutText } from '../../markdown.js';
import type { LineComment, ReviewToPost } from '../port.js';

/** Characters GitHub takes as one body; one more costs the whole review. */
export const BODY_LIMIT = 65_536;
/** One comment's limit is not written down: the body's, with room to spare. */
export const COMMENT_LIMIT = 65_000;

export interface Composed {
  readonly body: string;
  readonly comments: readonly LineComment[];
}

export interface ComposeOptions {
  /** GitHub does not take the verdict itself: the body opens with it. */
  readonly openWithVerdict: boolean;
  /** Comments GitHub would refuse, as positions among the review's, those on files last: they stand in the body. */
  readonly unplaced: ReadonlySet<number>;
}

export const markerOf = (marker: string): string => `<!-- barista:${marker} -->`;

/**
 * D4, D9: a review as GitHub takes it. Comments without a place stand in the body; what the body has no room for is cut
 * and counted, its hidden marker never.
 */
export function composeReview(review: ReviewToPost, { openWithVerdict, unplaced }: ComposeOptions): Composed {
  const comments = review.comments
    .filter((_, index) => !unplaced.has(index))
    .map((comment) => ({ ...comment, body: cutText(comment.body, COMMENT_LIMIT).text }));
  const body = unplaced.size === 0 ? review.body : review.bodyWithout(unplaced);
  const verdict = `**Verdict: ${review.verdict.replace('_', ' ')}**`;
  const opening = openWithVerdict && !body.startsWith(verdict) ? `${verdict}\n\n` : '';
  const end = `\n\n${markerOf(review.marker)}`;
  return { body: `${within(`${opening}${body}`, BODY_LIMIT - end.length)}${end}`, comments };
}

/** Room for the line that says what was cut. */
const NOTICE_ROOM = 120;

function within(body: string, room: number): string {
  if (body.length <= room) return body;
  const { text, cut } = cutText(body, room - NOTICE_ROOM);
  return `${text}\n\n_Cut to the length GitHub takes: ${cut} characters are left out._`;
}

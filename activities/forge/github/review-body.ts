import type { LineComment, ReviewToPost } from '../port.js';

/** Characters GitHub takes as one body; one more costs the whole review. */
export const BODY_LIMIT = 65_536;
/** One comment's limit is not written down: the body's, with room to spare. */
const COMMENT_LIMIT = 65_000;
/** A review with many more line comments trips GitHub's limit for content (facts: 65 to 100). */
export const MAX_INLINE = 40;

export interface Composed {
  readonly body: string;
  readonly comments: readonly LineComment[];
}

export interface ComposeOptions {
  /** GitHub does not take the verdict itself: the body opens with it. */
  readonly openWithVerdict: boolean;
  /** Line comments GitHub would refuse, as positions among the review's: they stand in the body. */
  readonly unplaced: ReadonlySet<number>;
}

export const markerOf = (marker: string): string => `<!-- barista:${marker} -->`;

/**
 * D4, D9: a review as GitHub takes it. Line comments past {@link MAX_INLINE}, and those without a place, stand in the
 * body; what the body has no room for is cut and counted, its hidden marker never.
 */
export function composeReview(review: ReviewToPost, { openWithVerdict, unplaced }: ComposeOptions): Composed {
  const placed = review.comments.filter((_, index) => !unplaced.has(index));
  const comments = placed.slice(0, MAX_INLINE).map((comment) => ({ ...comment, body: cutText(comment.body, COMMENT_LIMIT).text }));
  const nowhere = review.comments.filter((_, index) => unplaced.has(index)).map(entry);
  const further = placed.slice(MAX_INLINE).map(entry);
  const opening = openWithVerdict && !opensWithVerdict(review) ? `**Verdict: ${review.verdict.replace('_', ' ')}**\n\n` : '';
  const end = `\n\n${markerOf(review.marker)}`;
  const sections = [
    section('Findings without a place in the diff', nowhere),
    section(`Further findings (${MAX_INLINE} stand at their lines)`, further),
  ];
  const texts = [`${opening}${review.body}`, ...sections].filter((text) => text !== '');
  return { body: `${within(texts, BODY_LIMIT - end.length)}${end}`, comments };
}

const opensWithVerdict = ({ body, verdict }: ReviewToPost) => body.startsWith(`**Verdict: ${verdict.replace('_', ' ')}**`);

function entry({ path, line, side, body }: LineComment): string {
  // Indented, so that a remark of several lines stays one entry.
  return `- \`${path}:${line}\`${side === 'old' ? ' (old)' : ''}: ${body.replaceAll('\n', '\n  ')}`;
}

const section = (title: string, entries: readonly string[]) => (entries.length === 0 ? '' : `### ${title}\n\n${entries.join('\n')}`);

/** Room for the line that says what was cut. */
const NOTICE_ROOM = 120;

/** The texts in their order, the last of them cut first. */
function within(texts: readonly string[], room: number): string {
  const whole = texts.join('\n\n');
  if (whole.length <= room) return whole;
  const { text, cut } = cutText(whole, room - NOTICE_ROOM);
  return `${text}\n\n_Cut to the length GitHub takes: ${cut} characters are left out._`;
}

const FENCE = /^ {0,3}(?:- )?(`{3,}|~{3,})/;

/** At most `room` characters: ends at a line where it can, never inside a character, and closes a code fence it opened. */
export function cutText(text: string, room: number): { readonly text: string; readonly cut: number } {
  if (text.length <= room) return { text, cut: 0 };
  const start = text.slice(0, Math.max(0, room - 10)).replace(/[\uD800-\uDBFF]$/u, '');
  const line = start.lastIndexOf('\n');
  const kept = line > start.length / 2 ? start.slice(0, line) : start;
  let fence: string | null = null;
  for (const each of kept.split('\n')) {
    const found = FENCE.exec(each)?.[1];
    if (found === undefined) continue;
    if (fence === null) fence = found;
    else if (found.startsWith(fence)) fence = null;
  }
  return { text: fence === null ? `${kept} […]` : `${kept}\n${fence.slice(0, 3)}`, cut: text.length - kept.length };
}

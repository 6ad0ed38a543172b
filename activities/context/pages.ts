import { jsonSize } from './json-size.js';

/** C2: no answer's text is longer. */
export const MAX_CHARS = 48_000;
/** C2: the least a caller may ask for. */
export const MIN_CHARS = 6_000;

/** Items `from` up to, not including, `to`. */
interface PageSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Packs items, in order, into pages: `sizes` are JSON characters with the comma, at most `others` each (the entry of
 * a larger item is cut to fit). There is at least one page. Only the sizes decide, so the
 * same items always fall on the same pages.
 */
export function planPages(sizes: readonly number[], first: number, others: number): PageSpan[] {
  const pages: PageSpan[] = [];
  let from = 0;
  let left = first;
  sizes.forEach((size, at) => {
    if (size > left) {
      pages.push({ from, to: at });
      from = at;
      left = others;
    }
    left -= size;
  });
  pages.push({ from, to: sizes.length });
  return pages;
}

/** The whole of a page's text must fit: a page over its limit is a mistake of ours, never an answer. */
export function withinLimit<Answer extends object>(answer: Answer, maxChars: number): Answer {
  const size = jsonSize(answer);
  if (size > maxChars) throw new Error(`A page of ${size} characters passes its limit of ${maxChars}.`);
  return answer;
}

/** Shares `room` among parts that want `sizes`: small ones get all they want, the rest the same each. */
export function shareRoom(room: number, sizes: readonly number[]): number[] {
  const shares = sizes.map(() => 0);
  let left = room;
  const bySize = sizes.map((size, at) => ({ size, at })).sort((a, b) => a.size - b.size);
  bySize.forEach(({ size, at }, done) => {
    const share = Math.min(size, Math.floor(left / (bySize.length - done)));
    shares[at] = share;
    left -= share;
  });
  return shares;
}

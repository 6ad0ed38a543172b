import { numbersOf } from '../../workflows/room/lines.js';
import { type FileComment, ForgeError, type LineComment, type ReviewToPost } from './port.js';

/** What of a review stands beside its body. */
export type Remark = LineComment | FileComment;

/** All of a review's, in the order that whoever names one by its position counts in: those at lines, then those on files. */
export const remarksOf = ({ comments, fileComments }: ReviewToPost): readonly Remark[] => [...comments, ...fileComments];

/** `a.ts`, `a.ts:7`, `a.ts:3-7` or `a.ts:7 (old)`. */
export function placeOfRemark(remark: Remark): string {
  return 'line' in remark ? `${remark.path}:${numbersOf(remark)}${remark.side === 'old' ? ' (old)' : ''}` : remark.path;
}

/** A text without what is the forge's own in it: line ends and outer space. */
export const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim();

/**
 * Ours stands at the very end, on a line of its own: what stands before it is text of others, who may have written the
 * same, and whoever quotes it has the quote's own sign before it.
 */
export const isMarked = (body: string, marker: string): boolean => {
  const text = body.trimEnd();
  return text === marker || text.endsWith(`\n${marker}`);
};

/** D5: before each thing that is sent. @throws {ForgeError} where this posting was given up */
export function goesOn(stop: AbortSignal | undefined): void {
  if (stop?.aborted) throw new ForgeError('unavailable', 'This posting was given up: another one goes on with the review.');
}

import { createHash } from 'node:crypto';
import type { Posting, ReviewToPost } from '../port.js';
import { type Remark, remarksOf } from '../remarks.js';

/** What was posted is found again by a comment that no reader sees: one for the review, one for each of its remarks. */
export function bodyMarker({ marker }: Posting): string {
  return `<!-- barista:${marker} -->`;
}

/**
 * Of each remark, in their order. It tells the remark by its place and its words: where the text was changed after a
 * posting that failed half way, what is there already is told from what is not wanted any more.
 */
export function commentMarkers(review: ReviewToPost): string[] {
  const seen = new Map<string, number>();
  return remarksOf(review).map((remark) => {
    const place = 'line' in remark ? [remark.line, remark.startLine ?? null, remark.side] : [];
    const digest = createHash('sha256')
      .update(JSON.stringify([remark.path, remark.body, ...place]))
      .digest('hex')
      .slice(0, 16);
    const nth = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, nth);
    return `<!-- barista:${review.marker}#${digest}${nth === 1 ? '' : `-${nth}`} -->`;
  });
}

/** Whether a note is a remark of this review, whichever. */
export function isRemarkOf(body: string, { marker }: Posting): boolean {
  const opening = `<!-- barista:${marker}#`;
  const start = body.lastIndexOf(opening);
  const ownLine = start === 0 || body[start - 1] === '\n';
  return start >= 0 && ownLine && /^[0-9a-f-]+ -->$/.test(body.slice(start + opening.length).trimEnd());
}

/** Nothing is seen of it, and GitLab no longer takes the line for a command. */
const ZERO_WIDTH_SPACE = '\u200b';
const COMMAND = /^([^\S\n]*)(?=\/[a-z])/im;
const COMMANDS = new RegExp(COMMAND, 'gim');

/**
 * A note as it is sent. GitLab runs lines such as `/merge` as commands of whoever posts: in a text that others wrote
 * such a line must stay a text (C8, D9). It drops carriage returns before it looks, and so do we.
 */
export function noteText(text: string, marker: string): string {
  const lines = offering(text.replaceAll('\r', ''), (offer) => (COMMAND.test(offer.code) ? '' : offer.info));
  return `${lines.replaceAll(COMMANDS, `$1${ZERO_WIDTH_SPACE}`)}\n\n${marker}`;
}

/** How far above its line GitLab lets a suggestion begin. */
const SUGGESTED_AT_MOST = 100;

/**
 * A remark as it is sent. For GitLab a suggestion is about the last line alone, whatever lines its thread is at: one for
 * more says how many, and what cannot be said stays code that nobody can apply.
 */
export function remarkText(remark: Remark, marker: string): string {
  const above = 'line' in remark && remark.startLine !== undefined && remark.side === 'new' ? remark.line - remark.startLine : 0;
  const ranged = above > SUGGESTED_AT_MOST ? '' : `suggestion:-${above}+0`;
  return noteText(above === 0 ? remark.body : offering(remark.body, ({ info }) => (info === 'suggestion' ? ranged : info)), marker);
}

/** A fenced block that GitLab offers to put in the place of lines; its code ends at the next fence. */
const OFFER = /^( {0,3}`{3,})(suggestion(?::-\d+\+\d+)?)([^\S\n]*)$((?:\n(?! {0,3}```).*)*)/gm;

/** The text with another word behind the fence of each; none: it is code like any other. */
function offering(text: string, infoOf: (offer: { readonly info: string; readonly code: string }) => string): string {
  return text.replaceAll(
    OFFER,
    (_, fence: string, info: string, end: string, code: string) => `${fence}${infoOf({ info, code })}${end}${code}`,
  );
}

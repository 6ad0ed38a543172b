import type { Posting } from '../port.js';

/** What was posted is found again by a comment that no reader sees: one for the review, one for each of its remarks. */
export function bodyMarker({ marker }: Posting): string {
  return `<!-- barista:${marker} -->`;
}

export function commentMarker({ marker }: Posting, index: number): string {
  return `<!-- barista:${marker}#${index + 1} -->`;
}

/** Nothing is seen of it, and GitLab no longer takes the line for a command. */
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * A note as it is sent. GitLab runs lines such as `/merge` as commands of whoever posts: in a text that others wrote
 * such a line must stay a text (C8, D9). It drops carriage returns before it looks, and so do we.
 */
export function noteText(text: string, marker: string): string {
  return `${text.replaceAll('\r', '').replaceAll(/^([^\S\n]*)(?=\/[a-z])/gim, `$1${ZERO_WIDTH_SPACE}`)}\n\n${marker}`;
}

/** Texts of others as they go into what a forge renders as Markdown. */

/** As code, on one line, whatever backticks are in it. */
export function code(text: string): string {
  const line = text.replaceAll(/\p{Cc}/gu, '\ufffd');
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `\`${line}\`` : `${ticks} ${line} ${ticks}`;
}

/** An escaped backtick, a code span, backticks that open none, or a name of somebody. */
const CODE_OR_NAME = /\\`|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|`+|(?<!\w)@[a-z0-9-]+/gi;

/**
 * One line with each name in code marks: on a forge `@grok` may be somebody, whom our own lines must not call. What is
 * code stays; a backtick that is none would turn the marks around and goes.
 */
export function quiet(line: string): string {
  return line.replaceAll(CODE_OR_NAME, (found: string, ticks: string | undefined, at: number) => {
    if (ticks !== undefined) return found;
    if (!found.startsWith('@')) return "'";
    return `${line[at - 1] === '`' ? ' ' : ''}\`${found}\``;
  });
}

/** Backticks that close again on their line are code in it, and no fence. */
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
/** What HTML opens at the start of a line and keeps open over blank ones, and what ends it. */
const BLOCKS: readonly { readonly opens: RegExp; readonly ends: RegExp; readonly end: string }[] = [
  { opens: /^ {0,3}<!--/, ends: /-->/, end: '-->' },
  { opens: /^ {0,3}<(?:pre|script|style|textarea)(?:[\s>]|$)/i, ends: /<\/(?:pre|script|style|textarea)>/i, end: '</pre>' },
  { opens: /^ {0,3}<\?/, ends: /\?>/, end: '?>' },
  { opens: /^ {0,3}<!\[CDATA\[/, ends: /\]\]>/, end: ']]>' },
  { opens: /^ {0,3}<![a-z]/i, ends: />/, end: '>' },
];

/**
 * The text with what it leaves open closed (a code fence, an HTML block, folded details), so that it swallows nothing
 * that is posted below it (D7).
 */
export function finished(text: string): string {
  let open: { readonly ends: (line: string) => boolean; readonly end: string } | null = null;
  let folds = 0;
  for (const line of text.split('\n')) {
    if (open !== null) {
      if (open.ends(line)) open = null;
      continue;
    }
    const [, indent = '', fence] = FENCE.exec(line) ?? [];
    const block = BLOCKS.find(({ opens }) => opens.test(line));
    if (fence !== undefined) open = { ends: (other) => closes(other, fence), end: `${indent}${fence}` };
    else if (block !== undefined && !block.ends.test(line)) open = { ends: (other) => block.ends.test(other), end: block.end };
    for (const [tag] of line.matchAll(/<\/?details\b/gi)) folds = Math.max(0, folds + (tag.startsWith('</') ? -1 : 1));
  }
  return [text, ...(open === null ? [] : [open.end]), ...(folds === 0 ? [] : ['', '</details>'.repeat(folds)])].join('\n');
}

/** What is something else at the start of a line than behind other words: a fence, HTML, a list, a quote, a heading, a table. */
const BLOCK_START = /^(?:\s|`{3}|~{3}|[<>|]|#{1,6}\s|[*+-]\s|\d+[.)]\s)/;

/** Whether the text must start a line of its own: behind words its fence would open where it ends. */
export const opensBlock = (text: string): boolean => BLOCK_START.test(text);

function closes(line: string, fence: string): boolean {
  const [, , found] = FENCE.exec(line) ?? [];
  return found?.startsWith(fence) === true && line.trim() === found;
}

const ELLIPSIS = ' […]';

/** At most `room` characters: ends at a line where it can, never inside a character, and leaves nothing open. */
export function cutText(text: string, room: number): { readonly text: string; readonly cut: number } {
  if (text.length <= room) return { text, cut: 0 };
  for (let most = room - ELLIPSIS.length; most > 0;) {
    const start = text.slice(0, most).replace(/[\uD800-\uDBFF]$/u, '');
    const line = start.lastIndexOf('\n');
    const kept = line > start.length / 2 ? start.slice(0, line) : start;
    const whole = finished(kept);
    const over = whole.length + ELLIPSIS.length - room;
    if (over <= 0) return { text: whole === kept ? `${kept}${ELLIPSIS}` : whole, cut: text.length - kept.length };
    most = Math.min(most, kept.length) - over;
  }
  return { text: '', cut: text.length };
}

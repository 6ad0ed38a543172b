/** Texts of others as they go into what a forge renders as Markdown. */

/** As code, on one line, whatever backticks are in it. */
export function code(text: string): string {
  const line = text.replaceAll(/\p{Cc}/gu, '\ufffd');
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `\`${line}\`` : `${ticks} ${line} ${ticks}`;
}

/** An escaped backtick, a code span, backticks that open none, an address, a name of somebody, or what HTML opens with. */
const CODE_OR_NAME = /\\`|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|`+|https?:\/\/[^\s`<>]+|(?<!\w)@[a-z0-9-]+|</gi;

/**
 * One line with each name in code marks: on a forge `@grok` may be somebody, whom our own lines must not call. What is
 * code stays; a backtick that is none would turn the marks around and goes. Cut HTML would fold what stands below it.
 */
export function quiet(line: string): string {
  return line.replaceAll(CODE_OR_NAME, (found: string, ticks: string | undefined, at: number) => {
    if (ticks !== undefined || /^http/i.test(found)) return found;
    if (found === '<') return '&lt;';
    return found.startsWith('@') ? marked(found, line[at - 1]) : "'";
  });
}

const marked = (name: string, before: string | undefined): string => `${before === '`' ? ' ' : ''}\`${name}\``;

/**
 * A text of others with each of these names, in lower case, in code marks as {@link quiet} has them; all else stays as it
 * was written.
 */
export function callingNone(text: string, names: ReadonlySet<string>): string {
  const quieted = (line: string): string =>
    line.replaceAll(CODE_OR_NAME, (found: string, _: string | undefined, at: number) =>
      names.has(found.slice(1).toLowerCase()) && found.startsWith('@') ? marked(found, line[at - 1]) : found,
    );
  return mapped(text, quieted).text;
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
  let folds = 0;
  const { open } = mapped(text, (line) => {
    // A tag that is code on its line folds nothing and ends no fold.
    for (const [tag] of line.replaceAll(CODE, '').matchAll(/<\/?details\b/gi)) folds = Math.max(0, folds + (tag.startsWith('</') ? -1 : 1));
    return line;
  });
  return [text, ...(open === null ? [] : [open]), ...(folds === 0 ? [] : ['', '</details>'.repeat(folds)])].join('\n');
}

/** A code span, on one line. */
const CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;

/** The text with each line changed that stands in no code and no HTML; `open`: what would end what is still open at its end. */
function mapped(text: string, change: (line: string) => string): { readonly text: string; readonly open: string | null } {
  let open: { readonly ends: (line: string) => boolean; readonly end: string } | null = null;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (open !== null) {
      if (open.ends(line)) open = null;
      lines.push(line);
      continue;
    }
    const [, indent = '', fence] = FENCE.exec(line) ?? [];
    const block = BLOCKS.find(({ opens }) => opens.test(line));
    if (fence !== undefined) open = { ends: (other) => closes(other, fence), end: `${indent}${fence}` };
    else if (block !== undefined && !block.ends.test(line)) open = { ends: (other) => block.ends.test(other), end: block.end };
    lines.push(fence === undefined ? change(line) : line);
  }
  return { text: lines.join('\n'), open: open?.end ?? null };
}

/** A fence whose code a forge offers to put in the place of the lines it stands at. */
const SUGGESTION = /^( {0,3}(?:`{3,}|~{3,}))suggestion(?=[:\s]|$).*$/gm;

/** The text with what it offers as code alone: where it does not stand at the lines it is about, it would replace others. */
export const withoutOffers = (text: string): string => text.replaceAll(SUGGESTION, '$1');

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

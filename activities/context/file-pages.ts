import { innerSize, startWithin } from './json-size.js';

/** Lines of one page of a file, 1-based and inclusive; `cut`: its one line was longer than a page. */
export interface FilePage {
  readonly startLine: number;
  readonly endLine: number;
  readonly content: string;
  readonly cut: boolean;
}

/** The lines of a file, each with what ends it: joined they are the content. */
export function fileLines(content: string): string[] {
  return content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines `from` to `to` in pages of at most `room` JSON characters (F2); a line longer than that is cut. */
export function filePages(lines: readonly string[], from: number, to: number, room: number): FilePage[] {
  const pages: FilePage[] = [];
  let start = from;
  let used = 0;
  const close = (end: number) => {
    if (end >= start) pages.push({ startLine: start, endLine: end, content: lines.slice(start - 1, end).join(''), cut: false });
    [start, used] = [end + 1, 0];
  };
  for (let at = from; at <= to; at++) {
    const line = lines[at - 1] as string;
    const size = innerSize(line);
    if (used + size > room) close(at - 1);
    if (size > room) {
      pages.push({ startLine: at, endLine: at, content: startWithin(line, room), cut: true });
      start = at + 1;
    } else used += size;
  }
  close(to);
  return pages;
}

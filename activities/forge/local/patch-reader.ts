import { isUtf8 } from 'node:buffer';

/** One `diff --git` section of git's patch output. Counts and extents hold even where the text was dropped. */
export interface PatchSection {
  /** Git's own lines before the first hunk, from `diff --git` on. */
  readonly header: Buffer;
  /** Hunks without the file header, no newline at the end; null when larger than `maxPatchBytes`. */
  readonly patch: string | null;
  readonly bytes: number;
  readonly notUtf8: boolean;
  readonly binary: boolean;
  readonly additions: number;
  readonly deletions: number;
  /** First and last line the hunks cover, a side each; null where no hunk covers a line. */
  readonly newSpan: Extent | null;
  readonly oldSpan: Extent | null;
}

interface Extent {
  readonly from: number;
  readonly to: number;
}

const NEWLINE = 10;
/** Enough of a line to know what it is. */
const RECOGNISED_BYTES = 200;
/** Two of the longest paths there are, each byte of them escaped. */
const HEADER_LINE_BYTES = 40_000;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

interface Open {
  header: Buffer[];
  pieces: Buffer[];
  bytes: number;
  dropped: boolean;
  binary: boolean;
  additions: number;
  deletions: number;
  newSpan: Extent | null;
  oldSpan: Extent | null;
}

/**
 * Splits git's patch output into sections in bounded memory: a section, or a single line, over the limit is
 * counted and dropped. Hunks are followed by their line counts, so that no content passes for a header.
 */
export class PatchReader {
  #section: Open | null = null;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #oldLeft = 0;
  #newLeft = 0;

  constructor(
    private readonly maxPatchBytes: number,
    private readonly done: (section: PatchSection) => void,
  ) {}

  feed(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end + 1));
      this.#endLine();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  end(): void {
    if (this.#lineBytes > 0) this.#endLine();
    this.#close();
  }

  #take(piece: Buffer): void {
    const room = this.#section === null || this.#section.dropped ? HEADER_LINE_BYTES : this.maxPatchBytes;
    const kept = this.#lineBytes < room ? piece.subarray(0, room - this.#lineBytes) : null;
    // A copy: a piece of a chunk would keep the whole chunk alive.
    if (kept !== null) this.#line.push(Buffer.from(kept));
    this.#lineBytes += piece.length;
  }

  #endLine(): void {
    const line = this.#line.length === 1 ? (this.#line[0] as Buffer) : Buffer.concat(this.#line);
    const bytes = this.#lineBytes;
    this.#line = [];
    this.#lineBytes = 0;
    if (this.#oldLeft > 0 || this.#newLeft > 0 || (this.#section !== null && line[0] === 0x5c)) this.#hunkLine(line, bytes);
    else this.#header(line, bytes);
  }

  #hunkLine(line: Buffer, bytes: number): void {
    const section = this.#section as Open;
    const mark = line[0];
    if (mark === 0x2b) {
      this.#newLeft -= 1;
      section.additions += 1;
    } else if (mark === 0x2d) {
      this.#oldLeft -= 1;
      section.deletions += 1;
    } else if (mark !== 0x5c) {
      this.#newLeft -= 1;
      this.#oldLeft -= 1;
    }
    this.#keep(section, line, bytes);
  }

  #header(line: Buffer, bytes: number): void {
    const text = line.toString('latin1', 0, RECOGNISED_BYTES);
    if (text.startsWith('diff --git ')) {
      this.#close();
      this.#section = {
        header: [line],
        pieces: [],
        bytes: 0,
        dropped: false,
        binary: false,
        additions: 0,
        deletions: 0,
        newSpan: null,
        oldSpan: null,
      };
      return;
    }
    const section = this.#section;
    if (section === null) return;
    if (text.startsWith('Binary files ')) section.binary = true;
    const hunk = HUNK.exec(text);
    if (hunk === null) {
      section.header.push(line);
      return;
    }
    this.#oldLeft = Number(hunk[2] ?? 1);
    this.#newLeft = Number(hunk[4] ?? 1);
    section.oldSpan = widen(section.oldSpan, Number(hunk[1]), this.#oldLeft);
    section.newSpan = widen(section.newSpan, Number(hunk[3]), this.#newLeft);
    this.#keep(section, line, bytes);
  }

  #keep(section: Open, line: Buffer, bytes: number): void {
    section.bytes += bytes;
    if (section.dropped) return;
    if (section.bytes > this.maxPatchBytes) {
      section.dropped = true;
      section.pieces = [];
    } else section.pieces.push(line);
  }

  #close(): void {
    const section = this.#section;
    if (section === null) return;
    this.#section = null;
    const text = Buffer.concat(section.pieces);
    this.done({
      header: Buffer.concat(section.header),
      patch: section.dropped ? null : text.toString('utf8').replace(/\n$/, ''),
      bytes: section.bytes,
      notUtf8: !isUtf8(text),
      binary: section.binary,
      additions: section.additions,
      deletions: section.deletions,
      newSpan: section.newSpan,
      oldSpan: section.oldSpan,
    });
  }
}

function widen(span: Extent | null, start: number, count: number): Extent | null {
  if (count === 0) return span;
  return { from: span?.from ?? start, to: start + count - 1 };
}

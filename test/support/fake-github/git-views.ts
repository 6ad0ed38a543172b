import type { GitWorld } from '../git-world.js';
import type { Schemas } from './shapes.js';

/** The caps of the real one; a test lowers them to see what lies behind. */
export interface Limits {
  /** Files of one pull request that can be listed at all. */
  listing: number;
  /** Files of one comparison. */
  compareFiles: number;
  /** Patch lines in one response, after which rows are zeroed without a word. */
  responseLines: number;
  /** A single patch larger than this is left out. */
  patchLines: number;
  patchBytes: number;
}

export const GITHUB_LIMITS: Limits = { listing: 3_000, compareFiles: 300, responseLines: 20_000, patchLines: 20_000, patchBytes: 500_000 };

export interface Row extends Omit<Schemas['diff-entry'], 'blob_url' | 'raw_url' | 'contents_url'> {
  /** The patch even where a limit keeps it from being shown. */
  readonly whole: string | null;
}

const STATUS: Readonly<Record<string, Row['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
};

/** What git says changed between two trees, a row a file; kept, for trees never change. */
export class GitViews {
  readonly #rows = new Map<string, Row[]>();

  constructor(private readonly world: GitWorld) {}

  rows(base: string, head: string): readonly Row[] {
    const key = `${base} ${head}`;
    const known = this.#rows.get(key) ?? this.#read(base, head);
    this.#rows.set(key, known);
    return known;
  }

  #read(base: string, head: string): Row[] {
    const options = ['diff', '-M50%', '-l1000', '--no-color', '--full-index', '--no-ext-diff', base, head];
    const tokens = this.world
      .gitBytes([...options.slice(0, 1), '--raw', '--no-abbrev', '-z', ...options.slice(1)])
      .toString('utf8')
      .split('\0');
    const sections = this.world
      .gitBytes(options)
      .toString('utf8')
      .split(/^diff --git .*\n/m)
      .slice(1);
    const rows: Row[] = [];
    for (let at = 0, section = 0; tokens[at];) {
      const [, , oldSha = '', newSha = '', letters = ''] = String(tokens[at++]).split(' ');
      const letter = letters.charAt(0);
      const first = String(tokens[at++]);
      const second = letter === 'R' || letter === 'C' ? String(tokens[at++]) : null;
      const texts = letter === 'T' ? sections.slice(section, (section += 2)) : sections.slice(section, (section += 1));
      rows.push(rowOf(letter, second ?? first, second === null ? null : first, letter === 'D' ? oldSha : newSha, texts));
    }
    return rows;
  }

  has(sha: string): boolean {
    try {
      this.world.git('cat-file', '-e', `${sha}^{commit}`);
      return true;
    } catch {
      return false;
    }
  }

  mergeBase(base: string, head: string): string | null {
    try {
      return this.world.git('merge-base', base, head);
    } catch {
      return null;
    }
  }

  count(from: string, to: string): number {
    return Number(this.world.git('rev-list', '--count', to, `^${from}`));
  }

  commits(from: string, to: string): string[] {
    return this.world
      .git('rev-list', '--reverse', to, `^${from}`)
      .split('\n')
      .filter((sha) => sha !== '');
  }
}

function rowOf(letter: string, filename: string, previous: string | null, sha: string, sections: readonly string[]): Row {
  const hunks = sections
    .map((text) => (/^@@ /m.test(text) ? text.slice(text.search(/^@@ /m)).replace(/\n$/, '') : ''))
    .filter((text) => text !== '');
  const whole = hunks.length === 0 ? null : hunks.join('\n');
  const lines = whole?.split('\n') ?? [];
  const additions = lines.filter((line) => line.startsWith('+')).length;
  const deletions = lines.filter((line) => line.startsWith('-')).length;
  return {
    sha,
    filename,
    status: STATUS[letter] ?? 'modified',
    additions,
    deletions,
    changes: additions + deletions,
    ...(previous === null ? {} : { previous_filename: previous }),
    whole,
  };
}

/** One page of rows as the real one answers it: patches over a limit left out, rows past the response's lines zeroed. */
export function shownRows(
  rows: readonly Row[],
  limits: Limits,
  urls: (row: Row) => Pick<Schemas['diff-entry'], 'blob_url' | 'raw_url' | 'contents_url'>,
): Schemas['diff-entry'][] {
  let spent = 0;
  return rows.map((row) => {
    const { whole, ...rest } = row;
    const lines = whole?.split('\n').length ?? 0;
    const zeroed = spent > limits.responseLines;
    const tooLarge = lines > limits.patchLines || Buffer.byteLength(whole ?? '') > limits.patchBytes;
    if (zeroed) return { ...rest, ...urls(row), additions: 0, deletions: 0, changes: 0 };
    if (!tooLarge) spent += lines;
    return { ...rest, ...urls(row), ...(whole === null || tooLarge ? {} : { patch: whole }) };
  });
}

/** Lines of a patch that take a comment, by side and number, with the hunk they are in. */
export function anchorsOf(patch: string): { RIGHT: Map<number, number>; LEFT: Map<number, number> } {
  const anchors = { RIGHT: new Map<number, number>(), LEFT: new Map<number, number>() };
  let [left, right, hunk] = [0, 0, 0];
  for (const line of patch.split('\n')) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head !== null) [left, right, hunk] = [Number(head[1]), Number(head[2]), hunk + 1];
    else if (line.startsWith('+')) anchors.RIGHT.set(right++, hunk);
    else if (line.startsWith('-')) anchors.LEFT.set(left++, hunk);
    else if (!line.startsWith('\\')) {
      anchors.RIGHT.set(right++, hunk);
      left++;
    }
  }
  return anchors;
}

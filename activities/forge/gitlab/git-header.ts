import { isUtf8 } from 'node:buffer';
import type { FileStatus } from '../port.js';

/** What git says of a file before its hunks. Modes and objects are empty where it does not say them. */
export interface GitHeader {
  readonly status: FileStatus;
  readonly path: string;
  readonly previousPath: string | null;
  readonly oldMode: string;
  readonly newMode: string;
  /** Full object name at the head, or '' where git shortened it. */
  readonly newSha: string;
  readonly notUtf8: boolean;
}

const FULL_SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** Reads the lines from `diff --git` up to the first hunk. null: they are not in git's form. */
export function readGitHeader(header: Buffer): GitHeader | null {
  const [first = '', ...lines] = header.toString('latin1').split('\n');
  const after = (start: string) => lines.find((line) => line.startsWith(start))?.slice(start.length) ?? null;
  const index = /^([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?$/.exec(after('index ') ?? '');
  const added = after('new file mode ');
  const removed = after('deleted file mode ');
  const renamed = nameIn(after('rename to '));
  const copied = nameIn(after('copy to '));
  const previous = nameIn(after('rename from ') ?? after('copy from '));
  const path = renamed ?? copied ?? sideIn(after(removed === null ? '+++ ' : '--- ')) ?? samePath(first);
  if (path === null) return null;
  const status =
    added !== null ? 'added' : removed !== null ? 'removed' : renamed !== null ? 'renamed' : copied !== null ? 'copied' : 'modified';
  const unchanged = index?.[3] ?? '';
  const newSha = index?.[2] ?? '';
  return {
    status,
    path: path.toString('utf8'),
    previousPath: previous?.toString('utf8') ?? null,
    oldMode: removed ?? after('old mode ') ?? unchanged,
    newMode: added ?? after('new mode ') ?? unchanged,
    newSha: FULL_SHA.test(newSha) ? newSha : '',
    notUtf8: !isUtf8(path),
  };
}

/** A name as it stands, or in git's quotes, as bytes. */
function nameIn(text: string | null): Buffer | null {
  if (text === null) return null;
  return text.startsWith('"') ? unquoted(text) : Buffer.from(text, 'latin1');
}

/** The name in `+++ b/NAME`; git ends it with a tab where it holds a blank. */
function sideIn(text: string | null): Buffer | null {
  const name = nameIn(text?.replace(/\t$/, '') ?? null);
  return name === null || name.toString('latin1') === '/dev/null' ? null : name.subarray(2);
}

/** `diff --git a/NAME b/NAME`, where nothing else names it: both names are the same. */
function samePath(line: string): Buffer | null {
  const names = line.slice('diff --git '.length);
  if (names.startsWith('"')) return unquoted(names.slice(0, names.length / 2))?.subarray(2) ?? null;
  const half = names.slice(0, (names.length - 1) / 2);
  return names === `${half} b/${half.slice(2)}` ? Buffer.from(half.slice(2), 'latin1') : null;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

function unquoted(text: string): Buffer | null {
  const inner = /^"((?:[^"\\]|\\.)*)"$/.exec(text)?.[1];
  if (inner === undefined) return null;
  const bytes: number[] = [];
  for (const [piece, octal, letter] of inner.matchAll(/\\([0-7]{3})|\\(.)|[^\\]/gs)) {
    bytes.push(
      octal !== undefined
        ? Number.parseInt(octal, 8)
        : letter !== undefined
          ? (ESCAPES[letter] ?? letter.charCodeAt(0))
          : piece.charCodeAt(0),
    );
  }
  return Buffer.from(bytes);
}

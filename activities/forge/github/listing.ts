import type { ChangedFile, FileStatus, NoPatchReason } from '../port.js';
import type { Row } from './pull.js';

/** Reads one page of a listing; both numbers as GitHub counts them. */
export type ReadPage = (page: number, perPage: number) => Promise<readonly Row[]>;

/** GitHub lists no more files of a pull request, nor of a comparison. */
export const MAX_LISTED = 3_000;
export const MAX_COMPARED = 300;

const PER_PAGE = 100;
/** Each page of a size that is read again is read as ten. */
const SMALLER = 10;
/**
 * Rows are zeroed once the patches of one response add up to about 20 000 lines; below half of that a row without
 * numbers is what it seems.
 */
const SUSPICIOUS_LINES = 10_000;

/**
 * The whole listing, at most {@link MAX_LISTED} files; zeroed rows are read again on smaller pages. Past `maxPatches`
 * characters of patches no further page is read. `wanted`: rows of other files are left out.
 */
export async function listRows(
  read: ReadPage,
  { maxPatches, wanted = () => true }: { readonly maxPatches: number; readonly wanted?: (row: Row) => boolean },
): Promise<Row[]> {
  const rows: Row[] = [];
  let held = 0;
  for (let page = 1; page <= MAX_LISTED / PER_PAGE; page++) {
    const { listed, last } = await readWhole(read, page, PER_PAGE);
    const kept = listed.filter(wanted);
    rows.push(...kept);
    held += patchesOf(kept);
    if (last || held > maxPatches) break;
  }
  return rows;
}

/** Characters of all their patches. */
export const patchesOf = (rows: readonly Row[]) => rows.reduce((sum, { patch }) => sum + (patch?.length ?? 0), 0);

async function readWhole(read: ReadPage, page: number, perPage: number): Promise<{ listed: readonly Row[]; last: boolean }> {
  const rows = await read(page, perPage);
  const last = rows.length < perPage;
  const from = firstZeroed(rows);
  if (from === null || perPage === 1) return { listed: rows, last };
  const size = perPage / SMALLER;
  const kept = Math.floor(from / size) * size;
  const again = [...rows.slice(0, kept)];
  for (let at = kept; at < rows.length; at += size) {
    again.push(...(await readWhole(read, (page - 1) * SMALLER + at / size + 1, size)).listed);
  }
  return { listed: again, last };
}

/** Index of the first row that may have been zeroed; null: none. */
export function firstZeroed(rows: readonly Row[]): number | null {
  let lines = 0;
  for (const [at, row] of rows.entries()) {
    if (row.patch === undefined && row.changes === 0 && lines >= SUSPICIOUS_LINES) return at;
    lines += row.patch?.split('\n').length ?? 0;
  }
  return null;
}

const STATUS: Readonly<Record<string, FileStatus>> = {
  added: 'added',
  removed: 'removed',
  modified: 'modified',
  renamed: 'renamed',
  copied: 'copied',
};

/**
 * A row as a changed file. `clear` is false where the row alone cannot say what the file is: no patch for one of
 * several reasons, or a change of its kind; such a file is looked at with git.
 */
export function fileOfRow(row: Row): { readonly file: ChangedFile; readonly clear: boolean } {
  const status = STATUS[row.status];
  const removed = row.status === 'removed';
  const submodule = row.patch !== undefined && SUBMODULE.test(row.patch);
  const common = {
    path: row.filename,
    ...(row.previous_filename === undefined ? {} : { previousPath: row.previous_filename }),
    status: status ?? ('modified' as const),
    kind: submodule ? ('submodule' as const) : ('file' as const),
    blobSha: removed ? null : row.sha,
  };
  if (row.patch !== undefined) {
    // A listing is text: bytes that were none are U+FFFD in it already.
    const notUtf8 = row.patch.includes('\ufffd') ? { notUtf8: true } : {};
    return {
      file: { ...common, additions: row.additions, deletions: row.deletions, patch: row.patch, ...notUtf8 },
      clear: status !== undefined && !MAYBE_LINK.test(row.patch),
    };
  }
  const { noPatch, clear } = whyNone(row);
  const counted = clear || row.changes > 0;
  return {
    file: { ...common, additions: counted ? row.additions : null, deletions: counted ? row.deletions : null, patch: null, noPatch },
    clear: clear && status !== undefined,
  };
}

const SUBMODULE = /^@@ [^\n]*@@[^\n]*(?:\n[-+]Subproject commit [0-9a-f]{40}(?:-dirty)?)+$/;
/** A link's target is one line without an end; a file may be the same. */
const MAYBE_LINK = /^@@ -(?:0,0|1) \+(?:0,0|1) @@(?:\n[-+][^\n]*\n\\ No newline at end of file)+$/;
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

function whyNone({ status, changes, sha }: Row): { readonly noPatch: NoPatchReason; readonly clear: boolean } {
  if (changes === 0 && status === 'renamed') return { noPatch: 'renamed_only', clear: true };
  if (changes === 0 && sha === EMPTY_BLOB && (status === 'added' || status === 'removed')) return { noPatch: 'empty', clear: true };
  return { noPatch: changes > 0 ? 'too_large' : 'binary', clear: false };
}

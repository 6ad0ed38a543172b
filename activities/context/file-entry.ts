import type { ChangedFile, LineSpan, NoPatchReason } from '../forge/port.js';
import { patchLines, spanOn, type PatchLine } from './hunks.js';
import { innerSize, jsonSize, startWithin } from './json-size.js';
import { BASE_REF, type Omitted } from './types.js';

/** A changed file without its patch's text: what pages are planned from. */
export interface FileMeta extends Omit<ChangedFile, 'patch'> {
  /** Characters of the patch in JSON inside its quotes; null: no patch. */
  readonly patchSize: number | null;
  /** Equal hashes: the same patch. */
  readonly patchHash: string | null;
}

/** A file of `get_pr_context` as the contract spells it. */
export interface FileEntry {
  readonly path: string;
  readonly path_truncated?: true;
  readonly previous_path?: string;
  readonly status: ChangedFile['status'];
  readonly kind?: 'symlink' | 'submodule';
  readonly mode_change?: string;
  readonly not_utf8?: true;
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly patch?: string;
  readonly patch_reason?: NoPatchReason;
  readonly patch_omitted?: true;
  readonly omitted?: Omitted;
}

/** What an entry showed of the file's patch, for coverage: `missing` are the lines still to be read, where known. */
export interface EntryShown {
  readonly patch: 'whole' | 'cut' | 'none';
  readonly missing: LineSpan | null;
}

const HIDES_SOMETHING: Readonly<Record<NoPatchReason, boolean>> = {
  binary: true,
  too_large: true,
  diff_too_large: true,
  collapsed: true,
  renamed_only: false,
  mode_only: false,
  empty: false,
};

/** Whether everything there is to see of the file fits in an entry of `room` characters. */
export function isWhole(file: FileMeta, room: number): boolean {
  return file.noPatch === undefined ? entrySize(file, BASE_REF) <= room : !HIDES_SOMETHING[file.noPatch];
}

/** JSON characters of the whole entry, from the meta alone. `oldRef`: where the old side is read. */
export function entrySize(file: FileMeta, oldRef: string): number {
  return file.patchSize === null ? jsonSize(withoutPatch(file, oldRef)) : jsonSize({ ...base(file), patch: '' }) + file.patchSize;
}

/** The entry within `room` JSON characters: whole, or its patch cut at the end of a line (C7), or its path cut. */
export function fileEntry(file: FileMeta, patch: string | null, room: number, oldRef: string): { entry: FileEntry; shown: EntryShown } {
  if (patch === null) {
    const entry = pathWithin(withoutPatch(file, oldRef), room);
    return { entry, shown: { patch: isWhole(file, room) ? 'whole' : 'none', missing: file.span ?? null } };
  }
  const whole = { ...base(file), patch };
  if (jsonSize(whole) <= room) return { entry: whole, shown: { patch: 'whole', missing: null } };
  return cutEntry(file, patch, room, oldRef);
}

/** Room for the largest line numbers that can be named. */
const OMITTED_RESERVE = { from_line: 999_999_999, to_line: 999_999_999 };

function cutEntry(file: FileMeta, patch: string, room: number, oldRef: string): { entry: FileEntry; shown: EntryShown } {
  const lines = patchLines(patch);
  const left = room - jsonSize({ ...base(file), patch: '', patch_omitted: true, omitted: { ...OMITTED_RESERVE, ref: oldRef } });
  let used = 0;
  let kept = 0;
  for (const line of lines) {
    used += innerSize(line.text) + (kept === 0 ? 0 : 2);
    if (used > left) break;
    kept += 1;
  }
  // A hunk's head with none of its lines shows nothing.
  while (kept > 0 && lines[kept - 1]?.kind === 'hunk') kept -= 1;
  const missing = missingSpan(file, lines.slice(kept));
  const omitted = missing === null ? {} : { omitted: wireOmitted(missing, oldRef) };
  const shownPatch =
    kept === 0
      ? {}
      : {
          patch: lines
            .slice(0, kept)
            .map((line) => line.text)
            .join('\n'),
        };
  const entry = { ...base(file), ...shownPatch, patch_omitted: true as const, ...omitted };
  return { entry: pathWithin(entry, room), shown: { patch: kept === 0 ? 'none' : 'cut', missing } };
}

/** What the cut left out, on the side where it can be read: the new one, unless only removed lines are left. */
function missingSpan(file: FileMeta, rest: readonly PatchLine[]): LineSpan | null {
  const sides = file.status === 'removed' ? (['old'] as const) : (['new', 'old'] as const);
  for (const side of sides) {
    const span = spanOn(side, rest);
    if (span !== null) return { side, ...span };
  }
  return null;
}

function wireOmitted({ side, from, to }: LineSpan, oldRef: string): Omitted {
  return { from_line: from, to_line: to, ref: side === 'old' ? oldRef : 'head' };
}

function withoutPatch(file: FileMeta, oldRef: string): FileEntry {
  const reason = file.noPatch;
  if (reason === undefined) return base(file);
  if (!HIDES_SOMETHING[reason]) return { ...base(file), patch_reason: reason };
  return {
    ...base(file),
    patch_reason: reason,
    patch_omitted: true,
    ...(file.span === undefined ? {} : { omitted: wireOmitted(file.span, oldRef) }),
  };
}

function base(file: FileMeta): FileEntry {
  return {
    path: file.path,
    ...(file.previousPath === undefined ? {} : { previous_path: file.previousPath }),
    status: file.status,
    ...(file.kind === 'file' ? {} : { kind: file.kind }),
    ...(file.modeChange === undefined ? {} : { mode_change: file.modeChange }),
    ...(file.notUtf8 ? { not_utf8: true } : {}),
    additions: file.additions,
    deletions: file.deletions,
  };
}

/** A path so long that it alone fills the page is cut, and says so; the other name of a rename goes first. */
function pathWithin(entry: FileEntry, room: number): FileEntry {
  if (jsonSize(entry) <= room) return entry;
  const { previous_path: _, patch: __, ...rest } = entry;
  const bare = { ...rest, path_truncated: true as const };
  return { ...bare, path: startWithin(entry.path, room - jsonSize({ ...bare, path: '' })) };
}

import { MAX_PATCH_BYTES } from '../local/diff.js';
import { PatchReader, type PatchSection } from '../local/patch-reader.js';
import type { ChangedFile, FileStatus, LineSpan, NoPatchReason } from '../port.js';
import type { GitHeader } from './git-header.js';
import type { DiffRow } from './shapes.js';

/** A file of git's raw diff. `kept` is false where the whole diff's limit left no room for its patch. */
export function fileOfSection(header: GitHeader, section: PatchSection, kept: boolean): ChangedFile {
  return changedFile(header, kept ? section : { ...section, patch: null }, whyNoPatch(header, section, kept));
}

function whyNoPatch({ status }: GitHeader, section: PatchSection, kept: boolean): NoPatchReason | null {
  if (section.binary) return 'binary';
  if (section.bytes > MAX_PATCH_BYTES) return 'too_large';
  if (section.bytes > 0) return kept ? null : 'diff_too_large';
  if (status === 'renamed' || status === 'copied') return 'renamed_only';
  return status === 'modified' ? 'mode_only' : 'empty';
}

/** The files of GitLab's listing, in order. */
export function filesOfRows(rows: readonly DiffRow[]): ChangedFile[] {
  const files: ChangedFile[] = [];
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    const file = fileOfRow(row);
    if (before?.deleted_file === true && row.new_file && before.old_path === row.new_path) {
      files.push(kindChanged(files.pop() as ChangedFile, file, `${before.a_mode} → ${row.b_mode}`));
    } else files.push(file);
  }
  return files;
}

/**
 * A file of GitLab's listing. A diff that is empty without a reason is missing, whatever the flags say: they have been
 * wrong. An added or removed file may really be empty; nothing tells it from one that was left out.
 */
function fileOfRow(row: DiffRow): ChangedFile {
  const status: FileStatus = row.new_file ? 'added' : row.deleted_file ? 'removed' : row.renamed_file ? 'renamed' : 'modified';
  const header: GitHeader = {
    status,
    path: status === 'removed' ? row.old_path : row.new_path,
    previousPath: status === 'renamed' ? row.old_path : null,
    oldMode: row.a_mode,
    newMode: row.b_mode,
    newSha: '',
    notUtf8: row.new_path.includes('\ufffd') || row.diff.includes('\ufffd'),
  };
  const [section] = sectionsOf(`diff --git a b\n${row.diff}`);
  const explained = status === 'renamed' ? 'renamed_only' : status === 'modified' && row.a_mode !== row.b_mode ? 'mode_only' : null;
  if (row.diff === '' && (row.collapsed === true || row.too_large === true || explained === null)) {
    return { ...changedFile(header, null, row.too_large === true ? 'too_large' : 'collapsed'), additions: null, deletions: null };
  }
  return changedFile(header, section ?? null, explained !== null && row.diff === '' ? explained : section?.binary ? 'binary' : null);
}

/** Whether GitLab left something of the file out. */
export function isLeftOut({ noPatch }: ChangedFile): boolean {
  return noPatch === 'collapsed' || noPatch === 'too_large';
}

/** Git shows a path whose kind changed as removed and then added. */
export function kindChanged(removed: ChangedFile, added: ChangedFile, modes: string): ChangedFile {
  const counted = removed.additions !== null && added.additions !== null;
  const patches = [removed.patch, added.patch].filter((patch) => patch !== null && patch !== '');
  const noPatch = added.noPatch === 'empty' ? removed.noPatch : (removed.noPatch ?? added.noPatch);
  const { noPatch: _, ...rest } = added;
  return {
    ...rest,
    status: 'type_changed',
    additions: counted ? (removed.additions ?? 0) + (added.additions ?? 0) : null,
    deletions: counted ? (removed.deletions ?? 0) + (added.deletions ?? 0) : null,
    modeChange: modes,
    ...(noPatch === undefined || noPatch === 'empty' ? { patch: patches.join('\n') } : { patch: null, noPatch }),
  };
}

function changedFile(header: GitHeader, section: PatchSection | null, noPatch: NoPatchReason | null): ChangedFile {
  const { status, path, previousPath, oldMode, newMode, newSha } = header;
  const counted = section !== null && !section.binary;
  const moved = (status === 'modified' || status === 'renamed' || status === 'copied') && oldMode !== newMode;
  const span = section !== null && (noPatch === 'too_large' || noPatch === 'diff_too_large') ? spanOf(status, section) : null;
  return {
    path,
    ...(previousPath === null ? {} : { previousPath }),
    status,
    additions: counted ? section.additions : null,
    deletions: counted ? section.deletions : null,
    kind: kindOf(status === 'removed' ? oldMode : newMode),
    ...(moved ? { modeChange: `${oldMode} → ${newMode}` } : {}),
    blobSha: status === 'removed' || newSha === '' ? null : newSha,
    ...(noPatch === null && section?.patch != null ? { patch: section.patch } : { patch: null, noPatch: noPatch ?? 'collapsed' }),
    ...(span === null ? {} : { span }),
    ...(header.notUtf8 || section?.notUtf8 ? { notUtf8: true } : {}),
  };
}

function spanOf(status: FileStatus, { oldSpan, newSpan }: PatchSection): LineSpan | null {
  const side = status === 'removed' ? 'old' : 'new';
  const span = side === 'old' ? oldSpan : newSpan;
  return span === null ? null : { side, ...span };
}

function kindOf(mode: string): ChangedFile['kind'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

function sectionsOf(text: string): PatchSection[] {
  const sections: PatchSection[] = [];
  const reader = new PatchReader(MAX_PATCH_BYTES, (section) => sections.push(section));
  reader.feed(Buffer.from(text));
  reader.end();
  return sections;
}

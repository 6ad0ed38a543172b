import { createHash } from 'node:crypto';
import { patchLines } from '../../context/hunks.js';
import type { ChangedFile, FileComment, LineComment } from '../port.js';
import type { Version } from './shapes.js';

interface PositionLine {
  readonly line_code: string;
  readonly type: 'new' | 'old';
  readonly old_line?: number;
  readonly new_line?: number;
}

/** Where GitLab hangs a discussion. Added lines have a new number, removed ones an old one, unchanged ones both. */
export interface Position {
  readonly position_type: 'text' | 'file';
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
  readonly old_path: string;
  readonly new_path: string;
  readonly old_line?: number;
  readonly new_line?: number;
  readonly line_range?: { readonly start: PositionLine; readonly end: PositionLine };
}

/**
 * D9: the place of a comment in one version of the diff; null: its line is in no hunk, where GitLab takes no comment.
 * A range that leaves its hunk is placed by its last line alone.
 */
export function positionOf(version: Version, file: ChangedFile, comment: LineComment | FileComment): Position | null {
  if (!('line' in comment)) return { position_type: 'file', ...placeOf(version, file) };
  const { line, startLine, side } = comment;
  const lines = positionLines(file);
  const end = lines.find((one) => one[side] === line);
  if (end === undefined) return null;
  const start = startLine === undefined || startLine >= line ? undefined : lines.find((one) => one[side] === startLine);
  return {
    position_type: 'text',
    ...placeOf(version, file),
    ...end.numbers,
    ...(start === undefined || start.hunk !== end.hunk ? {} : { line_range: { start: start.code, end: end.code } }),
  };
}

/** GitLab wants both names, also where they are the same. */
function placeOf({ base_commit_sha, start_commit_sha, head_commit_sha }: Version, { path, previousPath }: ChangedFile) {
  return {
    base_sha: base_commit_sha ?? start_commit_sha,
    start_sha: start_commit_sha,
    head_sha: head_commit_sha,
    old_path: previousPath ?? path,
    new_path: path,
  };
}

interface Numbered {
  readonly hunk: number;
  readonly old: number | null;
  readonly new: number | null;
  readonly numbers: { readonly old_line?: number; readonly new_line?: number };
  readonly code: PositionLine;
}

function positionLines(file: ChangedFile): Numbered[] {
  const hash = createHash('sha1').update(file.path).digest('hex');
  const numbered: Numbered[] = [];
  let hunk = 0;
  // A line of one side stands before the line of the other side that comes next: GitLab's code names both.
  let next = { old: 0, new: 0 };
  for (const line of patchLines(file.patch ?? '')) {
    if (line.kind === 'hunk') {
      const [, old, fresh] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line.text) ?? [];
      [hunk, next] = [hunk + 1, { old: Number(old), new: Number(fresh) }];
      continue;
    }
    if (line.kind === 'remark') continue;
    const numbers = { ...(line.old === null ? {} : { old_line: line.old }), ...(line.new === null ? {} : { new_line: line.new }) };
    const code = `${hash}_${line.old ?? next.old}_${line.new ?? next.new}`;
    numbered.push({
      hunk,
      old: line.old,
      new: line.new,
      numbers,
      code: { line_code: code, type: line.kind === 'added' ? 'new' : 'old', ...numbers },
    });
    next = { old: line.old === null ? next.old : line.old + 1, new: line.new === null ? next.new : line.new + 1 };
  }
  return numbered;
}

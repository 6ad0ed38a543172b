import { patchLines } from './hunks.js';

/** Where a finding points; no line: the whole file. `startLine`: the first line of a range that ends at `line`. */
export interface Anchor {
  readonly path: string;
  readonly line?: number | undefined;
  readonly startLine?: number | undefined;
  readonly side: 'new' | 'old';
}

/** Lines as a forge takes them: without a `startLine` where only the last line of a range has a place. */
export interface PlacedLines {
  readonly line: number;
  readonly startLine?: number;
  readonly side: 'new' | 'old';
}

type Placement = ({ readonly placed: true } & PlacedLines) | { readonly placed: false; readonly reason: string };

/**
 * D9: whether a forge can show a comment at this place, checked before posting so that one bad line never loses the
 * review. New side: added and unchanged lines of a hunk. Old side: removed lines; an unchanged line named by its old
 * number is placed at its new one, for forges take no other. A range lies in one hunk and on one side, or only its last
 * line is placed. `patches`: by path; null or absent: no hunks.
 */
export function createPlacer(patches: ReadonlyMap<string, string | null>): (anchor: Anchor) => Placement {
  const known = new Map<string, ReturnType<typeof placesOf>>();
  return ({ path, line, startLine, side }) => {
    const patch = patches.get(path);
    if (patch === undefined) return { placed: false, reason: 'The file is not in the pull request.' };
    if (line === undefined) return { placed: false, reason: 'It is about the whole file.' };
    if (patch === null) return { placed: false, reason: 'The file has no patch to point into.' };
    const places = known.get(path) ?? placesOf(patch);
    known.set(path, places);
    const end = places[side].get(line);
    if (end === undefined) {
      return { placed: false, reason: side === 'new' ? `Line ${line} is in no hunk.` : `Line ${line} of the old file is in no hunk.` };
    }
    const start = startLine === undefined ? undefined : places[side].get(startLine);
    const isRange = start?.hunk === end.hunk && start.side === end.side && start.line < end.line;
    return { placed: true, line: end.line, side: end.side, ...(isRange && { startLine: start.line }) };
  };
}

interface Place {
  readonly line: number;
  readonly side: 'new' | 'old';
  readonly hunk: number;
}

/** By the number a finding gives a line on a side: where a forge takes it. */
function placesOf(patch: string): Readonly<Record<'new' | 'old', ReadonlyMap<number, Place>>> {
  const places = { new: new Map<number, Place>(), old: new Map<number, Place>() };
  let hunk = 0;
  for (const line of patchLines(patch)) {
    if (line.kind === 'hunk') hunk += 1;
    const place: Place | null =
      line.new !== null ? { line: line.new, side: 'new', hunk } : line.old !== null ? { line: line.old, side: 'old', hunk } : null;
    if (place === null) continue;
    if (line.new !== null) places.new.set(line.new, place);
    if (line.old !== null) places.old.set(line.old, place);
  }
  return places;
}

import { patchLines } from './hunks.js';

/** Where a finding points; no line: the whole file. */
interface Anchor {
  readonly path: string;
  readonly line?: number | undefined;
  readonly side: 'new' | 'old';
}

type Placement =
  { readonly placed: true; readonly line: number; readonly side: 'new' | 'old' } | { readonly placed: false; readonly reason: string };

/**
 * D9: whether a forge can show a comment at this place, checked before posting so that one bad line never loses the
 * review. New side: added and unchanged lines of a hunk. Old side: removed lines; an unchanged line named by its old
 * number is placed at its new one, for forges take no other. `patches`: by path; null or absent: no hunks.
 */
export function createPlacer(patches: ReadonlyMap<string, string | null>): (anchor: Anchor) => Placement {
  const lines = new Map<string, ReturnType<typeof placesOf>>();
  return ({ path, line, side }) => {
    const patch = patches.get(path);
    if (patch === undefined) return { placed: false, reason: 'The file is not in the pull request.' };
    if (line === undefined) return { placed: false, reason: 'It is about the whole file.' };
    if (patch === null) return { placed: false, reason: 'The file has no patch to point into.' };
    const places = lines.get(path) ?? placesOf(patch);
    lines.set(path, places);
    if (side === 'new') {
      return places.onNew.has(line) ? { placed: true, line, side } : { placed: false, reason: `Line ${line} is in no hunk.` };
    }
    const moved = places.onOld.get(line);
    if (moved === undefined) return { placed: false, reason: `Line ${line} of the old file is in no hunk.` };
    return moved === null ? { placed: true, line, side } : { placed: true, line: moved, side: 'new' };
  };
}

function placesOf(patch: string): { onNew: Set<number>; onOld: Map<number, number | null> } {
  const onNew = new Set<number>();
  const onOld = new Map<number, number | null>();
  for (const line of patchLines(patch)) {
    if (line.new !== null) onNew.add(line.new);
    if (line.old !== null) onOld.set(line.old, line.new);
  }
  return { onNew, onOld };
}

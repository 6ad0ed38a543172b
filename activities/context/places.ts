import { createPlacer, type Anchor, type PlacedLines } from './anchors.js';
import type { KeptDiff } from './kept-diff.js';

/** Where a finding can stand: at lines of the diff, at a file of it as a whole, or only in the body (D4). */
export type Place =
  | ({ readonly at: 'lines'; readonly path: string } & PlacedLines)
  | { readonly at: 'file'; readonly path: string }
  | { readonly at: 'body' };

/**
 * Finds the places of findings on `paths` in a kept diff. A file that was renamed is found by its old name too, where
 * that can only mean the file itself: for lines of the old side, and as a whole. @throws {ForgeError}
 */
export async function placesIn(diff: KeptDiff, paths: Iterable<string>): Promise<(anchor: Anchor) => Place> {
  const renamed = new Map(
    diff.files.flatMap(({ path, previousPath, status }) =>
      status === 'renamed' && previousPath !== undefined ? [[previousPath, path]] : [],
    ),
  );
  const now = new Set([...paths].map((path) => renamed.get(path) ?? path).concat([...paths]));
  const patches = new Map<string, string | null>();
  for (const [index, { path }] of diff.files.entries()) {
    if (now.has(path)) patches.set(path, (await diff.patches(index, index + 1))[0] ?? null);
  }
  const place = createPlacer(patches);
  return (anchor) => {
    const old = anchor.line === undefined || anchor.side === 'old';
    const path = patches.has(anchor.path) || !old ? anchor.path : (renamed.get(anchor.path) ?? anchor.path);
    if (anchor.line === undefined) return patches.has(path) ? { at: 'file', path } : { at: 'body' };
    const placement = place({ ...anchor, path });
    if (!placement.placed) return { at: 'body' };
    const { placed: _, ...lines } = placement;
    return { at: 'lines', path, ...lines };
  };
}

import { createHash } from 'node:crypto';
import type { Comparison, CommitPair, ContextStore, PullRequestRef } from '../forge/port.js';
import type { FileMeta } from './file-entry.js';
import { innerSize } from './json-size.js';
import type { ReadDeps } from './types.js';

/** A diff as it is kept: the list whole, the patches in pieces, so that a page loads only what it shows. */
export interface KeptDiff {
  readonly files: readonly FileMeta[];
  readonly gaps: readonly string[];
  /** The patches of files `from` up to, not including, `to`; null where a file has none. */
  patches(from: number, to: number): Promise<(string | null)[]>;
}

interface StoredIndex {
  readonly files: readonly FileMeta[];
  readonly gaps: readonly string[];
  /** The first file of each piece. */
  readonly pieces: readonly number[];
}

/** A page shows 48 000 characters: a piece is a few pages. */
const PIECE_CHARS = 200_000;
/** Raise the number when the stored form changes: old rows are then no longer found. */
const INDEX = 'diff/1';
const piece = (at: number) => `${INDEX}/${at}`;

/** Fetches under way in this process, so that callers at once share one. */
const underWay = new WeakMap<ContextStore, Map<string, Promise<StoredIndex>>>();

/**
 * What changed between two commits, kept on first use (O1: the opening calls this; DESIGN 8). Throws ForgeError.
 */
export async function keepDiff(deps: ReadDeps, ref: PullRequestRef, commits: CommitPair): Promise<KeptDiff> {
  const { baseSha, headSha } = commits;
  const key = (kind: string) => ({ repository: ref.repository, baseSha, headSha, kind });
  const stored = await deps.store.get(key(INDEX));
  const index = stored === null ? await fetchOnce(deps, ref, commits) : (JSON.parse(stored) as StoredIndex);
  return {
    files: index.files,
    gaps: index.gaps,
    async patches(from, to) {
      const wanted: (string | null)[] = [];
      for (const [at, first] of index.pieces.entries()) {
        const end = index.pieces[at + 1] ?? index.files.length;
        if (end <= from || first >= to) continue;
        const text = await deps.store.get(key(piece(at)));
        if (text === null) throw new Error(`A kept diff of ${ref.repository} lacks its piece ${at}.`);
        wanted.push(...(JSON.parse(text) as (string | null)[]).slice(Math.max(0, from - first), to - first));
      }
      return wanted;
    },
  };
}

function fetchOnce(deps: ReadDeps, ref: PullRequestRef, commits: CommitPair): Promise<StoredIndex> {
  const running = underWay.get(deps.store) ?? new Map<string, Promise<StoredIndex>>();
  underWay.set(deps.store, running);
  const name = `${ref.repository} ${commits.baseSha} ${commits.headSha}`;
  const fetching = running.get(name) ?? fetchAndKeep(deps, ref, commits).finally(() => running.delete(name));
  running.set(name, fetching);
  return fetching;
}

async function fetchAndKeep(deps: ReadDeps, ref: PullRequestRef, commits: CommitPair): Promise<StoredIndex> {
  const { files, gaps } = await deps.forge.diff(ref, commits);
  const key = (kind: string) => ({ repository: ref.repository, baseSha: commits.baseSha, headSha: commits.headSha, kind });
  const pieces: number[] = [];
  const metas: FileMeta[] = [];
  let patches: (string | null)[] = [];
  let size = 0;
  const close = async () => {
    if (patches.length === 0) return;
    await deps.store.put(key(piece(pieces.length)), JSON.stringify(patches));
    pieces.push(metas.length - patches.length);
    [patches, size] = [[], 0];
  };
  for (const { patch, ...meta } of files) {
    const patchSize = patch === null ? null : innerSize(patch);
    const patchHash = patch === null ? null : createHash('sha256').update(patch).digest('base64url').slice(0, 22);
    metas.push({ ...meta, patchSize, patchHash });
    patches.push(patch);
    size += (patchSize ?? 0) + 10;
    if (size >= PIECE_CHARS) await close();
  }
  await close();
  const index: StoredIndex = { files: metas, gaps, pieces };
  // Last: an index that is there has all its pieces.
  await deps.store.put(key(INDEX), JSON.stringify(index));
  return index;
}

/** How two commits stand, kept once it is known. Throws ForgeError. */
export async function keepComparison(deps: ReadDeps, ref: PullRequestRef, from: string, to: string): Promise<Comparison> {
  const key = { repository: ref.repository, baseSha: from, headSha: to, kind: 'compare/1' };
  const stored = await deps.store.get(key);
  if (stored !== null) return JSON.parse(stored) as Comparison;
  const comparison = await deps.forge.compare(ref, from, to);
  // A commit that is not there now may be there tomorrow, once it has been fetched.
  if (comparison.changedPaths !== null) await deps.store.put(key, JSON.stringify(comparison));
  return comparison;
}

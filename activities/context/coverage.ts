import type { LineSpan } from '../forge/port.js';

/** Lines, 1-based and inclusive. */
type LineRange = readonly [from: number, to: number];

/**
 * G1: what a participant was shown of one path of the pull request in one round. Plain JSON, one record a (room,
 * round, participant, path); {@link mergeShown} adds a further read to it, in any order and any number of times.
 */
export interface ShownFacts {
  /** Everything there is to see of it was shown. */
  readonly whole: boolean;
  /** Some of its patch was shown. */
  readonly part: boolean;
  /** What a cut patch left out; reading it completes the file. null: nothing is known to be missing, or no patch was shown. */
  readonly missing: LineSpan | null;
  /** Lines read with get_file at the round's head (`new`) or base (`old`), merged, in order. */
  readonly read: { readonly new: readonly LineRange[]; readonly old: readonly LineRange[] };
  /** Lines of the file at the head and the base, where it was read. */
  readonly total: { readonly new?: number; readonly old?: number };
  /** Since views: complete as far as the round they start from was. */
  readonly since: readonly SinceShown[];
}

export interface SinceShown {
  readonly round: number;
  /** `unchanged`: the manifest said so; `whole`, `cut` or `none`: how much of its patch was shown. */
  readonly seen: 'unchanged' | 'whole' | 'cut' | 'none';
  readonly missing: LineSpan | null;
}

/** A path and what one answer showed of it. */
export interface PathShown {
  readonly path: string;
  readonly facts: ShownFacts;
}

export const NOTHING_SHOWN: ShownFacts = { whole: false, part: false, missing: null, read: { new: [], old: [] }, total: {}, since: [] };

export function mergeShown(a: ShownFacts, b: ShownFacts): ShownFacts {
  return {
    whole: a.whole || b.whole,
    part: a.part || b.part,
    missing: lesser(a.missing, b.missing),
    read: { new: mergeRanges([...a.read.new, ...b.read.new]), old: mergeRanges([...a.read.old, ...b.read.old]) },
    total: { ...a.total, ...b.total },
    since: mergeSince([...a.since, ...b.since]),
  };
}

/** Of two cuts of one patch the later one left out less. */
function lesser(a: LineSpan | null, b: LineSpan | null): LineSpan | null {
  if (a === null || b === null) return a ?? b;
  if (a.side !== b.side) return a.side === 'old' ? a : b;
  return a.from >= b.from ? a : b;
}

function mergeSince(all: readonly SinceShown[]): SinceShown[] {
  const byKind = new Map<string, SinceShown>();
  for (const one of all) {
    const key = `${String(one.round).padStart(9, '0')} ${one.seen}`;
    const other = byKind.get(key);
    byKind.set(key, other === undefined ? one : { ...one, missing: lesser(one.missing, other.missing) });
  }
  return [...byKind.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function mergeRanges(ranges: readonly LineRange[]): LineRange[] {
  const merged: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** A file of the pull request, as {@link coverage} counts it. */
export interface CoverageFile {
  readonly path: string;
  readonly removed: boolean;
}

/** A participant's records by round, then by path. */
export type ShownByRound = ReadonlyMap<number, ReadonlyMap<string, ShownFacts>>;

export interface Coverage {
  readonly shown: number;
  readonly partial: number;
  readonly notShown: number;
  /** Files not wholly shown, in the pull request's order. */
  readonly files: readonly { readonly path: string; readonly state: 'partial' | 'not_shown' }[];
  /** Whether the participant read anything of the pull request in the round. */
  readonly read: boolean;
}

export function coverage(files: readonly CoverageFile[], records: ShownByRound, round: number): Coverage {
  const states = files.map((file) => ({ path: file.path, state: stateOf(file, records, round) }));
  const left = states.filter((file): file is { path: string; state: 'partial' | 'not_shown' } => file.state !== 'shown');
  const partial = left.filter((file) => file.state === 'partial').length;
  return {
    shown: states.length - left.length,
    partial,
    notShown: left.length - partial,
    files: left,
    read: (records.get(round)?.size ?? 0) > 0,
  };
}

function stateOf(file: CoverageFile, records: ShownByRound, round: number): 'shown' | 'partial' | 'not_shown' {
  const facts = records.get(round)?.get(file.path);
  if (facts === undefined) return 'not_shown';
  const side = file.removed ? 'old' : 'new';
  const total = facts.total[side];
  if (facts.whole || covers(facts, facts.missing)) return 'shown';
  if (total !== undefined && (total === 0 || covers(facts, { side, from: 1, to: total }))) return 'shown';
  // Rounds only count down from here, so this ends.
  const sinceWhole = facts.since.some(
    (since) =>
      since.round < round &&
      (since.seen === 'unchanged' || since.seen === 'whole' || covers(facts, since.missing)) &&
      stateOf(file, records, since.round) === 'shown',
  );
  if (sinceWhole) return 'shown';
  const some =
    facts.part ||
    facts.read.new.length + facts.read.old.length > 0 ||
    facts.since.some((since) => since.seen === 'whole' || since.seen === 'cut');
  return some ? 'partial' : 'not_shown';
}

function covers(facts: ShownFacts, span: LineSpan | null): boolean {
  return span !== null && facts.read[span.side].some(([from, to]) => from <= span.from && to >= span.to);
}

/** Paths named in one line; the rest are counted. */
const NAMED = 5;
const NAMED_CHARS = 120;

/** G1's line for one reviewer: `@grok read 57 of 60 files through Barista; not: …`. */
export function coverageLine(name: string, { shown, partial, notShown, files, read }: Coverage): string {
  const total = shown + partial + notShown;
  if (!read) return `@${name} did not read through Barista`;
  if (total === shown) return `@${name} read ${total === 1 ? 'the one file' : `all ${total} files`} through Barista`;
  const list = (state: 'partial' | 'not_shown', label: string) => {
    const paths = files.filter((file) => file.state === state).map((file) => file.path);
    if (paths.length === 0) return '';
    const named = paths.slice(0, NAMED).map((path) => (path.length > NAMED_CHARS ? `…${path.slice(-NAMED_CHARS)}` : path));
    return `; ${label}: ${named.join(', ')}${paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''}`;
  };
  return `@${name} read ${shown} of ${total} files through Barista${list('partial', 'in part')}${list('not_shown', 'not')}`;
}

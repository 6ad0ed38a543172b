import { NOTHING_SHOWN, type PathShown, type SinceShown } from './coverage.js';
import { entrySize, fileEntry, type EntryShown, type FileEntry, type FileMeta } from './file-entry.js';
import { cutText, innerSize, jsonSize, startWithin } from './json-size.js';
import type { KeptDiff } from './kept-diff.js';
import type { ManifestEntry, SinceView } from './since.js';
import { BASE_REF, type ShownFinding } from './types.js';

/** One thing of a page; `size`: JSON characters of its entry, uncut. */
type Item =
  | { readonly kind: 'finding'; readonly size: number; readonly finding: ShownFinding }
  | { readonly kind: 'manifest'; readonly size: number; readonly entry: ManifestEntry }
  | { readonly kind: 'file'; readonly size: number; readonly at: number };

/** A since view (C4, C5) and the diff its files are of. */
export interface SinceItems {
  readonly round: number;
  readonly view: SinceView;
  readonly diff: KeptDiff;
  /** Where the old side of its patches is read (C7). */
  readonly oldRef: string;
}

/** Everything a view has to show, in the order of its pages: findings, manifest, files. */
export function itemsOf(whole: KeptDiff, since: SinceItems | null, findings: readonly ShownFinding[]): Item[] {
  const files = (since?.diff ?? whole).files;
  const oldRef = since?.oldRef ?? BASE_REF;
  const listed = (since?.view.shown ?? [...files.keys()]).map((at): Item => ({
    kind: 'file',
    size: entrySize(files[at] as FileMeta, oldRef),
    at,
  }));
  if (since === null) return listed;
  return [
    ...findings.map((finding): Item => ({ kind: 'finding', size: jsonSize(finding), finding })),
    ...since.view.manifest.map((entry): Item => ({ kind: 'manifest', size: jsonSize(entry), entry })),
    ...listed,
  ];
}

export interface BuiltItems {
  readonly findings: ShownFinding[];
  readonly manifest: ManifestEntry[];
  readonly files: FileEntry[];
  readonly shown: { readonly file: FileMeta; readonly shown: EntryShown }[];
}

/** What the entries of a page are made from. */
type Source = Pick<SinceItems, 'diff' | 'oldRef'>;

/** The entries of one page, each within `room` characters with its comma; loads only the patches they show. */
export async function buildItems(page: readonly Item[], { diff, oldRef }: Source, room: number): Promise<BuiltItems> {
  const wanted = page.flatMap((item) => (item.kind === 'file' ? [item.at] : []));
  const [first, last] = [wanted[0], wanted.at(-1)];
  const patches = first === undefined || last === undefined ? [] : await diff.patches(first, last + 1);
  const built: BuiltItems = { findings: [], manifest: [], files: [], shown: [] };
  for (const item of page) {
    if (item.kind === 'finding') built.findings.push(findingWithin(item.finding, room - 1));
    else if (item.kind === 'manifest') built.manifest.push(manifestWithin(item.entry, room - 1));
    else {
      const file = diff.files[item.at] as FileMeta;
      const { entry, shown } = fileEntry(file, patches[item.at - (first as number)] ?? null, room - 1, oldRef);
      built.files.push(entry);
      built.shown.push({ file, shown });
    }
  }
  return built;
}

/** A finding larger than a page keeps its facts; its body, then its answers and references, are cut. */
function findingWithin(finding: ShownFinding, room: number): ShownFinding {
  const over = jsonSize(finding) - room;
  if (over <= 0) return finding;
  const size = innerSize(finding.body);
  if (size - over >= 100) return { ...finding, body: cutText(finding.body, size - over) };
  const { answers: _, references: __, ...facts } = finding;
  const short = { ...facts, path: startWithin(facts.path, 1_000), details_omitted: true };
  return { ...short, body: cutText(finding.body, Math.max(100, room - jsonSize({ ...short, body: '' }))) };
}

function manifestWithin(entry: ManifestEntry, room: number): ManifestEntry {
  const over = jsonSize(entry) - room;
  return over <= 0 ? entry : { ...entry, path: startWithin(entry.path, innerSize(entry.path) - over) };
}

/**
 * G1: what a page showed. A since patch that is the pull request's own (the file was not changed before that round)
 * shows all of it; any other only as much as the round it starts from did.
 */
export function shownBy({ shown, manifest }: BuiltItems, whole: KeptDiff, since: SinceItems | null): PathShown[] {
  if (since === null) {
    return shown.map(({ file, shown: { patch, missing } }) => ({
      path: file.path,
      facts: { ...NOTHING_SHOWN, whole: patch === 'whole', part: patch === 'cut', missing },
    }));
  }
  const ofPullRequest = new Map(whole.files.map((file) => [file.path, file.patchHash]));
  const sinceShown = (path: string, seen: SinceShown['seen'], missing: SinceShown['missing'], all = false): PathShown => ({
    path,
    facts: { ...NOTHING_SHOWN, whole: all, since: [{ round: since.round, seen, missing }] },
  });
  return [
    ...shown.map(({ file, shown: { patch, missing } }) => {
      const same = file.patchHash !== null && file.patchHash === ofPullRequest.get(file.path);
      // What is read of the round's commit is not counted, so such lines stay missing.
      const countable = missing?.side === 'old' && since.oldRef !== BASE_REF ? null : missing;
      return sinceShown(file.path, patch, countable, same && patch === 'whole');
    }),
    ...manifest.filter((entry) => !entry.changed_since_round).map(({ path }) => sinceShown(path, 'unchanged', null)),
  ];
}

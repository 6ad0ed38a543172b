import { isUtf8 } from 'node:buffer';
import { type ChangedFile, type CommitPair, type Diff, type FileStatus, ForgeError, type LineSpan, type NoPatchReason } from '../port.js';
import { BIG_FILE_BYTES, fullSha, type Git } from './git.js';
import { PatchReader, type PatchSection } from './patch-reader.js';

/** A patch larger than this is read with get_file instead; nobody reviews a megabyte of one file in pages. */
export const MAX_PATCH_BYTES = 1_000_000;
/** All patches of one diff: what one opening may keep in memory at once. */
export const MAX_DIFF_BYTES = 24_000_000;
export const MAX_FILES = 10_000;

/** Everything that decides git's output is said here, so that no configuration can. */
const DIFF_OPTIONS = [
  '-r',
  '-M50%',
  '-l1000',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--submodule=short',
  '--ignore-submodules=none',
];
const PATCH_OPTIONS = [
  ...['-p', '-U3', '--inter-hunk-context=0', '--diff-algorithm=myers', '--indent-heuristic', '--full-index'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

interface RawEntry {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldSha: string;
  readonly newSha: string;
  readonly letter: string;
  readonly path: Buffer;
  readonly previous: Buffer | null;
}

/** The tree-against-tree diff of two commits, patches streamed within {@link MAX_PATCH_BYTES} and {@link MAX_DIFF_BYTES}. */
export async function readDiff(git: Git, gitDir: string, commits: CommitPair): Promise<Diff> {
  const pair = [fullSha(commits.baseSha), fullSha(commits.headSha)];
  const raw = await git.run(gitDir, ['diff-tree', ...DIFF_OPTIONS, '--raw', '--no-abbrev', '-z', ...pair, '--']);
  const all = parseRaw(raw.stdout);
  const entries = all.slice(0, MAX_FILES);
  const patches = await readPatches(git, gitDir, pair, entries);
  const big = await overSize(git, gitDir, entries, patches);
  const files = entries.map((entry, at) => changedFile(entry, patches[at] ?? [], big));
  const gaps = all.length > MAX_FILES ? [`Only the first ${MAX_FILES} of ${all.length} changed files are listed.`] : [];
  return { files, gaps };
}

function parseRaw(output: Buffer): RawEntry[] {
  const tokens: Buffer[] = [];
  for (let start = 0, end = output.indexOf(0); end >= 0; start = end + 1, end = output.indexOf(0, start)) {
    tokens.push(output.subarray(start, end));
  }
  const entries: RawEntry[] = [];
  for (let at = 0; at < tokens.length;) {
    const [oldMode, newMode, oldSha, newSha, letters] = (tokens[at++] as Buffer).toString('latin1').slice(1).split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ];
    const letter = letters.charAt(0);
    const first = tokens[at++] as Buffer;
    const second = letter === 'R' || letter === 'C' ? (tokens[at++] as Buffer) : null;
    entries.push({ oldMode, newMode, oldSha, newSha, letter, path: second ?? first, previous: second === null ? null : first });
  }
  return entries;
}

/** The sections of each entry, in order: one each, but two where the kind of a path changed (removed, then added). */
async function readPatches(git: Git, gitDir: string, pair: string[], entries: readonly RawEntry[]): Promise<PatchSection[][]> {
  const result: PatchSection[][] = entries.map(() => []);
  const wanted = entries.flatMap((entry, at) => (entry.letter === 'T' ? [at, at] : [at]));
  if (wanted.length === 0) return result;
  let next = 0;
  let room = MAX_DIFF_BYTES;
  const reader = new PatchReader(MAX_PATCH_BYTES, (section) => {
    const at = wanted[next++];
    if (at === undefined) return;
    // Dropped as it comes: what passes the whole diff's limit is never held.
    const kept = section.bytes <= room || section.patch === null;
    if (kept && section.patch !== null) room -= section.bytes;
    result[at]?.push(kept ? section : { ...section, patch: null });
  });
  for await (const chunk of git.stream(gitDir, ['diff-tree', ...DIFF_OPTIONS, ...PATCH_OPTIONS, ...pair, '--'])) {
    reader.feed(chunk);
    if (next > wanted.length) break;
  }
  reader.end();
  if (next < wanted.length) throw new ForgeError('unavailable', 'git answered fewer patches than changed files.');
  return result;
}

/** Objects that git called binary only because they are too big to look into. */
async function overSize(git: Git, gitDir: string, entries: readonly RawEntry[], patches: PatchSection[][]): Promise<ReadonlySet<string>> {
  const asked = entries.flatMap((entry, at) => (patches[at]?.some((section) => section.binary) ? [entry.oldSha, entry.newSha] : []));
  const present = asked.filter((sha) => !/^0+$/.test(sha));
  if (present.length === 0) return new Set();
  const input = `${present.join('\n')}\n`;
  const answer = await git.run(gitDir, ['cat-file', '--batch-check=%(objectname) %(objectsize)'], { input });
  const lines = answer.stdout
    .toString('latin1')
    .split('\n')
    .map((line) => line.split(' '));
  return new Set(lines.filter(([, size]) => Number(size) > BIG_FILE_BYTES).map(([sha]) => String(sha)));
}

const STATUS: Readonly<Record<string, FileStatus>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
};

function changedFile(entry: RawEntry, sections: readonly PatchSection[], big: ReadonlySet<string>): ChangedFile {
  const removed = entry.letter === 'D';
  const noPatch = whyNoPatch(entry, sections, big);
  const counted = !sections.some((section) => section.binary);
  const modeChange = !removed && entry.letter !== 'A' && entry.oldMode !== entry.newMode ? `${entry.oldMode} → ${entry.newMode}` : null;
  const span = noPatch === 'too_large' || noPatch === 'diff_too_large' ? spanOf(removed, sections) : null;
  const notUtf8 = !isUtf8(entry.path) || sections.some((section) => section.notUtf8);
  return {
    path: entry.path.toString('utf8'),
    ...(entry.previous === null ? {} : { previousPath: entry.previous.toString('utf8') }),
    status: STATUS[entry.letter] ?? 'modified',
    additions: counted ? sections.reduce((sum, section) => sum + section.additions, 0) : null,
    deletions: counted ? sections.reduce((sum, section) => sum + section.deletions, 0) : null,
    kind: kindOf(removed ? entry.oldMode : entry.newMode),
    ...(modeChange === null ? {} : { modeChange }),
    blobSha: removed ? null : entry.newSha,
    ...(noPatch === null
      ? {
          patch: sections
            .map((section) => section.patch)
            .filter((patch) => patch !== '')
            .join('\n'),
        }
      : { patch: null, noPatch }),
    ...(span === null ? {} : { span }),
    ...(notUtf8 ? { notUtf8 } : {}),
  };
}

function whyNoPatch(entry: RawEntry, sections: readonly PatchSection[], big: ReadonlySet<string>): NoPatchReason | null {
  if (sections.some((section) => section.binary)) return big.has(entry.oldSha) || big.has(entry.newSha) ? 'too_large' : 'binary';
  if (sections.some((section) => section.patch === null))
    return sections.some((section) => section.bytes > MAX_PATCH_BYTES) ? 'too_large' : 'diff_too_large';
  if (sections.some((section) => section.bytes > 0)) return null;
  if (entry.letter === 'R' || entry.letter === 'C') return 'renamed_only';
  return entry.letter === 'M' ? 'mode_only' : 'empty';
}

function spanOf(removed: boolean, sections: readonly PatchSection[]): LineSpan | null {
  const side = removed ? 'old' : 'new';
  const spans = sections.map((section) => (removed ? section.oldSpan : section.newSpan)).filter((span) => span !== null);
  const [first, last] = [spans[0], spans.at(-1)];
  return first === undefined || last === undefined ? null : { side, from: first.from, to: last.to };
}

function kindOf(mode: string): ChangedFile['kind'] {
  if (mode === '120000') return 'symlink';
  return mode === '160000' ? 'submodule' : 'file';
}

/** What the scripted reviewers say: short remarks on lines that the diff really adds. Pure. */

export interface ChangedFile {
  readonly path: string;
  readonly patch?: string;
}

export interface Remark {
  readonly path: string;
  /** Absent: the whole file. */
  readonly line?: number;
  readonly text: string;
  readonly body: string;
}

interface AddedLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The first that fits says what is remarked; the last always fits. */
const LOOKS: readonly { readonly finds: (line: AddedLine) => boolean; readonly says: string }[] = [
  {
    finds: ({ text }) => /\bcatch\s*(\([^)]*\))?\s*\{\s*\}/.test(text),
    says: 'An error is dropped here without a word. Say why that is right, or handle it.',
  },
  {
    finds: ({ text }) => /\b(console\.(log|debug)|debugger|dbg!|var_dump|pdb\.set_trace)\b/.test(text),
    says: 'This looks like a leftover of debugging.',
  },
  {
    finds: ({ text }) => /\b(TODO|FIXME|XXX)\b/.test(text),
    says: 'What is still to be done here should be done, or be an issue that this line names.',
  },
  { finds: ({ text }) => /[ \t]$/.test(text), says: 'The line ends in white space.' },
  { finds: ({ text }) => text.length > 120, says: 'More than 120 characters in one line are hard to read side by side.' },
  { finds: () => true, says: 'Is this line needed? If it is, the code around it does not say what for.' },
];

const QUOTE_AT_MOST = 100;

/** One remark for each line worth one, the most telling first and of many files rather than one; then one for each whole file. */
export function remarksOn(files: readonly ChangedFile[]): Remark[] {
  const remarks = files.flatMap((file) => addedLines(file).filter(isWords).map(remarkOn));
  const ranked = remarks.sort((a, b) => a.rank - b.rank).map(({ remark }) => remark);
  const lines = oneOfEachFileFirst(ranked);
  const whole = files.map(({ path }): Remark => ({
    path,
    text: '',
    body: 'What this file is changed for is not said anywhere in the pull request.',
  }));
  return [...lines, ...whole];
}

function remarkOn(line: AddedLine): { rank: number; remark: Remark } {
  const rank = LOOKS.findIndex(({ finds }) => finds(line));
  const quoted = line.text.trim().slice(0, QUOTE_AT_MOST).replaceAll('`', "'");
  return { rank, remark: { ...line, body: `\`${quoted}\` — ${LOOKS[rank]!.says}` } };
}

function oneOfEachFileFirst(remarks: readonly Remark[]): Remark[] {
  const seen = new Map<string, number>();
  return remarks
    .map((remark) => {
      const turn = seen.get(remark.path) ?? 0;
      seen.set(remark.path, turn + 1);
      return { remark, turn };
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ remark }) => remark);
}

/** A line that is only brackets says nothing to remark on. */
const isWords = ({ text }: AddedLine): boolean => (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 4;

/** The lines that a unified patch adds, with their numbers in the new file. */
export function addedLines({ path, patch }: ChangedFile): AddedLine[] {
  const added: AddedLine[] = [];
  let line = 0;
  for (const row of (patch ?? '').split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(row);
    if (hunk) line = Number(hunk[1]);
    else if (row.startsWith('+')) added.push({ path, line: line++, text: row.slice(1) });
    else if (row.startsWith(' ')) line++;
  }
  return added;
}

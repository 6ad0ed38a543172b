/** One line of a patch. `old` and `new` are its 1-based numbers on the sides where it stands. */
export interface PatchLine {
  readonly text: string;
  readonly kind: 'hunk' | 'context' | 'added' | 'removed' | 'remark';
  readonly old: number | null;
  readonly new: number | null;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines of unified hunks (no file header), numbered. */
export function patchLines(patch: string): PatchLine[] {
  let oldNumber = 0;
  let newNumber = 0;
  return patch.split('\n').map((text): PatchLine => {
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      [oldNumber, newNumber] = [Number(hunk[1]), Number(hunk[2])];
      return { text, kind: 'hunk', old: null, new: null };
    }
    if (text.startsWith('+')) return { text, kind: 'added', old: null, new: newNumber++ };
    if (text.startsWith('-')) return { text, kind: 'removed', old: oldNumber++, new: null };
    if (text.startsWith('\\')) return { text, kind: 'remark', old: null, new: null };
    return { text, kind: 'context', old: oldNumber++, new: newNumber++ };
  });
}

/** First and last line number on one side among these lines; null when the side has none. */
export function spanOn(side: 'old' | 'new', lines: readonly PatchLine[]): { from: number; to: number } | null {
  const numbers = lines.map((line) => line[side]).filter((number) => number !== null);
  const [from, to] = [numbers[0], numbers.at(-1)];
  return from === undefined || to === undefined ? null : { from, to };
}

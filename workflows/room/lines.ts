/** The lines of one side that a finding is about. */
export interface Lines {
  /** 1-based; null = the whole file. The last line, where there is a `startLine`. */
  readonly line: number | null;
  /** The first line of a range, always before `line`; absent: one line, or the whole file. */
  readonly startLine?: number;
}

/** Lines as the room keeps them: a range of one line is that line. */
export function linesOf(line: number | undefined, startLine: number | undefined): Lines {
  return { line: line ?? null, ...(startLine !== undefined && startLine !== line && { startLine }) };
}

/** Why these are no lines; null: they are. */
export function wrongRange({ line, startLine }: Lines): string | null {
  if (startLine === undefined) return null;
  if (line === null) return 'needs line, the last line of the range';
  return startLine >= 1 && startLine < line ? null : `must be before line ${line}`;
}

/** How many lines lie between two places, from the end of the one to the start of the other; 0 where they meet. */
export function distance(one: Lines & { readonly line: number }, other: Lines & { readonly line: number }): number {
  return Math.max(0, (one.startLine ?? one.line) - other.line, (other.startLine ?? other.line) - one.line);
}

/** `7`, or `3-7`. */
export function numbersOf({ line, startLine }: Lines & { readonly line: number }): string {
  return startLine === undefined ? String(line) : `${startLine}-${line}`;
}

/** `src/a.ts`, `src/a.ts:7` or `src/a.ts:3-7`. */
export function placeOf({ path, line, startLine }: Lines & { readonly path: string }): string {
  return line === null ? path : `${path}:${numbersOf({ line, ...(startLine !== undefined && { startLine }) })}`;
}

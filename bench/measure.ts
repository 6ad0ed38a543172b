/** One line of the table. `p95` is absent where there is one figure; `bare` where it is no multiple of a bare Update. */
export interface Row {
  readonly what: string;
  readonly p50: number;
  readonly p95?: number;
  readonly unit: string;
  /** p50 and p95 as multiples of a bare no-op Update's, measured in the same run. */
  readonly ratio?: { readonly p50: number; readonly p95: number };
  /** The same as multiples of the read of the same commits from a local repository. */
  readonly local?: { readonly p50: number; readonly p95: number };
}

export interface Timing {
  readonly p50: number;
  readonly p95: number;
}

/** Milliseconds of `run`, one call after the other, once it has run warm. */
export async function timed(runs: number, run: (at: number) => Promise<unknown>, warm = Math.ceil(runs / 10)): Promise<Timing> {
  for (let at = 0; at < warm; at++) await run(at);
  const taken: number[] = [];
  for (let at = warm; at < warm + runs; at++) {
    const began = performance.now();
    await run(at);
    taken.push(performance.now() - began);
  }
  return percentiles(taken);
}

export function percentiles(values: readonly number[]): Timing {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p95: at(0.95) };
}

/** A row in milliseconds beside its multiple of a bare Update. */
export function against(bare: Timing, what: string, timing: Timing): Row {
  return { what, ...timing, unit: 'ms', ratio: { p50: timing.p50 / bare.p50, p95: timing.p95 / bare.p95 } };
}

/** The table as people read it, in Markdown. */
export function table(rows: readonly Row[]): string {
  const cells = [
    ['what', 'p50', 'p95', 'unit', '× bare (p50)', '× bare (p95)', '× local (p50)'],
    ...rows.map(({ what, p50, p95, unit, ratio, local }) => [
      what,
      figure(p50),
      figure(p95),
      unit,
      figure(ratio?.p50),
      figure(ratio?.p95),
      figure(local?.p50),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 || column === 3 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 || column === 3 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(cells[0]!), rule, ...cells.slice(1).map(line)].join('\n');
}

function figure(value: number | undefined): string {
  if (value === undefined) return '';
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

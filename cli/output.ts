/** What a command answers: JSON on one line where `--json` asks for it, else lines for people. */
export function answer(options: { json?: boolean | undefined }, json: object, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(json)}\n` : lines.map((line) => `${line}\n`).join(''));
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

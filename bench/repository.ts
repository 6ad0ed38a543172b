import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file's content before and after the pull request. */
interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A repository whose branch `topic` changes these files of `main`. @returns its `pull_request` and its folder */
export function repositoryOf(changes: readonly Change[]): { path: string; pullRequest: string } {
  const path = mkdtempSync(join(tmpdir(), 'barista-bench-'));
  const git = (args: readonly string[], input?: string): void => {
    execFileSync('git', args, { cwd: path, input, stdio: ['pipe', 'ignore', 'inherit'] });
  };
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (branch: string, side: 'before' | 'after', from: string): string =>
    [
      `commit refs/heads/${branch}\nmark :${side === 'before' ? 1 : 2}\n`,
      `committer Bench <bench@example.com> 1700000000 +0000\n${data(`The files ${side}`)}${from}`,
      ...changes.map((change) => `M 100644 inline ${change.path}\n${data(change[side])}`),
    ].join('');
  git(['init', '-q', '--bare']);
  git(['fast-import', '--quiet'], commit('main', 'before', '') + commit('topic', 'after', 'from :1\n'));
  return { path, pullRequest: `local:${path}?base=main&head=topic` };
}

/** As many files, each with one line changed of twenty. */
export function manyFiles(count: number): Change[] {
  const body = (at: number, value: number): string =>
    Array.from({ length: 20 }, (_, line) => `export const value${line} = ${line === 10 ? value : at * 31 + line};\n`).join('');
  return Array.from({ length: count }, (_, at) => ({ path: `src/area-${at % 40}/file-${at}.ts`, before: body(at, 1), after: body(at, 2) }));
}

/** One line of so many bytes, changed at its end. */
export function longLine(bytes: number): Change {
  const line = 'x'.repeat(bytes);
  return { path: 'one-line.js', before: `${line}a`, after: `${line}b` };
}

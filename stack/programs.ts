import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lastLogLines, startChild } from './child.js';
import { StackError } from './errors.js';

export interface ProgramOptions {
  /** For people: "The server". */
  title: string;
  /** From the project's root: `mcp-server/main.ts`. */
  entry: string;
  env: NodeJS.ProcessEnv;
  /** Both outputs of this run, and nothing of the one before. */
  logFile: string;
  /** Gives up a start that takes longer. */
  signal: AbortSignal;
}

export interface RunningProgram {
  /** What its line of JSON on stdout said when it was ready. */
  ready: Record<string, unknown>;
  pid: number;
  /** Settles with one line when it ends without `stop`. */
  exited: Promise<string>;
  /** Asks it to end in good order and waits. Safe to call twice. */
  stop(): Promise<void>;
}

/** One that ends is seen at once: this is for one that hangs, on a slow machine too. */
const START_MS = 180_000;
const POLL_MS = 25;
const STOP_MS = 15_000;

/** How a program of this project is run: by this very Node, through tsx. */
export function nodeArguments(entry: string): string[] {
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL(`../${entry}`, import.meta.url))];
}

/**
 * Starts one of the project's own programs with `--json` and waits for the line that says it is ready. It ends with
 * this process, however that one ends.
 * @throws StackError with the end of its log where it does not get ready
 */
export async function startProgram({ title, entry, env, logFile, signal }: ProgramOptions): Promise<RunningProgram> {
  const child = await startChild({
    command: process.execPath,
    args: [...nodeArguments(entry), '--json'],
    stopSignal: 'SIGTERM',
    logFile,
    env,
    signal,
  });
  let stopping = false;
  let ended = false;
  const exited = child.exited.then(() => {
    ended = true;
    // A program that is stopped ends too, and nobody is told.
    return stopping
      ? new Promise<string>(() => {})
      : `${title} ended by itself: ${sentence(lastLogLines(logFile, 1))} Its log is ${logFile}.`;
  });
  const deadline = performance.now() + START_MS;
  for (;;) {
    const ready = readyLine(logFile);
    if (ready) return { ready, pid: child.pid, exited, stop };
    if (ended) throw new StackError(`${title} did not start: ${sentence(lastLogLines(logFile, 1))} Its log is ${logFile}.`);
    if (signal.aborted || performance.now() > deadline) {
      await stop();
      signal.throwIfAborted();
      throw new StackError(`${title} was not ready after ${START_MS / 1_000} s. Its log is ${logFile}.`);
    }
    await wait(POLL_MS);
  }

  async function stop(): Promise<void> {
    stopping = true;
    await child.stop(STOP_MS);
  }
}

/** The programs say that they are ready on stdout; whatever else is in the log is pino's, with a level. */
function readyLine(logFile: string): Record<string, unknown> | undefined {
  for (const line of readFileSync(logFile, 'utf8').split('\n').slice(0, -1)) {
    try {
      const parsed = JSON.parse(line) as unknown;
      if (parsed !== null && typeof parsed === 'object' && !('level' in parsed)) return parsed as Record<string, unknown>;
    } catch {
      // a line of plain text
    }
  }
  return undefined;
}

/** With one full stop at its end, whether or not the log's line had one. */
function sentence(line: string): string {
  return `${line.replace(/\.$/, '')}.`;
}

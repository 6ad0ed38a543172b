import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { StackError } from './errors.js';
import { lockHolder, nameHolder } from './lock-file.mjs';

export interface ChildOptions {
  command: string;
  args: string[];
  /** What asks the program to end in good order. */
  stopSignal: 'SIGINT' | 'SIGTERM';
  /** Both outputs of this run go here. Beside it, as `.pid`, lies which process it is. */
  logFile: string;
  env?: NodeJS.ProcessEnv;
  /** Ends the wait for an earlier one. */
  signal?: AbortSignal | undefined;
  uid?: number;
  gid?: number;
}

export interface Child {
  pid: number;
  /** Settles once the program is gone, by whichever hand. */
  exited: Promise<{ code: number | null }>;
  /** Asks it to end and waits; after `graceMs` (10 s) it is killed. Safe to call twice. */
  stop(graceMs?: number): Promise<void>;
}

/**
 * The program under a shell that holds the far end of a pipe: when this process ends, by SIGKILL too, the pipe closes
 * and the shell stops the program. In a session of its own, so that Ctrl-C reaches this process alone, which then
 * stops its children in the right order. A shell starts what it does not wait for deaf to SIGINT, until the program
 * itself listens: so that one is sent again.
 */
const GUARD = `
"$@" 3<&- </dev/null &
child=$!
echo "$child" >&3
( read -r _ <&3
  kill -s "$STOP_SIGNAL" "$child" || exit
  [ "$STOP_SIGNAL" = INT ] || exit
  while sleep 1; do kill -s INT "$child" || exit; done ) 2>/dev/null &
wait "$child"
`;

/** How long a program may take to end once its starter is gone. */
const END_MS = 60_000;
const POLL_MS = 20;

const pidFileOf = (logFile: string): string => logFile.replace(/(\.log)?$/, '.pid');

/**
 * Waits until the program that an earlier process started with this log is gone: where that process was killed, its
 * guard is just stopping the program, which still has its port and its files.
 * @throws StackError where it stays; the signal's reason when the wait is given up
 */
export async function untilEarlierEnded(logFile: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + END_MS;
  for (let holder; (holder = lockHolder(pidFileOf(logFile))) !== null;) {
    if (performance.now() > deadline) {
      throw new StackError(`Process ${holder}, which an earlier start left behind, does not end (its log is ${logFile}). Stop it first.`);
    }
    await wait(POLL_MS);
    signal?.throwIfAborted();
  }
}

/** Starts a program that cannot outlive this process, once an earlier one is gone. Throws when it cannot be started at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  await untilEarlierEnded(options.logFile, options.signal);
  rmSync(options.logFile, { force: true }); // a child of the one before may still write to that one's
  const log = openSync(options.logFile, 'w', 0o600);
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', options.command, ...options.args], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
    env: { ...(options.env ?? process.env), STOP_SIGNAL: options.stopSignal.slice(3) },
    // Another user may not be allowed into this process's folder.
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid, cwd: '/' }),
  });
  closeSync(log);
  const pipe = guard.stdio[3] as Socket;
  pipe.on('error', () => {}); // the far end is gone: `exited` says so
  const exited = new Promise<{ code: number | null }>((resolve) => {
    guard.once('exit', (code) => {
      pipe.destroy();
      resolve({ code });
    });
  });
  const pid = await new Promise<number>((resolve, reject) => {
    guard.once('error', reject);
    pipe.once('data', (line) => resolve(Number(String(line).trim())));
    void exited.then(() => reject(new Error(`${options.command} did not start: ${lastLogLines(options.logFile)}`)));
  });
  try {
    nameHolder(pidFileOf(options.logFile), pid);
  } catch (error) {
    pipe.destroy(); // nobody else would know that it runs
    throw error;
  }
  return {
    pid,
    exited,
    async stop(graceMs = 10_000) {
      pipe.destroy();
      const timer = setTimeout(() => {
        try {
          process.kill(-guard.pid!, 'SIGKILL');
        } catch {
          // gone between the check and the signal, which is what was wanted
        }
      }, graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** A server that this process started. */
export interface Served {
  /** The server's process. */
  pid: number;
  /** Settles with one line when the server ends without `stop`. */
  exited: Promise<string>;
  /** Stops it in good order. Safe to call twice. */
  stop(): Promise<void>;
}

/** A started program as a server that is meant to stay: an end nobody asked for is told with the end of its log. */
export function served(child: Child, name: string, logFile: string): Served {
  let stopping = false;
  const exited = new Promise<string>((resolve) => {
    void child.exited.then(() => {
      if (!stopping) resolve(`${name} ended by itself: ${lastLogLines(logFile)}`);
    });
  });
  return {
    pid: child.pid,
    exited,
    stop: () => {
      stopping = true;
      return child.stop();
    },
  };
}

/** The end of a log in one line, for an error message. */
export function lastLogLines(file: string, count = 3): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-count).join(' | ') || 'it printed nothing';
}

/** Whether a process with this id exists (whoever owns it). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

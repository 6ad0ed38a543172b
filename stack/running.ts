import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirHolder } from './lock.js';

/** Where the stack of a data folder is to be reached while it runs: ports are chosen at each start. */
export interface RunningStack {
  pid: number;
  /** Of the HTTP server, without a slash at the end. */
  url: string;
  /** Holds the database's password, as the folder's `postgres.password` does. */
  databaseUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  temporalUi: string | null;
}

const fileOf = (dataDir: string): string => join(dataDir, 'running.json');

/** Leaves word, for this user alone, of where the stack is. */
export function announce(dataDir: string, stack: RunningStack): void {
  const draft = `${fileOf(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(stack)}\n`, { mode: 0o600 });
  renameSync(draft, fileOf(dataDir)); // appears whole
}

export function withdraw(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

/** The stack that runs on this data folder; undefined for none, also where one was killed before it could withdraw. */
export function runningStack(dataDir: string): RunningStack | undefined {
  try {
    const stack = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as RunningStack;
    return dataDirHolder(dataDir) === stack.pid ? stack : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

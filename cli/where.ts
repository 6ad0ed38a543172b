import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLoopbackUrl } from '../config/loopback.js';
import { runningStack } from '../stack/running.js';
import { CommandFailed } from './failure.js';

/** The folder of everything that Barista keeps here: BARISTA_DATA_DIR, else `.barista` in the project. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  const named = env.BARISTA_DATA_DIR?.trim();
  return named ? resolve(named) : fileURLToPath(new URL('../.barista', import.meta.url));
}

/** Where a person stands who ran the command: npm itself changes to the project's folder. */
export const startedIn = (env: NodeJS.ProcessEnv): string => env.INIT_CWD ?? process.cwd();

/** A `local:` address may name its folder as seen from where the command was run. */
export function localFromHere(env: NodeJS.ProcessEnv, address: string): string {
  const found = /^local:([^?]*)(\?.*)?$/s.exec(address);
  return found ? `local:${resolve(startedIn(env), found[1]!)}${found[2] ?? ''}` : address;
}

export interface Target {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
}

/**
 * The server a command speaks to, and the key it uses: BARISTA_URL and BARISTA_KEY, else the stack of the data folder
 * and its owner's key. That key is for this machine alone: it is not sent anywhere else.
 */
export function targetOf(env: NodeJS.ProcessEnv): Target {
  const url = serverUrlOf(env);
  return { url, key: env.BARISTA_KEY?.trim() || ownerKeyFor(url, dataDirOf(env)) };
}

export function serverUrlOf(env: NodeJS.ProcessEnv): string {
  const named = env.BARISTA_URL?.trim();
  if (!named) return runningStack(dataDirOf(env))?.url ?? `http://127.0.0.1:${env.PORT?.trim() || 7337}`;
  if (!/^https?:\/\/[^/]/.test(named) || !URL.canParse(named)) {
    throw new CommandFailed('BARISTA_URL must be the http or https address of a Barista server, e.g. BARISTA_URL=http://127.0.0.1:7337');
  }
  return named.replace(/\/+$/, '');
}

export const ownerKeyFile = (dataDir: string): string => join(dataDir, 'owner.key');

function ownerKeyFor(url: string, dataDir: string): string {
  const file = ownerKeyFile(dataDir);
  if (!isLoopbackUrl(url)) {
    throw new CommandFailed(`${url} is another machine: set BARISTA_KEY to your key there. ${file} is used on this one only.`);
  }
  const problem = problemOfKeyFile(file);
  if (problem) throw new CommandFailed(`${problem} Or set BARISTA_KEY.`);
  return readFileSync(file, 'utf8').trim();
}

/** What is wrong with the owner's key file, and what to do; null where it is as it should be. */
export function problemOfKeyFile(file: string): string | null {
  const info = statSync(file, { throwIfNoEntry: false });
  if (!info) return `There is no key: ${file} is made by the first npm start.`;
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) return `Others can read ${file}: run chmod 600 ${file}.`;
  return null;
}

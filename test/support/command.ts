// The command line as a person runs it: a process of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** Nothing of the machine's own settings; `env` adds what a test is about. */
export function cleanEnv(env: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const own = /^(BARISTA_|TEMPORAL_|GITHUB_|GITLAB_|REVIEWER_|DATABASE_URL$|PORT$|HOST$|PUBLIC_URL$|LOG_LEVEL$|INIT_CWD$|npm_)/;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))), ...env };
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** What `find` finds in stdout, once it is there; fails when the command ends before. */
  saw<T>(find: (out: string) => T | undefined): Promise<T>;
  ended: Promise<Ran>;
}

/** Starts `barista ARGS`. */
export function start(args: readonly string[], env: Record<string, string | undefined> = {}, cwd = root): Running {
  const child = spawn(process.execPath, [resolve(root, 'stack/bin.mjs'), ...args], { cwd, env: cleanEnv(env) });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  const ended = once(child, 'close').then(([code]): Ran => ({ code: code as number | null, out, err }));
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    saw: (find) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = find(out);
          if (found !== undefined) resolve(found);
        };
        look();
        child.stdout.on('data', look);
        void ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${out}${err}`)));
      }),
  };
}

/** Runs `barista ARGS` to its end. */
export function barista(args: readonly string[], env: Record<string, string | undefined> = {}, cwd = root): Promise<Ran> {
  return start(args, env, cwd).ended;
}

/** The first line of JSON on stdout. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what was really printed is what is tested
export function firstJson(out: string): any {
  const line = out
    .split('\n')
    .slice(0, -1)
    .find((candidate) => candidate.startsWith('{'));
  return line === undefined ? undefined : JSON.parse(line);
}

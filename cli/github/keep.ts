import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keptAppFile, keptAppsFolder, readKeptApp, type AppRole, type KeptApp } from '../../config/kept-app.js';
import { SettingsError } from '../../config/settings-error.js';
import { takeLockFile } from '../../stack/lock-file.mjs';
import { CommandFailed } from '../failure.js';

/** The folder of kept Apps, taken by one setup. */
export interface Keeper {
  /** What is kept; null: none, or a file that nothing can be read of. */
  kept(role: AppRole): KeptApp | null;
  /** Puts the App in place of the one that was there, whole or not at all. @returns its file */
  keep(role: AppRole, app: KeptApp): string;
  release(): void;
}

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Makes the folder, readable by this user alone, and takes it: of two setups at once only one can tell which App is used.
 * @throws CommandFailed where another setup is under way, or the folder cannot be written
 */
export function takeKeptApps(dataDir: string): Keeper {
  const folder = keptAppsFolder(dataDir);
  const { release } = locked(folder, dataDir);
  return {
    kept(role) {
      try {
        return readKeptApp(dataDir, role);
      } catch (error) {
        if (error instanceof SettingsError) return null;
        throw error;
      }
    },
    keep(role, app) {
      const file = keptAppFile(dataDir, role);
      removeDrafts(folder, basename(file));
      writeWhole(file, `${JSON.stringify(app, null, 2)}\n`);
      return file;
    },
    release,
  };
}

function locked(folder: string, dataDir: string): { release(): void } {
  const lock = (() => {
    try {
      mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
      chmodSync(folder, PRIVATE_FOLDER);
      return takeLockFile(join(folder, 'lock'));
    } catch (error) {
      throw new CommandFailed(`${folder} cannot be written (${(error as Error).message}). Set BARISTA_DATA_DIR to a folder of your own.`);
    }
  })();
  if ('release' in lock) return lock;
  throw new CommandFailed(`Another barista github setup (process ${lock.holder}) is under way on ${dataDir}. Finish or end it first.`);
}

/** Of a setup that was killed while it wrote. */
function removeDrafts(folder: string, name: string): void {
  for (const draft of readdirSync(folder).filter((entry) => entry.startsWith(`${name}.`))) rmSync(join(folder, draft), { force: true });
}

function writeWhole(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = openSync(draft, 'wx', PRIVATE_FILE);
    try {
      writeSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, file);
    syncFolder(dirname(file));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The key can be had once: its name must outlive a power cut too. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // a folder cannot be opened there
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

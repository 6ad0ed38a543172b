import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder, takeLockFile } from './lock-file.mjs';
import { StackError } from './errors.js';

/**
 * Takes the data folder for this process. A second process gets one line naming the holder's pid.
 * @returns gives the folder back; safe to call twice
 */
export function lockDataDir(dataDir: string): () => void {
  const lock = tryLock(dataDir);
  if ('holder' in lock) {
    throw new StackError(
      `The data folder ${dataDir} is in use by process ${lock.holder}. Stop that one first, or set BARISTA_DATA_DIR to another folder.`,
    );
  }
  return lock.release;
}

/** The process that holds the data folder now, if any. */
export function dataDirHolder(dataDir: string): number | null {
  return lockHolder(lockFile(dataDir));
}

const lockFile = (dataDir: string): string => join(dataDir, 'lock');

function tryLock(dataDir: string) {
  try {
    mkdirSync(dataDir, { recursive: true });
    return takeLockFile(lockFile(dataDir));
  } catch (error) {
    throw new StackError(
      `The data folder ${dataDir} cannot be written (${(error as Error).message}). Set BARISTA_DATA_DIR to a folder of your own.`,
    );
  }
}

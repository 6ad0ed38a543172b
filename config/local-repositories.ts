import { statSync } from 'node:fs';
import { SettingsError } from './settings-error.js';

/**
 * Before anything is started: every folder of BARISTA_LOCAL_REPOS is there.
 * @throws {SettingsError} one line for each that is not
 */
export function checkLocalRepositories(folders: readonly string[]): void {
  const missing = folders.filter((folder) => !isFolder(folder));
  if (missing.length === 0) return;
  throw new SettingsError(
    missing
      .map(
        (folder) =>
          `BARISTA_LOCAL_REPOS names ${folder}, which is no folder here: make it, or name another, e.g. BARISTA_LOCAL_REPOS=/home/me/src`,
      )
      .join('\n'),
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or below a folder that this user may not look into: nothing in it could be opened.
    return false;
  }
}

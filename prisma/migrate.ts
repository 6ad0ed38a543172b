import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { allTables, projectPaths, readMigrations, readSchema, withEngine, type PrismaPaths } from './schema-engine.js';

/** "barista". Not Prisma's own key: the engine takes that one itself, on another connection, and gives up after 10 s. */
export const ADVISORY_LOCK = 0x62617269;

/**
 * Applies the migrations that the database does not have yet. Safe to run from several processes at once: one applies,
 * the others wait and find nothing left.
 * @returns the names of the migrations applied by this call
 * @throws when a migration fails, or an applied one was changed or is missing on disk
 */
export async function migrate(url: string, paths: PrismaPaths = projectPaths): Promise<string[]> {
  return withAdvisoryLock(url, () =>
    withEngine(url, paths, async (engine) => {
      const migrationsList = readMigrations(paths);
      const { history, editedMigrationNames, failedMigrationNames } = await engine.diagnoseMigrationHistory({
        migrationsList,
        optInToShadowDatabase: false,
        filters: allTables,
      });
      refuse('failed half-way in this database; put it right by hand, then delete its row in _prisma_migrations', failedMigrationNames);
      refuse('changed after being applied to this database; take the change back and write a new migration', editedMigrationNames);
      if (history && history.diagnostic !== 'databaseIsBehind') {
        refuse('applied to this database and unknown here; start the newer Barista', history.unpersistedMigrationNames);
      }
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: allTables });
      return appliedMigrationNames;
    }),
  );
}

/** The migrations that the database does not have yet, oldest first. Changes nothing. */
export async function pendingMigrations(url: string, paths: PrismaPaths = projectPaths): Promise<string[]> {
  return withEngine(url, paths, async (engine) => {
    const { history } = await engine.diagnoseMigrationHistory({
      migrationsList: readMigrations(paths),
      optInToShadowDatabase: false,
      filters: allTables,
    });
    return history && history.diagnostic !== 'migrationsDirectoryIsBehind' ? history.unappliedMigrationNames : [];
  });
}

/**
 * Whether schema.prisma and the migrations say the same.
 * @param url a database on a server where another may be made for a moment (the migrations are applied to it)
 * @returns the SQL that a new migration would need; empty when nothing differs
 */
export async function diffAgainstSchema(url: string, paths: PrismaPaths = projectPaths): Promise<string> {
  return withScratchDatabase(url, async (scratch) => {
    await migrate(scratch, paths);
    return withEngine(scratch, paths, async (engine) => {
      const { exitCode, stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', ...readSchema(paths), configDir: dirname(paths.schemaFile) },
        to: { tag: 'schemaDatamodel', ...readSchema(paths) },
        script: true,
        exitCode: true,
        filters: allTables,
      });
      return exitCode === 0 ? '' : (stdout ?? '');
    });
  });
}

/**
 * Writes a new migration that takes the database from the last one to schema.prisma.
 * @returns its folder's name, or undefined when nothing differs
 */
export async function newMigration(url: string, name: string, now: number, paths: PrismaPaths = projectPaths): Promise<string | undefined> {
  const sql = await diffAgainstSchema(url, paths);
  if (!sql) return undefined;
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = `${stamp}_${name.replace(/[^a-z0-9]+/gi, '_').toLowerCase()}`;
  mkdirSync(join(paths.migrationsDir, folder), { recursive: true });
  writeFileSync(join(paths.migrationsDir, folder, 'migration.sql'), sql);
  writeFileSync(
    join(paths.migrationsDir, 'migration_lock.toml'),
    '# Prisma reads this file; it names the kind of database.\nprovider = "postgresql"\n',
  );
  return folder;
}

function refuse(what: string, names: string[]): void {
  if (names.length > 0) throw new Error(`The database was not migrated: ${names.join(', ')} ${what}.`);
}

async function withAdvisoryLock<T>(url: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // it idles while the engine works: what matters of a database that goes away fails there
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    return await work();
  } finally {
    await client.end(); // the session's end frees the lock
  }
}

async function withScratchDatabase<T>(url: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `barista_scratch_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // the next statement says so
  await client.connect();
  try {
    await client.query(`create database ${name}`);
    const scratch = new URL(url);
    scratch.pathname = `/${name}`;
    return await work(scratch.href);
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
  }
}

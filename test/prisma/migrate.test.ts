import pg from 'pg';
import { expect, test } from 'vitest';
import { ADVISORY_LOCK, migrate } from '../../prisma/migrate.js';
import { query } from '../support/query.js';
import { createDatabase } from '../support/services.js';

/** Who holds the lock of those that migrate this database. */
const holders = (url: string) =>
  query(
    url,
    `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
     WHERE datname = current_database() AND locktype = 'advisory' AND granted AND objid = ${ADVISORY_LOCK}`,
  ) as Promise<{ pid: number }[]>;

test('a connection that breaks while it only holds the lock ends no process', async () => {
  const url = await createDatabase();
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE _prisma_migrations');
  const migrating = migrate(url); // the engine waits for the table
  await expect.poll(() => holders(url)).toHaveLength(1);
  const [holder] = await holders(url);
  await query(url, `SELECT pg_terminate_backend(${holder!.pid})`);
  await expect.poll(() => holders(url)).toEqual([]);
  await other.query('ROLLBACK');
  await other.end();
  expect(await migrating).toEqual([]);
});

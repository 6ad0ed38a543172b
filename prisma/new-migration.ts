// tsx prisma/new-migration.ts NAME: writes the migration that schema.prisma needs, made on a throw-away PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../stack/postgres.js';
import { newMigration } from './migrate.js';

const name = process.argv[2];
if (!name) {
  console.error('Usage: tsx prisma/new-migration.ts NAME');
  process.exit(2);
}
const dataDir = mkdtempSync(join(tmpdir(), 'barista-migration-'));
const postgres = await startPostgres({ dataDir, durable: false });
try {
  const folder = await newMigration(postgres.url, name, Date.now());
  console.log(folder ? `Wrote prisma/migrations/${folder}` : 'schema.prisma and the migrations agree; nothing to write.');
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, afterEach, expect, test } from 'vitest';
import { diffAgainstSchema, migrate, newMigration } from '../../prisma/migrate.js';
import type { PrismaPaths } from '../../prisma/schema-engine.js';
import { createEmptyDatabase } from '../support/services.js';
import { query } from '../support/query.js';

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5);

let url: string;
let paths: PrismaPaths;
beforeEach(async () => {
  url = await createEmptyDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'barista-schema-'));
  paths = { schemaFile: join(dir, 'schema.prisma'), migrationsDir: join(dir, 'migrations') };
  writeSchema('slug String @unique');
});
afterEach(() => rmSync(join(paths.schemaFile, '..'), { recursive: true }));

function writeSchema(...fields: string[]): void {
  writeFileSync(
    paths.schemaFile,
    `datasource db {\n  provider = "postgresql"\n}\nmodel Room {\n  id String @id\n  ${fields.join('\n  ')}\n}\n`,
  );
}

function writeMigration(name: string, sql: string): void {
  mkdirSync(join(paths.migrationsDir, name), { recursive: true });
  writeFileSync(join(paths.migrationsDir, name, 'migration.sql'), sql);
}

const rows = (sql: string): Promise<unknown[]> => query(url, sql);

test('a migration made from the schema makes the two agree, and a changed schema makes them differ', async () => {
  expect(await diffAgainstSchema(url, paths)).toContain('CREATE TABLE "Room"');
  expect(await newMigration(url, 'The first', NOW, paths)).toBe('20300102030405_the_first');
  expect(await diffAgainstSchema(url, paths)).toBe('');
  expect(await newMigration(url, 'nothing', NOW, paths)).toBeUndefined();
  writeSchema('slug String @unique', 'title String?');
  expect(await diffAgainstSchema(url, paths)).toContain('ALTER TABLE "Room" ADD COLUMN');
});

test('two processes that migrate at once apply each migration once', async () => {
  await newMigration(url, 'init', NOW, paths);
  const applied = await Promise.all([migrate(url, paths), migrate(url, paths), migrate(url, paths)]);
  expect(applied.flat()).toEqual(['20300102030405_init']);
  expect(await migrate(url, paths)).toEqual([]);
  expect(await rows('select migration_name, applied_steps_count from _prisma_migrations')).toEqual([
    { migration_name: '20300102030405_init', applied_steps_count: 1 },
  ]);
});

test('a migration with semicolons inside a function and a text is applied whole', async () => {
  writeMigration(
    '1_function',
    `create table t (a text default 'x;y');\ncreate function f() returns int language plpgsql as $$ begin perform 1; return 2; end $$;\ninsert into t default values;`,
  );
  await migrate(url, paths);
  expect(await rows('select a, f() from t')).toEqual([{ a: 'x;y', f: 2 }]);
});

test('a migration that fails leaves nothing of itself, and the next run says which one to put right', async () => {
  writeMigration('1_good', 'create table good (a int);');
  writeMigration('2_bad', 'create table half (a int); select 1 / 0;');
  await expect(migrate(url, paths)).rejects.toThrow('2_bad');
  expect(await rows("select to_regclass('good')::text as good, to_regclass('half')::text as half")).toEqual([{ good: 'good', half: null }]);
  await expect(migrate(url, paths)).rejects.toThrow(/2_bad failed half-way in this database/);
});

test('an applied migration that was changed or is unknown here is refused by name', async () => {
  writeMigration('1_init', 'create table a (a int);');
  writeMigration('2_more', 'create table b (a int);');
  await migrate(url, paths);
  writeMigration('1_init', 'create table a (a bigint);');
  await expect(migrate(url, paths)).rejects.toThrow(/1_init changed after being applied/);
  writeMigration('1_init', 'create table a (a int);');
  rmSync(join(paths.migrationsDir, '2_more'), { recursive: true });
  await expect(migrate(url, paths)).rejects.toThrow(/2_more applied to this database and unknown here/);
});

test('schema.prisma and the committed migrations say the same', async () => {
  expect(await diffAgainstSchema(url)).toBe('');
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { clockViolations, importViolations, scannedFolders, sqlClockViolations, stdoutViolations, type Source } from './scan.js';

const root = resolve(import.meta.dirname, '../..');

function sources(ends: RegExp, folders: string[] = scannedFolders): Source[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && ends.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
    .filter(({ path }) => !path.startsWith('prisma/generated/'));
}

const code = sources(/\.ts$/);
const sample = (path: string, text: string): Source => ({ path, text });

test('imports go one way', () => {
  expect(code.length).toBeGreaterThan(30);
  expect(code.flatMap(importViolations)).toEqual([]);
});

test.each([
  ['a pure file importing the shell', 'workflows/room/decide.ts', 'import { x } from "../review-room.js";'],
  ['a pure file importing a package', 'workflows/barista/policy.ts', 'import { z } from "zod";'],
  ['a pure file importing Node', 'workflows/room/a/b.ts', 'import { join } from "node:path";'],
  ['a workflow importing an activity as a value', 'workflows/review-room.ts', 'import { createActivities } from "../activities/index.js";'],
  [
    "a workflow importing an activity's type beside a value",
    'workflows/review-room.ts',
    'import { type A } from "../activities/index.js";',
  ],
  ['an activity importing the worker', 'activities/project.ts', 'import { w } from "../worker/main.js";'],
  ['the command line importing the worker', 'cli/up.ts', 'const w = await import("../worker/main.js");'],
  ['a server passing the command line on', 'mcp-server/app.ts', 'export { c } from "../cli/main.js";'],
  ['the stack importing a server', 'stack/up.ts', 'import "../mcp-server/app.js";'],
  ['code importing a test', 'activities/reads.ts', 'import type { World } from "../test/support/world.js";'],
  ['a folder that no rule knows', 'misc/a.ts', ''],
])('imports go one way: %s is found', (_, path, text) => {
  expect(importViolations(sample(path, text))).toHaveLength(1);
});

test('imports go one way: what may be imported is not found', () => {
  for (const [path, text] of [
    [
      'workflows/room/decide.ts',
      'import { DateTime } from "luxon"; import { apply } from "./apply.js"; import { p } from "../barista/policy.js";',
    ],
    [
      'workflows/review-room.ts',
      'import type { Activities } from "../activities/index.js"; import { condition } from "@temporalio/workflow";',
    ],
    ['cli/main.ts', 'import { startPostgres } from "../stack/postgres.js"; import { app } from "../mcp-server/app.js";'],
  ] as const) {
    expect(importViolations(sample(path, text))).toEqual([]);
  }
});

test('time comes in as an argument', () => {
  expect(code.flatMap(clockViolations)).toEqual([]);
  const database = sources(/\.(sql|prisma)$/, ['prisma']);
  expect(database.length).toBeGreaterThan(1);
  expect(database.flatMap(sqlClockViolations)).toEqual([]);
});

test.each([
  'new Date()',
  'Date.now()',
  'const clock = Date.now',
  'Date()',
  'DateTime.now()',
  'DateTime.local()',
  'DateTime.utc()',
  'sql`UPDATE room SET at = now() WHERE id = ${id}`',
  'query("select CURRENT_TIMESTAMP")',
])('time comes in as an argument: %s is found', (text) => {
  expect(clockViolations(sample('prisma/store.ts', text))).toHaveLength(1);
  expect(clockViolations(sample('workflows/room/decide.ts', text))).toHaveLength(1);
});

test("time comes in as an argument: SQL's and Prisma's defaults are found, conversions and injected clocks are not", () => {
  expect(sqlClockViolations(sample('a.sql', 'created_at timestamptz default CURRENT_TIMESTAMP,\n-- no now() here\n'))).toHaveLength(1);
  expect(sqlClockViolations(sample('schema.prisma', 'at DateTime @default(now())\n at DateTime @updatedAt'))).toHaveLength(2);
  expect(clockViolations(sample('prisma/store.ts', 'new Date(at); deps.now(); DateTime.utc(2030); DateTime.fromMillis(at)'))).toEqual([]);
});

test('nothing that can run under `barista mcp` writes to stdout', () => {
  expect(code.flatMap(stdoutViolations)).toEqual([]);
});

test.each(['console.log(1)', 'console.info(1)', 'process.stdout.write(text)'])('nothing writes to stdout: %s is found', (text) => {
  expect(stdoutViolations(sample('mcp-server/tools/a.ts', text))).toHaveLength(1);
  expect(stdoutViolations(sample('mcp-server/tools/a.ts', 'console.error(1)'))).toEqual([]);
  expect(stdoutViolations(sample('cli/main.ts', text))).toEqual([]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkLocalRepositories } from '../../config/local-repositories.js';

const folder = mkdtempSync(join(tmpdir(), 'barista-local-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a folder of BARISTA_LOCAL_REPOS that is not there, or is a file, is refused by name, each on a line', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => checkLocalRepositories([])).not.toThrow();
  expect(() => checkLocalRepositories([folder, '/'])).not.toThrow();
  const line = (name: string) =>
    `BARISTA_LOCAL_REPOS names ${name}, which is no folder here: make it, or name another, e.g. BARISTA_LOCAL_REPOS=/home/me/src`;
  expect(() => checkLocalRepositories([folder, join(folder, 'none'), file])).toThrow(`${line(join(folder, 'none'))}\n${line(file)}`);
});

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const project = resolve(import.meta.dirname, '../..');

/** A clone in miniature: the real stack/*.mjs, an npm that only notes that it ran and links what is needed. */
let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'barista-clone-'));
  for (const file of ['setup.mjs', 'lock-file.mjs', 'bootstrap.mjs', 'bin.mjs'])
    cpSync(join(project, 'stack', file), join(clone, 'stack', file));
  write('package.json', '{ "type": "module" }');
  writeLock('1.0.0');
  write('prisma/schema.prisma', 'model A {}');
  write(
    'cli/main.ts',
    // What it prints comes last: it says that the signal is listened for.
    'const args: string[] = process.argv.slice(2); if (args[0] === "wait") { process.once("SIGTERM", () => process.exit(5)); setInterval(() => {}, 1e6); } console.log(`ran ${args.join(" ")}`); if (args[0] === "fail") process.exit(3);',
  );
  write(
    'bin/prisma.js',
    'const { appendFileSync, mkdirSync } = require("node:fs"); mkdirSync("prisma/generated", { recursive: true }); appendFileSync("ran", `prisma ${process.argv[2]}\\n`);',
  );
  write(
    'bin/npm',
    `#!/bin/sh
echo "npm $*" >> ran
[ -e npm-fails ] && { echo "no network" >&2; exit 1; }
mkdir -p node_modules/prisma/build
ln -sfn ${join(project, 'node_modules/tsx')} node_modules/tsx
cp bin/prisma.js node_modules/prisma/build/index.js
cp package-lock.json node_modules/.package-lock.json
`,
  );
  chmodSync(join(clone, 'bin/npm'), 0o755);
});
afterEach(() => rmSync(clone, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(clone, path, '..'), { recursive: true });
  writeFileSync(join(clone, path), text);
}

function writeLock(version: string): void {
  write(
    'package-lock.json',
    JSON.stringify({ packages: { '': {}, 'node_modules/a': { version }, 'node_modules/other-platform': { version, optional: true } } }),
  );
}

const ran = () => (existsSync(join(clone, 'ran')) ? readFileSync(join(clone, 'ran'), 'utf8').trim().split('\n') : []);

function spawnIn(...args: string[]): ChildProcess {
  return spawn(process.execPath, args, { cwd: clone, env: { ...process.env, PATH: join(clone, 'bin') + delimiter + process.env.PATH } });
}

async function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawnIn(...args);
  let out = '';
  let err = '';
  child.stdout!.on('data', (text) => (out += text));
  child.stderr!.on('data', (text) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

test("a fresh clone is installed once, then only what changed is done again, and stdout is the command's alone", async () => {
  expect(await run('stack/bootstrap.mjs', 'up', '--json')).toEqual({
    code: 0,
    out: 'ran up --json\n',
    err: 'Installing packages …\nGenerating the database client …\n',
  });
  expect(ran()).toEqual(['npm ci --ignore-scripts --no-audit --no-fund', 'prisma generate']);
  expect(await run('stack/bin.mjs', 'room', 'list')).toEqual({ code: 0, out: 'ran room list\n', err: '' });

  write('prisma/schema.prisma', 'model A {} model B {}');
  expect((await run('stack/bin.mjs', 'doctor')).err).toBe('Generating the database client …\n');
  writeLock('1.0.1');
  expect((await run('stack/bin.mjs', 'doctor')).err).toBe('Installing packages …\n');
  expect((await run('stack/bin.mjs', 'doctor')).err).toBe('');
});

test.each([
  ['before npm wrote its list', () => mkdirSync(join(clone, 'node_modules'))],
  ['while npm wrote its list', () => write('node_modules/.package-lock.json', '{ "pack')],
])('an install that was interrupted %s is done again', async (_, interrupt) => {
  interrupt();
  expect((await run('stack/bin.mjs', 'doctor')).code).toBe(0);
  expect(ran()[0]).toMatch(/^npm ci/);
});

test('commands that start at once install once', async () => {
  const answers = await Promise.all([1, 2, 3].map((n) => run('stack/bin.mjs', `c${n}`)));
  expect(answers.map(({ out }) => out)).toEqual(['ran c1\n', 'ran c2\n', 'ran c3\n']);
  expect(ran().filter((line) => line.startsWith('npm'))).toHaveLength(1);
});

test("a failed install says what failed and exits 1; the command's own exit code is passed on", async () => {
  write('npm-fails', '');
  const failed = await run('stack/bin.mjs', 'doctor');
  expect(failed).toEqual({
    code: 1,
    out: '',
    err: 'Installing packages …\nno network\nInstalling packages failed: put right what is said above, then try again.\n',
  });
  rmSync(join(clone, 'npm-fails'));
  expect((await run('stack/bin.mjs', 'fail')).code).toBe(3);
});

test('a signal reaches the command, and its exit code comes back', async () => {
  const child = spawnIn('stack/bootstrap.mjs', 'wait');
  await once(child.stdout!, 'data');
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(5);
});

test('an old Node is one line that says which is needed', async () => {
  write('old-node.mjs', 'Object.defineProperty(process.versions, "node", { value: "20.18.0" });');
  const { code, err } = await run('--import', './old-node.mjs', 'stack/bin.mjs', 'doctor');
  expect({ code, err }).toEqual({
    code: 1,
    err: 'Barista needs Node 20.19 or later; this is 20.18.0. Install a newer Node, then try again.\n',
  });
  expect(ran()).toEqual([]);
});

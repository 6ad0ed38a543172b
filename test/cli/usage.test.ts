import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../stack/ports.js';
import { barista } from '../support/command.js';

let dataDir: string;
beforeAll(() => void (dataDir = mkdtempSync(join(tmpdir(), 'barista-cli-'))));
afterAll(() => rmSync(dataDir, { recursive: true }));

const COMMANDS = [
  ['up'],
  ['server'],
  ['worker'],
  ['migrate'],
  ['doctor'],
  ['demo'],
  ['room', 'open'],
  ['room', 'list'],
  ['room', 'show'],
  ['room', 'final-draft'],
  ['room', 'archive'],
  ['room', 'restart'],
  ['draft', 'show'],
  ['draft', 'edit'],
  ['draft', 'post'],
  ['listen'],
  ['watch'],
  ['mcp'],
  ['agent', 'add'],
  ['agent', 'list'],
  ['agent', 'key'],
  ['user', 'add'],
  ['repo', 'list'],
  ['repo', 'set'],
  ['repo', 'link'],
  ['repo', 'unlink'],
];

test.each(COMMANDS.map((command) => [command.join(' '), command] as const))(
  'barista %s --help says what it does and takes --json',
  async (name, command) => {
    const { code, out, err } = await barista([...command, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: barista ${name} `));
    expect(out).toContain('--json');
  },
);

test('room open --help names each form of a pull request', async () => {
  const { out } = await barista(['room', 'open', '--help']);
  for (const form of [
    'https://github.com/OWNER/NAME/pull/N',
    'https://gitlab.com/GROUP/PROJECT/-/merge_requests/N',
    'local:PATH?base=main&head=topic',
  ])
    expect(out).toContain(form);
});

test.each([
  ['an unknown command', ['frob'], "unknown command 'frob'"],
  ['an unknown option', ['room', 'list', '--frob'], "unknown option '--frob'"],
  ['a missing argument', ['agent', 'add'], "missing required argument 'name'"],
  ['a missing room', ['draft', 'edit'], "missing required argument 'slug'"],
  ['a missing option', ['listen'], "required option '--room <slug>' not specified"],
  ['a value that is none', ['room', 'open', 'local:/a?base=b&head=c', '--recipe', 'soup'], 'Allowed choices are panel, build_duel'],
  ['nothing to set', ['repo', 'set', 'local:/a'], 'say what to set, e.g. --automatic --crew grok,rex'],
  ['off and on', ['repo', 'set', 'local:/a', '--no-automatic', '--crew', 'a'], '--no-automatic goes with no choice of automatic rooms'],
  [
    'two labels',
    ['repo', 'set', 'local:/a', '--label', 'x', '--any-label'],
    "option '--label <label>' cannot be used with option '--any-label'",
  ],
  ['one argument too many', ['doctor', 'now'], 'too many arguments'],
] as const)('%s is wrong usage: exit code 2', async (_, args, says) => {
  const { code, out, err } = await barista(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(says);
});

test('no command at all shows the help, as wrong usage', async () => {
  const { code, err } = await barista([]);
  expect(code).toBe(2);
  expect(err).toMatch(/^Usage: barista /);
});

const key = 'bu_a-key-for-tests';

test.each([
  ['room', 'list'],
  ['room', 'show', 'a'],
  ['agent', 'add', 'grok'],
  ['draft', 'show', 'a'],
  ['draft', 'post', 'a'],
  ['room', 'open', 'local:/a?base=b&head=c'],
  ['listen', '--room', 'a'],
  ['repo', 'list'],
  ['repo', 'set', 'local:/a', '--comment-instead'],
])('a server that is away is one line that says what to do: %s %s', async (...args) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  expect(await barista(args, { BARISTA_URL: url, BARISTA_KEY: key })).toEqual({
    code: 1,
    out: '',
    err: `No Barista server answers at ${url}. Start it with npm start, or set BARISTA_URL to where it runs.\n`,
  });
});

test('without a server, a database or a key each command says which of them it misses', async () => {
  const env = { BARISTA_DATA_DIR: dataDir };
  const url = 'http://127.0.0.1:7337';
  const noDatabase = `Barista does not run on ${dataDir}: start it with npm start, or set DATABASE_URL.\n`;
  expect((await barista(['room', 'list'], { ...env, BARISTA_URL: url })).err).toBe(
    `There is no key: ${dataDir}/owner.key is made by the first npm start. Or set BARISTA_KEY.\n`,
  );
  for (const args of [['migrate'], ['user', 'add', 'bob'], ['room', 'restart', 'a'], ['server'], ['worker']]) {
    expect(await barista(args, env)).toEqual({ code: 1, out: '', err: noDatabase });
  }
});

test("the owner's key stays on this machine, and is not read from a file that others can read", async () => {
  writeFileSync(join(dataDir, 'owner.key'), `${key}\n`, { mode: 0o644 });
  const env = { BARISTA_DATA_DIR: dataDir };
  expect(await barista(['room', 'list'], { ...env, BARISTA_URL: 'https://barista.example.com' })).toEqual({
    code: 1,
    out: '',
    err: `https://barista.example.com is another machine: set BARISTA_KEY to your key there. ${dataDir}/owner.key is used on this one only.\n`,
  });
  expect((await barista(['room', 'list'], { ...env, BARISTA_URL: 'http://127.0.0.1:7337' })).err).toBe(
    `Others can read ${dataDir}/owner.key: run chmod 600 ${dataDir}/owner.key. Or set BARISTA_KEY.\n`,
  );
  rmSync(join(dataDir, 'owner.key'));
});

test('a wrong BARISTA_URL is named, and so is what answers there when it is no Barista server', async () => {
  expect(await barista(['room', 'list'], { BARISTA_URL: 'barista', BARISTA_KEY: key })).toEqual({
    code: 1,
    out: '',
    err: 'BARISTA_URL must be the http or https address of a Barista server, e.g. BARISTA_URL=http://127.0.0.1:7337\n',
  });
  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  try {
    for (const args of [
      ['room', 'list'],
      ['listen', '--room', 'a'],
    ]) {
      expect((await barista(args, { BARISTA_URL: url, BARISTA_KEY: key })).err).toBe(
        `What answers at ${url} is not a Barista server. Check BARISTA_URL.\n`,
      );
    }
  } finally {
    other.close();
  }
});

test.each([
  [{ PORT: 'soon' }, 'PORT must be a whole number from 0 to 65535 (0: any free port), e.g. PORT=7337\n'],
  [
    { TEMPORAL_UI_PORT: '99999' },
    'TEMPORAL_UI_PORT must be a whole number from 0 to 65535 (0: any free port), e.g. TEMPORAL_UI_PORT=8233\n',
  ],
  [
    { BARISTA_OWNER_KEY: 'secret' },
    'BARISTA_OWNER_KEY must be bu_ and 8 to 200 of A-Z, a-z, 0-9, - and _, e.g. BARISTA_OWNER_KEY=bu_a-long-secret-of-mine\n',
  ],
])('a wrong setting stops the start with its name and an example: %o', async (env, err) => {
  expect(await barista(['up'], { BARISTA_DATA_DIR: join(dataDir, 'unused'), ...env })).toEqual({ code: 1, out: '', err });
});

test('doctor names what is missing and what to do about each, and exits 1', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, out, err } = await barista(['doctor'], {
    BARISTA_DATA_DIR: dataDir,
    BARISTA_URL: url,
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
  });
  expect(code).toBe(1);
  expect(out).toMatch(/^ok {4}Node: 2/);
  expect(out).toMatch(/FAIL {2}Barista: does not run on .*\n {6}Start it with npm start/);
  expect(out).toMatch(/FAIL {2}Temporal: .*\n {6}npm start/);
  expect(out).toContain(`FAIL  server: nothing answers at ${url}\n      npm start starts it`);
  expect(err).toBe('Not in order: Barista, Temporal, server.\n');
});

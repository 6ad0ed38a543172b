import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localRepositoriesFor } from '../../cli/stack.js';
import { readyLines } from '../../cli/up.js';
import { isAlive } from '../../stack/child.js';
import { barista, cleanEnv, firstJson, root, start, type Running } from '../support/command.js';
import { GitWorld } from '../support/git-world.js';
import { createEmptyDatabase, temporalAddress, temporalCliPath } from '../support/services.js';

let dir: string;
let dataDir: string;
let started: Running[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'barista-up-'));
  dataDir = join(dir, 'data');
  chmodSync(dir, 0o711); // as root, PostgreSQL runs as another user, who passes through
  started = [];
});
afterEach(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(dir, { recursive: true });
});

async function up(env: Record<string, string> = {}) {
  const running = start(['up', '--json'], { BARISTA_DATA_DIR: dataDir, PORT: '0', TEMPORAL_CLI_PATH: await temporalCliPath(), ...env });
  started.push(running);
  return running;
}

/** The children of `pid`, however deep. */
function descendants(pid: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const children = rows.filter(([, parent]) => parent === pid).map(([child]) => child!);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Empty where it has just ended. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function rest(url: string, key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what was really answered is what is tested
  return answer as any;
}

test('a first start shows the key once; Ctrl-C leaves no process; a second start finds rooms, rounds and clocks as they were, and so does one after SIGKILL', async () => {
  using git = new GitWorld();
  git.push({ 'a.ts': 'export const a = 1;\n' });

  const first = await up();
  const told = await first.saw(firstJson);
  expect(told.owner_key).toMatch(/^bu_/);
  expect(readFileSync(join(dataDir, 'owner.key'), 'utf8').trim()).toBe(told.owner_key);
  expect(statSync(join(dataDir, 'owner.key')).mode & 0o777).toBe(0o600);
  expect((await fetch(told.temporal_ui)).status).toBe(200);
  expect(told.local_repositories).toBe(true);

  const room = await rest(told.url, told.owner_key, 'POST', '/rooms', { pull_request: git.pullRequest, durations: { head_quiet: 'PT1S' } });
  const { slug } = room;
  const agent = await rest(told.url, told.owner_key, 'POST', '/agents', { name: 'grok' });
  await rest(told.url, told.owner_key, 'POST', `/rooms/${slug}/agents`, { agent_id: agent.id });
  const page = () => rest(told.url, told.owner_key, 'GET', `/rooms/${slug}`);
  await expect.poll(async () => (await page()).round).toBe(1);
  const before = await page();
  const clocksBefore = await clocks(told, slug);
  expect(clocksBefore.map(({ name }) => name).sort()).toEqual(['idle_close', 'remind_after', 'round_cap']);
  expect(before.clocks.map((clock: { at: string }) => ({ ...clock, at: Date.parse(clock.at) }))).toEqual(clocksBefore);
  const shown = await barista(['room', 'show', slug], { BARISTA_DATA_DIR: dataDir });
  expect(shown.out).toContain(`in the Temporal UI: ${told.temporal_ui}/namespaces/default/workflows/room%2F${slug}\n`);
  expect((await barista(['doctor'], { BARISTA_DATA_DIR: dataDir })).out).toContain(`; its UI is ${told.temporal_ui}\n`);

  const family = descendants(first.child.pid!);
  expect(family.length).toBeGreaterThan(4);
  first.child.kill('SIGINT');
  expect(await first.ended).toMatchObject({ code: 0, err: '' });
  // The guards' own shells end in the moment after those that they guard.
  await expect.poll(() => family.filter(isAlive)).toEqual([]);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  expect(existsSync(join(dataDir, 'running.json'))).toBe(false);

  const second = await up();
  const again = await second.saw(firstJson);
  expect(again.owner_key).toBeUndefined();
  const after = await rest(again.url, told.owner_key, 'GET', `/rooms/${slug}`);
  const lasting = ({ members, round, phase, waiting_on, recipe, title, review }: typeof after) => {
    return {
      members,
      round,
      phase,
      waiting_on,
      recipe,
      title,
      opened_at: review.round.opened_at,
      round_head_sha: review.round.round_head_sha,
    };
  };
  expect(lasting(after)).toEqual(lasting(before));
  expect(await clocks(again, slug)).toEqual(clocksBefore);

  // Killed, it is started again while what it had started is still on its way out.
  second.child.kill('SIGKILL');
  await second.ended;
  const third = await (await up()).saw(firstJson);
  expect(lasting(await rest(third.url, told.owner_key, 'GET', `/rooms/${slug}`))).toEqual(lasting(before));
});

/** The room's running clocks, as an operator asks its workflow. */
async function clocks(told: { temporal_address: string }, slug: string): Promise<{ name: string; at: number }[]> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: told.temporal_address });
  try {
    return await new Client({ connection }).workflow.getHandle(`room/${slug}`).query('clocks');
  } finally {
    await connection.close();
  }
}

test('a port in use and a locked data folder are one line each that says what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const taken = await up({ PORT: String(port) });
  expect(await taken.ended).toEqual({
    code: 1,
    out: '',
    err: `Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set PORT to another port, e.g. PORT=${port + 1}.\n`,
  });
  other.close();

  mkdirSync(dataDir, { recursive: true });
  const holder = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '-e',
      `import('./stack/lock.ts').then(({ lockDataDir }) => { lockDataDir(${JSON.stringify(dataDir)}); console.log('held'); setInterval(() => {}, 1e6); })`,
    ],
    { cwd: root, env: cleanEnv() },
  );
  try {
    await once(holder.stdout, 'data');
    expect(await (await up()).ended).toEqual({
      code: 1,
      out: '',
      err: `The data folder ${dataDir} is in use by process ${holder.pid}. Stop that one first, or set BARISTA_DATA_DIR to another folder.\n`,
    });
  } finally {
    holder.kill();
  }
});

test('a folder of BARISTA_LOCAL_REPOS that is not there stops the start by name, before anything is started', async () => {
  expect(await (await up({ BARISTA_LOCAL_REPOS: join(dir, 'none') })).ended).toEqual({
    code: 1,
    out: '',
    err: `BARISTA_LOCAL_REPOS names ${dir}/none, which is no folder here: make it, or name another, e.g. BARISTA_LOCAL_REPOS=/home/me/src\n`,
  });
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
});

test('npm start says in one line that local repositories are off where HOST is not loopback', () => {
  const lines = (host: string, named?: string) => {
    const localRepositories = localRepositoriesFor(named, host) !== '';
    return readyLines({ url: 'http://h', temporalUi: null, ownerKey: { key: 'bu_x', isNew: false }, localRepositories }, dataDir, 1);
  };
  const off = 'Local repositories cannot be opened, for HOST is not loopback: BARISTA_LOCAL_REPOS names the folders that may be.';
  expect(lines('0.0.0.0')).toContain(off);
  for (const on of [lines('127.0.0.1'), lines('0.0.0.0', '/src')]) {
    expect(on).not.toContain(off);
    expect(on.join('\n')).toContain('npx barista room open');
  }
});

test('a Temporal CLI that cannot be used is one line that says what to do, and leaves nothing running', async () => {
  const failed = await up({ TEMPORAL_CLI_PATH: join(dir, 'no-such-program') });
  const { code, out, err } = await failed.ended;
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^TEMPORAL_CLI_PATH=.* cannot be used: .*\n$/);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  const sick = await barista(['doctor'], { BARISTA_DATA_DIR: dataDir });
  expect(sick.out).toContain(
    `FAIL  Barista: does not run on ${dataDir}; what rests on it is not checked\n      Start it with npm start. One that runs elsewhere is checked by its DATABASE_URL, TEMPORAL_ADDRESS and BARISTA_URL.\n`,
  );
  expect(sick.out.match(/^FAIL/gm)).toHaveLength(1);
  expect(sick).toMatchObject({ code: 1, err: 'Not in order: Barista.\n' });
});

test('with DATABASE_URL and TEMPORAL_ADDRESS those are used; BARISTA_OWNER_KEY is the key; a part that dies ends the whole with its log', async () => {
  const env = {
    DATABASE_URL: await createEmptyDatabase(),
    TEMPORAL_ADDRESS: await temporalAddress(),
    BARISTA_OWNER_KEY: 'bu_chosen-by-the-test',
  };
  const running = await up(env);
  const told = await running.saw(firstJson);
  expect(told.temporal_ui).toBeNull();
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  expect(existsSync(join(dataDir, 'temporal.db'))).toBe(false);
  expect(await rest(told.url, env.BARISTA_OWNER_KEY, 'GET', '/rooms')).toEqual({ rooms: [] });

  const worker = descendants(running.child.pid!).find((pid) => /^[^\0]*node\0.*worker\/main\.ts/s.test(commandLine(pid)))!;
  process.kill(worker, 'SIGKILL');
  const { code, err } = await running.ended;
  expect(code).toBe(1);
  expect(err).toMatch(/^The worker ended by itself: .* Its log is .*\/worker\.log\.\n$/);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
});

test('SIGTERM in the middle of a start leaves nothing running', async () => {
  const running = await up();
  // What was started first may be the compiler, from before any signal is heard.
  await expect.poll(() => existsSync(join(dataDir, 'temporal.log'))).toBe(true);
  const family = descendants(running.child.pid!);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
  await expect.poll(() => family.filter(isAlive)).toEqual([]);
  // Nor what was started after that look.
  await expect.poll(() => execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).includes(dataDir)).toBe(false);
});

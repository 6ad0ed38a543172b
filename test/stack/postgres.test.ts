import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive } from '../../stack/child.js';
import { takeLockFile } from '../../stack/lock-file.mjs';
import { startPostgres, type Postgres } from '../../stack/postgres.js';
import { query } from '../support/query.js';

let dataDir: string;
let servers: Postgres[];
let others: ChildProcess[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'barista-postgres-'));
  servers = [];
  others = [];
});
afterEach(async () => {
  for (const other of others) other.kill('SIGKILL');
  for (const server of servers) await server.stop();
  await expect.poll(postmasterPid).toBeUndefined();
  rmSync(dataDir, { recursive: true });
});

async function start(): Promise<Postgres> {
  const server = await startPostgres({ dataDir, durable: false });
  servers.push(server);
  return server;
}

/** Another process that starts the server of the same folder, and tells its url and pid. */
async function startElsewhere(): Promise<{ url: string; pid: number; process: ChildProcess }> {
  const script = `
    import { startPostgres } from "./stack/postgres.ts";
    const { url, pid } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, durable: false });
    console.log(JSON.stringify({ url, pid }));
    process.stdin.resume();`;
  const other = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  others.push(other);
  const ended = once(other, 'exit').then(([code]) => Promise.reject(new Error(`the other process ended with ${code}`)));
  const [line] = (await Promise.race([once(other.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => {}); // it is killed in the end
  return { ...(JSON.parse(String(line)) as { url: string; pid: number }), process: other };
}

function postmasterPid(): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    return isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

test("data and password outlive a restart; the password is the owner's alone", async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 1 as a');
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await start();
  expect(await query(second.url, 'select a from kept')).toEqual([{ a: 1 }]);
  expect(new URL(second.url).password).toBe(new URL(first.url).password);
  expect(statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
});

test('a wrong password is refused', async () => {
  const url = new URL((await start()).url);
  url.password = 'wrong';
  await expect(query(url.href, 'select 1')).rejects.toThrow(/password authentication failed/);
});

test('a second process shares the server, and leaves it running when it stops', async () => {
  const other = await startElsewhere();
  const mine = await start();
  expect(mine.url).toBe(other.url);
  await mine.stop();
  expect(await query(other.url, 'select 1 as a')).toEqual([{ a: 1 }]);
});

test('two processes that start at once share one server', async () => {
  const [a, b, c] = await Promise.all([startElsewhere(), startElsewhere(), start()]);
  expect(new Set([a.pid, b.pid, c.pid]).size).toBe(1);
});

test('the server ends with the process that started it, by SIGKILL too, and the next start finds the data', async () => {
  const other = await startElsewhere();
  await query(other.url, 'create table kept as select 1 as a');
  other.process.kill('SIGKILL');
  await once(other.process, 'exit');
  // The old server may still take connections: it is not the one that is given.
  const mine = await start();
  expect(mine.pid).not.toBe(other.pid);
  expect(await query(mine.url, 'select a from kept')).toEqual([{ a: 1 }]);
});

test('a server killed with SIGKILL leaves a stale pid file, and the next start finds the data', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 1 as a');
  process.kill(first.pid, 'SIGKILL');
  expect(await first.exited).toMatch(/^PostgreSQL ended by itself/);
  expect(await query((await start()).url, 'select a from kept')).toEqual([{ a: 1 }]);
});

test('a stale pid file whose pid went to another program does not stop the start', async () => {
  await (await start()).stop();
  writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `${process.pid}\n${dataDir}\n0\n5432\n\n127.0.0.1\n\nready\n`);
  expect(await query((await start()).url, 'select 1 as a')).toEqual([{ a: 1 }]);
});

test('nor does one whose pid went to a PostgreSQL of another folder, or what a killed start left of its own', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'barista-postgres-'));
  const other = await startPostgres({ dataDir: elsewhere, durable: false });
  try {
    const half = join(dataDir, `postgres.${process.pid}`);
    mkdirSync(half);
    writeFileSync(join(half, 'PG_VERSION'), '');
    await (await start()).stop();
    const { port } = new URL(other.url);
    writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `${other.pid}\n${dataDir}\n0\n${port}\n\n127.0.0.1\n\nready\n`);
    expect((await start()).pid).not.toBe(other.pid);
  } finally {
    await other.stop();
    rmSync(elsewhere, { recursive: true });
  }
});

test.runIf(process.getuid?.() === 0)(
  'root’s data folder in a folder closed to others has its cluster in an open one, and finds it again',
  async () => {
    const closed = mkdtempSync(join(tmpdir(), 'barista-closed-'));
    const inside = join(closed, 'data');
    const begin = () => startPostgres({ dataDir: inside, durable: false });
    const first = await begin();
    await query(first.url, 'create table kept as select 1 as a');
    await first.stop();
    const second = await begin();
    try {
      expect(await query(second.url, 'select a from kept')).toEqual([{ a: 1 }]);
      expect(statSync(closed).mode & 0o777).toBe(0o700);
    } finally {
      await second.stop();
      rmSync(join(readFileSync(join(inside, 'postgres.place'), 'utf8'), '..'), { recursive: true });
      rmSync(closed, { recursive: true });
    }
  },
);

test('a start that is given up while another process starts the server ends, and leaves it to that one', async () => {
  const lock = takeLockFile(join(dataDir, 'postgres.lock'));
  if (!('release' in lock)) throw new Error('somebody else has the lock of a new folder');
  const stop = new AbortController();
  const starting = startPostgres({ dataDir, durable: false, signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(starting).rejects.toThrow('enough');
  lock.release();
  await query((await start()).url, 'select 1');
});

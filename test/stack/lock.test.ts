import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeLockFile } from '../../stack/lock-file.mjs';
import { lockDataDir } from '../../stack/lock.js';
import { freePort, requireFreePort } from '../../stack/ports.js';
import { announce, runningStack } from '../../stack/running.js';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'barista-lock-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

async function lockElsewhere() {
  const script = `import { lockDataDir } from "./stack/lock.ts"; lockDataDir(${JSON.stringify(dataDir)}); console.log("locked"); process.stdin.resume();`;
  const other = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  return other;
}

test('a locked data folder is one line naming the process and the setting; SIGKILL frees it', async () => {
  const other = await lockElsewhere();
  expect(() => lockDataDir(dataDir)).toThrow(
    `The data folder ${dataDir} is in use by process ${other.pid}. Stop that one first, or set BARISTA_DATA_DIR to another folder.`,
  );
  other.kill('SIGKILL');
  await once(other, 'exit');
  lockDataDir(dataDir)();
});

test("a lock given back can be taken again, and giving it back twice takes nobody's", () => {
  const release = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(`in use by process ${process.pid}`);
  release();
  const again = lockDataDir(dataDir);
  release();
  expect(() => lockDataDir(dataDir)).toThrow(`in use by process ${process.pid}`);
  again();
});

test('a stale lock whose pid went to another program is taken over, and so is a broken one', () => {
  for (const text of [JSON.stringify({ pid: process.pid, start: 'an earlier process' }), '', '{']) {
    writeFileSync(join(dataDir, 'lock'), text);
    lockDataDir(dataDir)();
  }
});

test('a stale lock that another process is just taking over is left to it', () => {
  const file = join(dataDir, 'lock');
  const stale = JSON.stringify({ pid: process.pid, start: 'an earlier process' });
  writeFileSync(file, stale);
  const other = takeLockFile(`${file}.${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`);
  if ('holder' in other) throw new Error('nobody holds it');
  expect(() => lockDataDir(dataDir)).toThrow(`in use by process ${process.pid}`);
  expect(readFileSync(file, 'utf8')).toBe(stale);
  other.release();
  lockDataDir(dataDir)();
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a data folder that cannot be written is one line naming the setting', () => {
  writeFileSync(join(dataDir, 'file'), '');
  expect(() => lockDataDir(join(dataDir, 'file'))).toThrow(/cannot be written \(.*\)\. Set BARISTA_DATA_DIR to a folder of your own\.$/);
});

test('a port in use is one line naming the port and the setting', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(requireFreePort(port, 'PORT')).rejects.toThrow(
    new RegExp(
      `^Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set PORT to another port, e.g. PORT=\\d+\\.$`,
    ),
  );
  server.close();
  await once(server, 'close');
  await requireFreePort(port, 'PORT');
});

test('a free port can be listened on, and is none that the system gives to whoever asks for any', async () => {
  const port = await freePort();
  await requireFreePort(port);
  // What Linux, macOS and Windows give by themselves begins here.
  expect(port).toBeLessThan(32_768);
});

test('a stack that was killed does not run, though its pid went to another program', () => {
  const where = { url: 'http://127.0.0.1:1', databaseUrl: '', temporalAddress: '', temporalNamespace: 'default', temporalUi: null };
  const release = lockDataDir(dataDir);
  announce(dataDir, { pid: process.pid, ...where });
  expect(runningStack(dataDir)).toMatchObject({ pid: process.pid, url: where.url });
  release();
  expect(runningStack(dataDir)).toBeUndefined();
});

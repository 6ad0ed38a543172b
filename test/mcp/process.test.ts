// The server's process: its settings, its first line, its end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../config/settings.js';
import { call, startEdge, type Edge } from '../support/edge.js';

const main = fileURLToPath(new URL('../../mcp-server/main.ts', import.meta.url));
const DATABASE_URL = 'postgresql://barista:hunter2@127.0.0.1:5432/barista';

describe('settings', () => {
  test('have the defaults of the contract', () => {
    expect(readSettings({ DATABASE_URL })).toEqual({
      port: 7337,
      host: '127.0.0.1',
      publicUrl: null,
      databaseUrl: DATABASE_URL,
      localRepositories: [],
      dataDir: '.barista',
      forges: { github: null, gitlab: null, webhooks: { github: null, gitlab: { secretToken: null, signingKey: null } } },
      notify: null,
      logLevel: 'info',
    });
  });

  test('are read, and an empty one counts as not set', () => {
    expect(
      readSettings({
        DATABASE_URL,
        PORT: '0',
        HOST: '',
        PUBLIC_URL: 'https://barista.example.com/',
        BARISTA_LOCAL_REPOS: '/a:/b c',
        BARISTA_NOTIFY_URL: 'https://hooks.example.com/barista?to=olga',
        BARISTA_NOTIFY_SECRET: '',
        LOG_LEVEL: 'debug',
      }),
    ).toMatchObject({
      port: 0,
      host: '127.0.0.1',
      publicUrl: 'https://barista.example.com',
      localRepositories: ['/a', '/b c'],
      notify: { url: 'https://hooks.example.com/barista?to=olga', secret: null },
      logLevel: 'debug',
    });
  });

  test('each wrong one is a line of its own: its name, what is wrong, an example, and no value', () => {
    const wrong = {
      PORT: 'eighty',
      PUBLIC_URL: 'https://olga:hunter2@barista.example.com',
      DATABASE_URL: 'mysql://root:hunter2@db',
      BARISTA_LOCAL_REPOS: 'src',
      BARISTA_NOTIFY_URL: 'https://olga:hunter2@hooks.example.com',
      BARISTA_NOTIFY_SECRET: 'whsec_hunter2',
      LOG_LEVEL: 'loud',
    };
    expect(() => readSettings(wrong)).toThrowErrorMatchingInlineSnapshot(`
      [SettingsError: PORT must be a whole number from 0 to 65535 (0: any free port), e.g. PORT=7337
      PUBLIC_URL must be the http or https address, without a user name in it, under which others reach this server, e.g. PUBLIC_URL=https://barista.example.com
      DATABASE_URL must be the address of a PostgreSQL database, e.g. DATABASE_URL=postgresql://barista:secret@127.0.0.1:5432/barista
      BARISTA_LOCAL_REPOS must be absolute folders, separated by ":", e.g. BARISTA_LOCAL_REPOS=/home/me/src
      BARISTA_NOTIFY_URL must be the http or https address, without a user name in it, that alerts are sent to, e.g. BARISTA_NOTIFY_URL=https://example.com/barista-alerts
      BARISTA_NOTIFY_SECRET must be whsec_ and 24 to 64 random bytes in base64, e.g. BARISTA_NOTIFY_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
      LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, e.g. LOG_LEVEL=info]
    `);
    expect(() => readSettings({})).toThrowErrorMatchingInlineSnapshot(
      `[SettingsError: DATABASE_URL is not set; it must be the address of a PostgreSQL database, e.g. DATABASE_URL=postgresql://barista:secret@127.0.0.1:5432/barista]`,
    );
  });
});

describe('the process', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge();
  });
  afterAll(() => edge.stop());

  function start(env: Record<string, string>) {
    const child = spawn(process.execPath, ['--import', 'tsx', main, '--json'], {
      env: { PATH: process.env['PATH'], TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS'], ...env },
    });
    const stderr: string[] = [];
    child.stderr.on('data', (chunk) => stderr.push(String(chunk)));
    return {
      child,
      stderr: () => stderr.join(''),
      lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
      // Not `exit`: what it said last may still be on its way then.
      exited: once(child, 'close'),
    };
  }

  test('says where it listens in one JSON line, logs to stderr only, and ends well on SIGTERM', async () => {
    const server = start({ DATABASE_URL: edge.databaseUrl, PORT: '0' });
    const { value } = (await server.lines.next()) as { value: string };
    const { url, port } = JSON.parse(value) as { url: string; port: number };
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await call(url, edge.owner.key, 'list_rooms')).json).toEqual({ rooms: [] });
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual([0, null]);
    expect((await server.lines.next()).done).toBe(true);
    for (const line of server.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
    expect(server.stderr()).not.toContain(edge.owner.key);
  });

  test('a port that is taken, and a setting that is missing, are one clear line each and exit code 1', async () => {
    const taken = start({ DATABASE_URL: edge.databaseUrl, PORT: String(edge.server.port) });
    expect(await taken.exited).toEqual([1, null]);
    expect(taken.stderr()).toBe(
      `PORT ${edge.server.port} on 127.0.0.1 is in use by another program. Stop that program, or set another, e.g. PORT=${edge.server.port + 1}\n`,
    );
    const unset = start({ DATABASE_URL: '' });
    expect(await unset.exited).toEqual([1, null]);
    expect(unset.stderr()).toMatch(/^DATABASE_URL is not set; .*e\.g\. DATABASE_URL=postgresql:\/\/.*\n$/);
    const missing = start({ DATABASE_URL: edge.databaseUrl, PORT: '0', BARISTA_LOCAL_REPOS: '/no/such/folder' });
    expect(await missing.exited).toEqual([1, null]);
    expect(missing.stderr()).toMatch(/^BARISTA_LOCAL_REPOS names \/no\/such\/folder, which is no folder here: .*\n$/);
  });
});

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { isAlive } from '../../stack/child.js';
import { createDatabase } from '../support/services.js';

test('each database is migrated and apart from the others', async () => {
  const clients = await Promise.all(
    (await Promise.all([createDatabase(), createDatabase()])).map(async (url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  const [a, b] = clients as [pg.Client, pg.Client];
  await a.query('create table only_here ()');
  expect(
    (await b.query("select to_regclass('only_here') as here, to_regclass('_prisma_migrations') is not null as migrated")).rows,
  ).toEqual([{ here: null, migrated: true }]);
  await Promise.all(clients.map((client) => client.end()));
});

function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

interface Servers {
  postgres: number;
  temporal: string;
  timeSkipping: string;
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('a test run that is ended by %s leaves no server behind', async (signal) => {
  const root = resolve(import.meta.dirname, '../..');
  const dir = mkdtempSync(join(root, 'test/stack/.run-'));
  try {
    // A run of its own whose one test tells the servers' pids and then hangs.
    writeFileSync(
      join(dir, 'hang.test.ts'),
      `import { test } from "vitest"; import pg from "pg"; import { createDatabase, temporalAddress } from "../../support/services.js"; import { createTimeSkipping } from "../../support/time-skipping.js";
       test("hangs", async () => {
         const env = await createTimeSkipping();
         const client = new pg.Client({ connectionString: await createDatabase() });
         client.on("error", () => {});
         await client.connect();
         const { rows } = await client.query("select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid");
         console.log("SERVERS " + JSON.stringify({ postgres: rows[0].pid, temporal: await temporalAddress(), timeSkipping: env.address }));
         await new Promise(() => {});
       }, 1e6);`,
    );
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...env } = process.env;
    const run = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', dir, '--disable-console-intercept'], {
      cwd: root,
      env,
      detached: true,
    });
    const { postgres, temporal, timeSkipping } = await new Promise<Servers>((resolve, reject) => {
      let text = '';
      run.stdout.on('data', (chunk) => {
        text += chunk;
        const line = /SERVERS (\{.*\})/.exec(text)?.[1];
        if (line) resolve(JSON.parse(line) as Servers);
      });
      run.once('exit', () => reject(new Error(text)));
    });
    expect(isAlive(postgres)).toBe(true);
    run.kill(signal);
    await once(run, 'exit');
    await expect.poll(() => isAlive(postgres)).toBe(false);
    for (const address of [temporal, timeSkipping]) await expect.poll(() => listens(address)).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

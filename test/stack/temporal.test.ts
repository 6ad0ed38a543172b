import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive } from '../../stack/child.js';
import { lockHolder } from '../../stack/lock-file.mjs';
import { freePort } from '../../stack/ports.js';
import { ensureSearchAttributes, searchAttributes } from '../../stack/search-attributes.js';
import { startTemporal, type Temporal, type TemporalOptions } from '../../stack/temporal.js';
import { connectTo } from '../support/connect.js';
import { temporalAddress, temporalCliPath } from '../support/services.js';
import { createTimeSkipping } from '../support/time-skipping.js';

let dataDir: string;
let servers: Temporal[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'barista-temporal-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.stop();
  rmSync(dataDir, { recursive: true });
});

async function start(options: Partial<TemporalOptions> = {}): Promise<Temporal> {
  const server = await startTemporal({ dataDir, cliPath: await temporalCliPath(), ...options });
  servers.push(server);
  return server;
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await connectTo(address);
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test('the dev server answers with its UI and search attributes, keeps workflows over a restart, and can be seen to die', async () => {
  const first = await start();
  expect((await fetch(first.uiUrl!)).status).toBe(200);
  await withClient(first.address, (client) => client.workflow.start('someWorkflow', { workflowId: 'kept', taskQueue: 'nobody' }));
  await first.stop();

  const second = await start();
  expect(await withClient(second.address, async (client) => (await client.workflow.getHandle('kept').describe()).status.name)).toBe(
    'RUNNING',
  );
  process.kill(second.pid, 'SIGKILL');
  expect(await second.exited).toMatch(/^Temporal's dev server ended by itself/);
});

test('a UI port in use is one line naming the port and the setting', async () => {
  const uiPort = Number(new URL((await start()).uiUrl!).port);
  await expect(start({ uiPort })).rejects.toThrow(
    `Port ${uiPort} on 127.0.0.1 is in use by another program. Stop that program, or set TEMPORAL_UI_PORT to another port`,
  );
});

test('two that start at once share no port: one has its UI where it usually is, the other elsewhere', async () => {
  const usualUiPort = await freePort();
  const both = await Promise.all(['one', 'other'].map((name) => start({ dataDir: join(dataDir, name), usualUiPort })));
  expect(new Set(both.map(({ address }) => address)).size).toBe(2);
  const uiPorts = both.map(({ uiUrl }) => Number(new URL(uiUrl!).port));
  expect(uiPorts).toContain(usualUiPort);
  expect(new Set(uiPorts).size).toBe(2);
  for (const { uiUrl } of both) expect((await fetch(uiUrl!)).status).toBe(200);
});

/** A CLI whose server answers, and ends because its UI port went to another program, which answers there. Only the first time. */
async function cliThatLosesItsUiPort(): Promise<string> {
  const script = join(dataDir, 'loses-its-ui-port.mjs');
  writeFileSync(
    script,
    `import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [cli, ...args] = process.argv.slice(2);
const isFirst = !existsSync('${script}.ran');
writeFileSync('${script}.ran', '');
const ui = args.indexOf('--ui-port');
const server = spawn(cli, isFirst ? args.toSpliced(ui, 2, '--headless') : args, { stdio: 'inherit' });
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.on('exit', () => process.exit(1));
if (isFirst)
  createServer((_, response) => {
    response.end('<html>', () => {
      console.log('bind: address already in use');
      server.kill('SIGKILL');
    });
  }).listen(Number(args[ui + 1]), '127.0.0.1');
`,
  );
  const cli = join(dataDir, 'cli');
  writeFileSync(cli, `#!/bin/sh\nexec '${process.execPath}' '${script}' '${await temporalCliPath()}' "$@"\n`, { mode: 0o755 });
  return cli;
}

test("a server that has lost its UI port is not taken for ready because another program's page answers there", async () => {
  const { pid, uiUrl } = await start({ cliPath: await cliThatLosesItsUiPort() });
  expect(isAlive(pid)).toBe(true);
  expect(await (await fetch(`${uiUrl}/api/v1/cluster-info`)).json()).toMatchObject({ clusterId: expect.any(String) });
});

test('a start that is given up in its middle leaves no server', async () => {
  const stop = new AbortController();
  const starting = start({ signal: stop.signal });
  const why = expect(starting).rejects.toThrow('enough');
  await expect.poll(() => existsSync(join(dataDir, 'temporal.pid'))).toBe(true);
  stop.abort(new Error('enough'));
  await why;
  expect(lockHolder(join(dataDir, 'temporal.pid'))).toBeNull();
});

test('search attributes are added once to a server that lacks them, and a wrong type is refused by name', async () => {
  const env = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'existing-path', path: await temporalCliPath() }, log: { format: 'pretty', level: 'error' } },
  });
  try {
    const connection = env.connection as Connection;
    await Promise.all([ensureSearchAttributes(connection, 'default'), ensureSearchAttributes(connection, 'default')]);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    expect(Object.keys(customAttributes!)).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));

    await connection.operatorService.removeSearchAttributes({ namespace: 'default', searchAttributes: ['BaristaRound'] });
    await connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes: { BaristaRound: 2 } });
    await expect(ensureSearchAttributes(connection, 'default')).rejects.toThrow(/BaristaRound as another type \(Int needed\)/);
  } finally {
    await env.teardown();
  }
});

test("the run's own servers answer", async () => {
  await withClient(await temporalAddress(), (client) => client.connection.ensureConnected());
  const env = await createTimeSkipping();
  await env.teardown();
});

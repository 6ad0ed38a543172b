// `runStdio` as a client meets it: a process of its own, and nothing but JSON-RPC on its stdout.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { freePort } from '../../stack/ports.js';
import { PATIENT, request, settings, silent, startEdge, type Edge, type Rpc } from '../support/edge.js';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

const stdio = fileURLToPath(new URL('../../mcp-server/stdio.ts', import.meta.url));
const started: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(url: string, key: string) {
  const child = spawn(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    `import { runStdio } from ${JSON.stringify(stdio)}; await runStdio(${JSON.stringify({ url, key })});`,
  ]);
  started.push(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    send: (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`),
    /** The next line of stdout, which must be JSON-RPC. */
    async next(): Promise<Rpc> {
      const { value, done } = (await answers.next()) as IteratorResult<string>;
      if (done) throw new Error('stdout ended');
      const message = JSON.parse(value) as Rpc;
      expect(message.jsonrpc).toBe('2.0');
      return message;
    },
  };
}

test('it initializes, lists the same tools as HTTP, and forwards calls', async () => {
  const client = start(edge.server.url, edge.owner.key);
  client.send(request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }));
  expect((await client.next()).result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'barista' } });
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  client.send(request('tools/list', {}, 2));
  const listed = await client.next();
  const response = await fetch(`${edge.server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${edge.owner.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(request('tools/list')),
  });
  expect(listed.result).toEqual(((await response.json()) as Rpc).result);
  client.send(request('tools/call', { name: 'list_rooms', arguments: {} }, 3));
  expect((await client.next()).result).toMatchObject({ structuredContent: { rooms: [] } });
  client.send(request('tools/call', { name: 'get_file', arguments: { room: 'x', path: '../y' } }, 4));
  const refused = (await client.next()).result;
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.parse(refused.content[0].text)).toMatchObject({ error: { code: 'invalid', field: 'path' } });
  client.send(request('tools/call', { name: 'no_such_tool', arguments: {} }, 5));
  expect((await client.next()).error).toMatchObject({ code: -32602 });
});

test('a probe is answered at once, and stdin’s end ends it', async () => {
  const client = start(edge.server.url, edge.owner.key);
  client.send(request('server/discover'));
  expect((await client.next()).error).toMatchObject({ code: -32601 });
  client.child.stdin.end();
  expect(await once(client.child, 'exit')).toEqual([0, null]);
});

test('a wrong key is said in plain words', async () => {
  const client = start(edge.server.url, `ba_${'x'.repeat(43)}`);
  client.send(request('tools/call', { name: 'list_rooms', arguments: {} }));
  expect((await client.next()).error!.message).toContain('BARISTA_KEY');
});

test('a server that restarts while a call is made is waited for', async () => {
  const onOnePort = { ...settings(edge.databaseUrl), port: await freePort() };
  const first = await startServer(onOnePort, silent);
  await first.stop();
  const client = start(first.url, edge.owner.key);
  client.send(request('tools/call', { name: 'list_rooms', arguments: {} }));
  client.send(request('ping', {}, 2));
  // Its answer shows that the call is under way, with nobody there to take it.
  expect(await client.next()).toMatchObject({ id: 2, result: {} });
  const second = await startServer(onOnePort, silent, undefined, PATIENT);
  try {
    expect((await client.next()).result).toMatchObject({ structuredContent: { rooms: [] } });
  } finally {
    await second.stop();
  }
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { callTool, rest, ServerAway } from '../../cli/api.js';
import { startServer } from '../../mcp-server/server.js';
import { addPerson, settings, silent } from '../support/edge.js';
import { Gate } from '../support/gate.js';
import { testStore } from '../support/store.js';

test('S9: a server whose database is away is waited for, and not taken for something else that answers there', async () => {
  await using db = await testStore();
  await using gate = await Gate.before(() => db.url);
  const { key } = await addPerson(db.store, 'olga');
  const server = await startServer(settings(gate.url), silent);
  try {
    const asked = () => [callTool({ url: server.url, key }, 'list_rooms', {}), rest({ url: server.url, key }, 'GET', '/rooms')];
    expect(await Promise.all(asked())).toEqual([{ rooms: [] }, { rooms: [] }]);
    gate.close();
    await Promise.all(asked().map((answer) => expect(answer).rejects.toThrow(ServerAway)));
    gate.open();
    await expect.poll(() => Promise.all(asked()).catch(() => null)).toEqual([{ rooms: [] }, { rooms: [] }]);
  } finally {
    await server.stop();
  }
});

test('S9: a server that breaks off in the middle of its answer is away, and not taken for something else', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"rooms":', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'bu_any' };
  try {
    const asked = [callTool(target, 'list_rooms', {}), rest(target, 'GET', '/rooms')];
    await Promise.all(asked.map((answer) => expect(answer).rejects.toThrow(ServerAway)));
  } finally {
    server.close();
  }
});

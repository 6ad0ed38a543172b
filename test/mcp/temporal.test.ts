import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createTemporal } from '../../mcp-server/temporal.js';

test('a call that fails as the client is closed ends for its caller, and throws nowhere else', async () => {
  let connections = 0;
  const noTemporal = createServer((socket) => (connections++, socket.destroy())).listen(0, '127.0.0.1');
  await once(noTemporal, 'listening');
  const temporal = createTemporal({ address: `127.0.0.1:${(noTemporal.address() as AddressInfo).port}` }, undefined);
  const calls = Promise.allSettled([temporal.ready(), temporal.ready()]);
  await expect.poll(() => connections).toBeGreaterThan(1); // it has been tried again
  await temporal.close();
  expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  noTemporal.close();
});

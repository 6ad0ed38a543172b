import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StackError } from './errors.js';

/**
 * Below the ports that systems hand out by themselves (Linux from 32768, macOS and Windows from 49152), so that neither a
 * connection nor a listener on port 0 takes one of these before it is used.
 */
const CHOSEN_FROM = { first: 20_000, last: 32_767 };
const TRIES = 100;

/**
 * A TCP port on 127.0.0.1 that was free a moment ago, for a program that must be told its port: whoever can listen on
 * port 0 does that. One starter in thousands finds it taken all the same, and asks again.
 * @throws StackError where none of many can be listened on
 */
export async function freePort(): Promise<number> {
  for (let left = TRIES; ; left -= 1) {
    const port = randomInt(CHOSEN_FROM.first, CHOSEN_FROM.last + 1);
    try {
      await requireFreePort(port);
      return port;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** Whether `port` could be listened on a moment ago. */
export function isFreePort(port: number): Promise<boolean> {
  return requireFreePort(port).then(
    () => true,
    () => false,
  );
}

/** Throws one clear line when `port` cannot be listened on; `setting` is the name an owner changes it by, if any. */
export function requireFreePort(port: number, setting?: string, host = '127.0.0.1'): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be listened on (${error.code})`;
      const change = setting ? `, or set ${setting} to another port, e.g. ${setting}=${port < 65_535 ? port + 1 : port - 1}` : '';
      reject(new StackError(`Port ${port} on ${host} ${why}. Stop that program${change}.`));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

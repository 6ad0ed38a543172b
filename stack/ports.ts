import { createServer } from 'node:net';
import { StackError } from './errors.js';

/** A TCP port on 127.0.0.1 that was free a moment ago; whoever binds it must be ready to ask again. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
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

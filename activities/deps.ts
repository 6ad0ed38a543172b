import type { Logger } from 'pino';
import type { Forge } from './forge/port.js';
import type { Store } from '../prisma/store.js';

/** Everything activities stand on; made once a worker process. */
export interface ActivityDeps {
  readonly store: Store;
  readonly forge: Forge;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
}

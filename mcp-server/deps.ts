import type { Logger } from 'pino';
import type { ForgeFacts } from '../activities/forge/facts.js';
import type { Forge } from '../activities/forge/port.js';
import type { Door } from '../activities/room-door.js';
import type { Caller, Store } from '../prisma/store.js';
import type { Heads } from './calls/heads.js';
import type { Waits } from './calls/waits.js';
import type { Ci } from './calls/world.js';
import type { TimeLimits } from './time-limits.js';
import type { Metrics } from './metrics.js';
import type { Sender } from './webhooks/senders.js';
import type { TakeDelivery } from './webhooks/take.js';

export type { Caller } from '../prisma/store.js';

/** Everything the HTTP edge stands on; made once a process. */
export interface Deps {
  readonly store: Store;
  readonly door: Door;
  readonly forge: Forge;
  readonly forges: ForgeFacts;
  readonly heads: Heads;
  readonly ci: Ci;
  readonly waits: Waits;
  /** The forges that send deliveries (P3). */
  readonly senders: readonly Sender[];
  readonly takeDelivery: TakeDelivery;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly timeLimits: TimeLimits;
  /** Origins whose pages may call: this server's own addresses. */
  readonly ownOrigins: () => readonly string[];
  /** Where this server is reached by its users, without a slash at the end. */
  readonly address: () => string;
  /** Aborted when the server begins to stop: waits end, other calls are finished. */
  readonly stopping: AbortSignal;
  /** Throws when Temporal cannot be reached. */
  readonly temporalReady: () => Promise<void>;
}

/** One call of somebody whose key is known. */
export interface Call {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly caller: Caller;
  /** Aborted when nobody reads the answer any more. */
  readonly gone: AbortSignal;
}

import type { Logger } from 'pino';
import type { Forge } from '../activities/forge/port.js';
import type { Caller, Store } from '../prisma/store.js';

import type { Command } from '../workflows/room/commands.js';
import type { HeadSeen, RoomOpened } from '../workflows/room/events.js';
import type { CommandResult } from '../workflows/room/state.js';
import type { Heads } from './calls/heads.js';
import type { Waits } from './calls/waits.js';
import type { Ci } from './calls/world.js';
import type { Metrics } from './metrics.js';

export type { Caller } from '../prisma/store.js';

/** The one way to change a room (DESIGN 10). */
export interface Door {
  /**
   * Gives the room a command. When it answers, the database has what the command did.
   * @throws {Refusal} what the room refused, or `unavailable`
   */
  send(slug: string, command: Command): Promise<CommandResult>;
  /** Starts the room's workflow; safe to repeat. When it answers, the database has the opened room. */
  open(opened: Omit<RoomOpened, 'type'>): Promise<void>;
  /** Tells the room of a head that was seen; it changes nothing the room knows already. */
  headSeen(slug: string, seen: HeadSeen): Promise<void>;
}

/** Everything the HTTP edge stands on; made once a process. */
export interface Deps {
  readonly store: Store;
  readonly door: Door;
  readonly forge: Forge;
  readonly heads: Heads;
  readonly ci: Ci;
  readonly waits: Waits;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
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

import type { ContextStore } from '../activities/forge/port.js';
import { createAccounts, type Accounts } from './accounts.js';
import { createAlerts, type Alerts } from './alerts.js';
import { createBus, type Bus } from './bus.js';
import { connect } from './db.js';
import { createDeliveries, type Deliveries } from './deliveries.js';
import { createForgeStates, type ForgeStates } from './forge-states.js';
import { createIntents, type Intents } from './intents.js';
import { createMessages, type Messages } from './messages.js';
import { createProject, type Project } from './project.js';
import { createKeptReads } from './reads.js';
import { createRepositories, type Repositories } from './repositories.js';
import { createRooms, type Rooms } from './rooms.js';
import { createShown, type ShownStore } from './shown.js';
import { createSpans, type Spans } from './spans.js';
import { createTexts, type Texts } from './texts.js';

export type { Accounts, Agent, Caller } from './accounts.js';
export type { ClaimedAlert, StoredAlert } from './alerts.js';
export { ALERTS_TOPIC, FORGES_TOPIC, ownerTopic } from './bus.js';
export { isDatabaseAway } from './db.js';
export type { LastDelivery } from './deliveries.js';
export type { ForgePart, ForgePlace, ForgeTrouble, HeardLimit } from './forge-states.js';
export type { Intent } from './intents.js';
export type { Message, MessagePage } from './messages.js';
export { NoSuchRoom, ProjectionConflict } from './project.js';
export { DEFAULT_REPOSITORY_SETTINGS } from './repositories.js';
export type { AutomaticRooms, Identity, RepositoryPlace, RepositorySettings } from './repositories.js';
export type { RoomRow, Snapshot } from './rooms.js';

/** The database, and the only way to it. Every failure that is its absence passes {@link isDatabaseAway}. */
export interface Store {
  readonly accounts: Accounts;
  readonly rooms: Rooms;
  /** What owners set for a repository. */
  readonly repositories: Repositories;
  readonly forgeStates: ForgeStates;
  readonly deliveries: Deliveries;
  readonly messages: Messages;
  /** B29. */
  readonly alerts: Alerts;
  readonly texts: Texts;
  readonly spans: Spans;
  readonly shown: ShownStore;
  /** Immutable reads of the forge (DESIGN 8). */
  readonly reads: ContextStore;
  readonly intents: Intents;
  readonly project: Project;
  readonly bus: Bus;
  /** Whether it can be reached now; throws why not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface StoreOptions {
  /** `postgresql://…`, already migrated. */
  readonly url: string;
  /** Epoch milliseconds; the time of everything the store itself dates. */
  readonly now: () => number;
  /** Connections at most, besides the one that listens. */
  readonly poolSize?: number;
  /** How long at most a call waits for a connection, for a lock, and for an answer, in milliseconds. */
  readonly patienceMs?: number;
  /** How often whoever waits looks though nothing woke it, in milliseconds. */
  readonly lookEveryMs?: number;
}

/** Connects when first used, and again whenever the database comes back. */
export function createStore({ url, now, poolSize = 10, patienceMs, lookEveryMs }: StoreOptions): Store {
  const db = connect(url, poolSize, patienceMs);
  const bus = createBus(url, lookEveryMs);
  return {
    accounts: createAccounts(db, now),
    rooms: createRooms(db, now),
    repositories: createRepositories(db, now),
    forgeStates: createForgeStates(db),
    deliveries: createDeliveries(db),
    messages: createMessages(db, now),
    alerts: createAlerts(db, now),
    texts: createTexts(db, now),
    spans: createSpans(db),
    shown: createShown(db),
    reads: createKeptReads(db, now),
    intents: createIntents(db, now),
    project: createProject(db),
    bus,
    async ping() {
      await db.$queryRaw`SELECT 1`;
    },
    async close() {
      await bus.close();
      await db.$disconnect();
    },
  };
}

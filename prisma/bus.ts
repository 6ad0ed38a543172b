import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Tx } from './db.js';
import { isDatabaseAway } from './db.js';

const CHANNEL = 'barista_room';
/** A wake-up may be lost with its connection: so long at the longest does anybody believe in silence. */
const LOOK_EVERY_MS = 5_000;
const BACKOFF_MS = { first: 50, longest: 2_000 } as const;

/**
 * Tells every process that something has changed, once the transaction commits; it says no more than "look again".
 * A topic is a room's slug, or one of {@link ownerTopic}, {@link ALERTS_TOPIC} and {@link FORGES_TOPIC}, which no slug can be.
 */
export async function notify(tx: Tx, topic: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_notify(${CHANNEL}, ${topic})`;
}

/** Alerts of one owner (B29). */
export const ownerTopic = (ownerId: string): string => `alerts/${ownerId}`;
/** Alerts of whomever. */
export const ALERTS_TOPIC = 'alerts/';
/** What is known of whichever forge. */
export const FORGES_TOPIC = 'forges/';

export interface Waiting {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface Bus {
  /**
   * Checks now and whenever the room (or other topic) has changed, until `check` gives something else than null.
   * @returns what it gave, or null when `timeoutMs` passed
   * @throws the signal's reason when aborted; what `check` throws, except that while the database is away it is
   * asked again until the time is over
   */
  waitFor<T>(topic: string, check: () => Promise<T | null>, waiting: Waiting): Promise<T | null>;
  close(): Promise<void>;
}

/**
 * One LISTEN connection for the whole process, made at the first wait and made again whenever it is lost. Whoever waits
 * looks every `lookEveryMs` as well, though nobody woke it.
 */
export function createBus(url: string, lookEveryMs = LOOK_EVERY_MS): Bus {
  const listeners = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // everybody who waits listens to it
  let listening: Promise<void> | undefined;

  const wake = (slug: string): void => listeners.get(slug)?.forEach((listener) => listener());
  const wakeAll = (): void => [...listeners.keys()].forEach(wake);

  async function listen(): Promise<void> {
    let backoff: number = BACKOFF_MS.first;
    while (!closing.signal.aborted) {
      const client = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: 5_000 });
      client.on('error', () => {}); // `end` follows, and is what is waited for
      client.on('notification', ({ payload }) => wake(payload ?? ''));
      try {
        await client.connect();
        await client.query(`LISTEN ${CHANNEL}`);
        backoff = BACKOFF_MS.first;
        wakeAll(); // what was said while nobody listened is lost
        await once(client, 'end', { signal: closing.signal });
      } catch {
        // not reachable yet, or closing: the loop's condition tells which
      } finally {
        await client.end().catch(() => {}); // it may never have been connected
      }
      if (!closing.signal.aborted) await delay(backoff, undefined, { signal: closing.signal }).catch(() => {});
      backoff = Math.min(backoff * 2, BACKOFF_MS.longest);
    }
  }

  function subscribe(slug: string, listener: () => void): () => void {
    listening ??= listen();
    const ofRoom = listeners.get(slug) ?? new Set();
    listeners.set(slug, ofRoom.add(listener));
    return () => {
      ofRoom.delete(listener);
      if (ofRoom.size === 0 && listeners.get(slug) === ofRoom) listeners.delete(slug);
    };
  }

  return {
    async waitFor(slug, check, { timeoutMs, signal }) {
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      stop.throwIfAborted();
      const deadline = performance.now() + timeoutMs;
      const wakeUp = new WakeUp();
      const unsubscribe = subscribe(slug, () => wakeUp.ring());
      try {
        for (;;) {
          wakeUp.reset(); // before the check, so that a change during it is not missed
          let away: Error | undefined;
          try {
            const found = await check();
            if (found !== null) return found;
          } catch (error) {
            if (!isDatabaseAway(error)) throw error;
            away = error;
          }
          const left = deadline - performance.now();
          if (left <= 0) {
            if (away) throw away;
            return null;
          }
          await wakeUp.within(Math.min(left, lookEveryMs), stop);
          stop.throwIfAborted();
        }
      } finally {
        unsubscribe();
      }
    },
    async close() {
      closing.abort(new Error('the store is closed'));
      await listening;
    },
  };
}

/** A bell that stays rung until it is reset. */
class WakeUp {
  #rung = false;
  #ring: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#ring?.();
  }

  reset(): void {
    this.#rung = false;
  }

  /** Settles when rung, when the time is over, or when stopped; whoever waits tells which. */
  async within(ms: number, stop: AbortSignal): Promise<void> {
    if (this.#rung || stop.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop.removeEventListener('abort', done);
        this.#ring = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      stop.addEventListener('abort', done);
      this.#ring = done;
    });
  }
}

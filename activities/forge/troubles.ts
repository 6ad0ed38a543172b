import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FORGES_TOPIC, isDatabaseAway, type ForgePart, type ForgePlace, type ForgeTrouble, type Store } from '../../prisma/store.js';
import type { ForgeError, ForgeName, Identity, LimitsHeard } from './port.js';

export interface TroublesDeps {
  readonly store: Pick<Store, 'forgeStates' | 'bus'>;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A wait on the bus has an end; the next one follows at once. */
const LISTEN_MS = 60 * 60_000;
/** So often at most everything is read again, however much is told of. */
const READ_MS = 1_000;
/** Before listening again after a fault. */
const AGAIN_MS = 5_000;

interface Change {
  readonly write: () => Promise<void>;
  /** What is known once it is written; null: it is mended. */
  readonly trouble: ForgeTrouble | null;
}

/**
 * What keeps a process from its forges, as the database has it for every process: read when it changed, written when
 * something new was met. No call of a forge waits for any of it, and none fails by it.
 */
export class Troubles {
  #known = new Map<string, ForgeTrouble>();
  readonly #limits = new Map<string, number>();
  /** What the database does not have yet, the last word on each. */
  readonly #unwritten = new Map<string, Change>();
  #writing: Promise<void> | null = null;
  /** How often something was written. */
  #writes = 0;
  #toldAway = false;

  constructor(private readonly deps: TroublesDeps) {}

  /** Limits any process met, this one or another. */
  readonly heard: LimitsHeard = (name) => this.#limits.get(name) ?? 0;

  /** A call failed at this kind of work (null: at none that may be shut out by itself). */
  met(place: ForgePlace, part: ForgePart | null, error: ForgeError): void {
    this.metLimit(place.forge, error);
    const { kind, message, facts } = error;
    const { identity, limit, partial } = facts;
    if (identity === undefined) return;
    const whole: ForgeTrouble = { identity, kind, message, since: this.deps.now(), until: limit?.until ?? null };
    const trouble = partial === true && part !== null ? { ...whole, part } : whole;
    const key = keyOf(place, trouble);
    if (isSame(this.#lastWord(key), trouble)) return;
    const { forge, repository } = place;
    this.#write(key, { trouble, write: () => this.deps.store.forgeStates.troubled(forge, repository, trouble) });
  }

  /** What a call failed with, where the repository's canonical name is not known: a limit is everybody's all the same. */
  metLimit(forge: ForgeName, { facts: { limit } }: ForgeError): void {
    if (limit === undefined || limit.until <= this.heard(limit.name)) return;
    const { name, until } = limit;
    this.#limits.set(name, until);
    this.#write(`limit ${name}`, { trouble: null, write: () => this.deps.store.forgeStates.limited({ forge, name, until }) });
  }

  /** A call under this identity worked; with `part` it proves that kind of work, else the whole. */
  fine(place: ForgePlace, identity: Identity, part?: ForgePart): void {
    const key = keyOf(place, { identity, ...(part !== undefined && { part }) });
    if (this.#lastWord(key) === null) return;
    const { forge, repository } = place;
    this.#write(key, { trouble: null, write: () => this.deps.store.forgeStates.mended(forge, repository, identity, part) });
  }

  /** Hears what other processes write, until stopped. */
  async follow(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.deps.store.bus.waitFor(FORGES_TOPIC, () => this.#read(stop), { timeoutMs: LISTEN_MS, signal: stop });
      } catch (error) {
        if (stop.aborted) return;
        this.deps.log.warn({ err: error }, "the forges' states could not be followed");
        await pause(AGAIN_MS, undefined, { signal: stop }).catch(() => undefined); // stopped: the condition says so
      }
    }
  }

  /** Ends once everything met so far is written, or the database was found away. */
  async written(): Promise<void> {
    await this.#writing;
  }

  #lastWord(key: string): ForgeTrouble | null {
    const unwritten = this.#unwritten.get(key);
    return unwritten === undefined ? (this.#known.get(key) ?? null) : unwritten.trouble;
  }

  #write(key: string, change: Change): void {
    this.#unwritten.set(key, change);
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = null));
  }

  /** One after another, so that the last word stays the last. */
  async #writeAll(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const [key, change] = next;
      try {
        await change.write();
        this.#writes += 1;
        this.#toldAway = false;
      } catch (error) {
        const away = isDatabaseAway(error);
        if (!away || !this.#toldAway) this.deps.log.warn({ err: error }, "a forge's state could not be written down");
        this.#toldAway = away;
        // Kept for when the database is back; what it does not take for another reason would stand in the way of all.
        if (away) return;
      }
      if (this.#unwritten.get(key) === change) this.#unwritten.delete(key);
      if (change.trouble === null) this.#known.delete(key);
      else this.#known.set(key, change.trouble);
    }
  }

  #next(): [string, Change] | null {
    for (const entry of this.#unwritten) return entry;
    return null;
  }

  async #read(stop: AbortSignal): Promise<null> {
    const { troubles, limits } = await this.#all();
    this.#known = new Map(troubles.map(({ trouble, ...place }) => [keyOf(place, trouble), trouble]));
    for (const { name, until } of limits) this.#limits.set(name, Math.max(until, this.heard(name)));
    this.#writeSoon();
    await pause(READ_MS, undefined, { signal: stop });
    return null;
  }

  /** What is written down, and nothing older than this process has written itself. */
  async #all(): ReturnType<TroublesDeps['store']['forgeStates']['all']> {
    for (;;) {
      const before = this.#writes;
      const all = await this.deps.store.forgeStates.all();
      if (this.#writes === before) return all;
    }
  }
}

const keyOf = ({ forge, repository }: ForgePlace, { identity, part }: Pick<ForgeTrouble, 'identity' | 'part'>): string =>
  `${forge} ${repository} ${identity} ${part ?? ''}`;

/** Whether an owner sees the same: when it began is kept by the database. */
function isSame(known: ForgeTrouble | null, { kind, message, until }: ForgeTrouble): boolean {
  return known !== null && known.kind === kind && known.message === message && known.until === until;
}

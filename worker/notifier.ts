import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ALERTS_TOPIC, type ClaimedAlert, type Store, type StoredAlert } from '../prisma/store.js';

/** A receiver that takes longer has not taken it. */
const ANSWER_MS = 10_000;
const answerLimit = (): AbortSignal => AbortSignal.timeout(ANSWER_MS);
/** So long a claim holds: well over one delivery, so that only who died with an alert gives it back. */
const CLAIM_MS = 60_000;
/** B29: what could not be delivered in a day is old news; `barista watch` still has it. */
const GIVE_UP_MS = 24 * 60 * 60_000;
const BACKOFF_MS = { first: 5_000, longest: 15 * 60_000 } as const;
/** Between two looks when nothing is told of; the bus looks more often than this by itself. */
const LOOK_MS = 60_000;
/** Before the next look after one that failed. */
const AWAY_MS = 1_000;

export interface NotifierOptions {
  readonly store: Store;
  readonly url: string;
  /** `whsec_…` (Standard Webhooks); null: the one that the database keeps. */
  readonly secret: string | null;
  /** Address of the server, without a slash at the end, that an alert's link is below; null: not known. */
  readonly publicUrl: string | null;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Begins as an alert is sent; a receiver that has not answered when it aborts has not taken it. */
  readonly timeLimit?: () => AbortSignal;
}

export interface Notifier {
  /** Delivers one alert that is due, or tries to. False: none is due. Fails only where the database does. */
  deliverNext(): Promise<boolean>;
  start(): void;
  /** Ends after the delivery that is going on. */
  stop(): Promise<void>;
}

/**
 * Sends alerts to the operator's own address (B29), each at least once: it is marked when the receiver has answered
 * with 2xx, so one that was sent by a process that died is sent again, under the same id. Runs beside rooms in every
 * worker process and never in their way; of two of them at once, each sends other alerts.
 */
export function createNotifier({ store, url, secret, publicUrl, log, now, timeLimit = answerLimit }: NotifierOptions): Notifier {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let key: Buffer | undefined;

  const claim = (): Promise<ClaimedAlert | null> => store.alerts.claim(now() + CLAIM_MS, now() - GIVE_UP_MS);

  async function deliver(alert: ClaimedAlert): Promise<void> {
    key ??= keyOf(secret ?? (await store.alerts.secret()));
    const failure = await post(url, signed(alert, bodyOf(alert, publicUrl), key, now()), timeLimit());
    if (failure === null) return store.alerts.delivered(alert.id);
    const nextTryAt = now() + backoff(alert.tries);
    const givesUp = nextTryAt - alert.at > GIVE_UP_MS;
    log.warn(
      { alert: alert.id, tries: alert.tries, failure },
      givesUp ? 'an alert is given up' : 'an alert did not arrive; it is sent again',
    );
    await store.alerts.failed(alert, givesUp ? null : nextTryAt);
  }

  async function loop(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      try {
        const alert = await store.bus.waitFor(ALERTS_TOPIC, claim, { timeoutMs: LOOK_MS, signal });
        if (alert) await deliver(alert);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'alerts could not be looked at');
        await delay(AWAY_MS, undefined, { signal }).catch(() => {}); // stopped: the condition says so
      }
    }
  }

  return {
    async deliverNext() {
      const alert = await claim();
      if (alert) await deliver(alert);
      return alert !== null;
    },
    start() {
      running ??= loop();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function backoff(tries: number): number {
  return Math.min(BACKOFF_MS.first * 2 ** (tries - 1), BACKOFF_MS.longest);
}

function bodyOf({ id, kind, room, round, text, link, at }: StoredAlert, publicUrl: string | null): string {
  const url = publicUrl === null ? null : publicUrl + link;
  return JSON.stringify({ id, kind, room, round, text, url, at: new Date(at).toISOString() });
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');

/** As Standard Webhooks has it: the signature is over id, time of sending in seconds, and body. */
function signed({ id }: StoredAlert, body: string, key: Buffer, now: number): RequestInit {
  const timestamp = String(Math.floor(now / 1_000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
  };
}

/** Null when the receiver has taken it, else why it has not. What it answers besides its status is not read. */
async function post(url: string, request: RequestInit, signal: AbortSignal): Promise<string | null> {
  try {
    // Where to send alerts is the operator's to say, not the receiver's: no redirect is followed.
    const response = await fetch(url, { ...request, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.ok ? null : `the receiver answered ${response.status}`;
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return name === 'TimeoutError'
      ? `no answer within ${ANSWER_MS / 1_000} s`
      : `the receiver could not be reached (${cause?.code ?? name})`;
  }
}

import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../prisma/store.js';
import { freePort } from '../../stack/ports.js';
import { createNotifier, type Notifier } from '../../worker/notifier.js';
import { silent } from '../support/edge.js';
import { ProjectedRoom, testStore, type TestStore } from '../support/store.js';
import { Receiver, type Delivery } from '../support/receiver.js';

const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let db: TestStore;
let receiver: Receiver;
beforeEach(async () => {
  db = await testStore();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** It waits for an answer until the receiver has decided to give none, however long that takes. */
function asLongAsItMayAnswer(): AbortSignal {
  const limit = new AbortController();
  receiver.onSilence = () => limit.abort(new DOMException('the time is up', 'TimeoutError'));
  return limit.signal;
}

const notifier = (store: Store = db.store, secret: string | null = SECRET, timeLimit = asLongAsItMayAnswer): Notifier =>
  createNotifier({
    store,
    url: receiver.url,
    secret,
    publicUrl: 'https://barista.example',
    log: silent,
    now: db.clock.now,
    timeLimit,
  });

/** What the scheme's own library makes of a delivery, at the notifier's time; it throws where the signature is wrong. */
function verify(secret: string, { body, headers }: Delivery): unknown {
  vi.useFakeTimers({ toFake: ['Date'], now: db.clock.at });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

/** As many rooms, each with one alert. */
async function alerts(count: number): Promise<ProjectedRoom[]> {
  const rooms: ProjectedRoom[] = [];
  for (let index = 0; index < count; index += 1) {
    const room = await ProjectedRoom.open(db.store, `room-${index}`, { barista: true });
    rooms.push(await room.do((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 })));
  }
  return rooms;
}

/** Delivers all that is due. */
async function all(one: Notifier): Promise<void> {
  while (await one.deliverNext());
}

test('B29: an alert is one POST that a Standard Webhooks receiver verifies', async () => {
  const [room] = await alerts(1);
  await all(notifier());
  expect(receiver.got).toHaveLength(1);
  const { headers } = receiver.got[0]!;
  const verified = verify(SECRET, receiver.got[0]!);
  expect(verified).toEqual({
    id: headers['webhook-id'],
    kind: 'no_review',
    room: room!.slug,
    round: 1,
    text: 'Round 1 has no review: whoever it waits for has been idle for 30 minutes. It needs a reviewer.',
    url: `https://barista.example/rooms/${room!.slug}`,
    at: new Date(room!.room.now).toISOString(),
  });
  expect(headers['content-type']).toBe('application/json');
});

test('B29: with no secret set, the one that the database keeps signs', async () => {
  await alerts(1);
  await all(notifier(db.store, null));
  const kept = await db.store.alerts.secret();
  expect(() => verify(kept, receiver.got[0]!)).not.toThrow();
  expect(() => verify(SECRET, receiver.got[0]!)).toThrow();
});

test.each<[string, Receiver['answer']]>([
  ['answers 500', 500],
  ['answers 404', 404],
  ['sends elsewhere, which is not followed', 'redirect'],
  ['never answers', 'never'],
])('B29: a receiver that %s gets the same alert again, later and later, until it takes it', async (_, answer) => {
  await alerts(1);
  receiver.answer = answer;
  const one = notifier();
  await all(one);
  expect(receiver.got).toHaveLength(1);
  const waits = [5, 10, 20].map((seconds) => seconds * SECOND);
  for (const [index, wait] of waits.entries()) {
    db.clock.at += wait - 1;
    await all(one);
    expect(receiver.got).toHaveLength(index + 1);
    db.clock.at += 1;
    await all(one);
    expect(receiver.got).toHaveLength(index + 2);
  }
  receiver.answer = 200;
  db.clock.at += 40 * SECOND;
  await all(one);
  db.clock.at += 3_600 * SECOND;
  await all(one);
  expect(receiver.got).toHaveLength(5);
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(1);
});

test('B29: a receiver that is down gets it when it is up again', async () => {
  const port = await freePort();
  await receiver[Symbol.asyncDispose]();
  receiver = await Receiver.start(port);
  await alerts(1);
  const one = notifier();
  await receiver[Symbol.asyncDispose]();
  await all(one);
  receiver = await Receiver.start(port);
  db.clock.at += 5 * SECOND;
  await all(one);
  expect(receiver.got).toHaveLength(1);
});

test('B29: it is given up after a day, and the next alert is sent all the same', async () => {
  await alerts(1);
  receiver.answer = 503;
  const one = notifier();
  for (let hours = 0; hours <= 30; hours += 0.25) {
    await all(one);
    db.clock.at += DAY / 96;
  }
  const tries = receiver.got.length;
  expect(tries).toBeGreaterThan(90);
  expect(tries).toBeLessThan(110);
  db.clock.at += DAY;
  receiver.answer = 204;
  const room = await ProjectedRoom.open(db.store, 'later', { barista: true });
  await room.do((r) =>
    r
      .after(4 * 24 * 60)
      .join('ana')
      .open('ana')
      .emit({ type: 'IdleRanOut', number: 1 }),
  );
  db.clock.at = room.room.now;
  await all(one);
  expect(receiver.got).toHaveLength(tries + 1);
});

test('B29: killed between the POST and the mark, it is sent again under the same id by another process', async () => {
  await alerts(1);
  const dying: Store = {
    ...db.store,
    alerts: { ...db.store.alerts, delivered: () => Promise.reject(new Error('killed')) },
  };
  await expect(notifier(dying).deliverNext()).rejects.toThrow('killed');
  const other = notifier(db.second());
  await all(other);
  expect(receiver.got).toHaveLength(1);
  db.clock.at += 60 * SECOND;
  await all(other);
  const ids = receiver.got.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
  db.clock.at += 3_600 * SECOND;
  await all(other);
  expect(receiver.got).toHaveLength(2);
});

test('B29: two processes at work send each alert once, as soon as it is written', async () => {
  db.clock.at += DAY / 2;
  const both = [notifier(), notifier(db.second())];
  for (const one of both) one.start();
  await alerts(8);
  await expect.poll(() => receiver.got.length).toBe(8);
  for (const one of both) await one.stop();
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(8);
});

test('B29: a receiver that hangs holds up no room', async () => {
  receiver.answer = 'never';
  db.clock.at += SECOND;
  const limit = new AbortController();
  const one = notifier(db.store, SECRET, () => limit.signal);
  one.start();
  const [room] = await alerts(1);
  await expect.poll(() => receiver.got.length).toBe(1);
  await room!.do((r) => r.submit('ana'));
  expect(await db.store.rooms.seq(room!.slug)).toBe(room!.room.state.seq);
  limit.abort();
  await one.stop();
});

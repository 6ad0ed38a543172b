import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRoomDoor } from '../../activities/room-door.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import { BASE, HEAD } from '../support/room.js';
import { Gate } from '../support/gate.js';
import { PATIENCE } from '../support/patience.js';
import { openRow } from '../support/store.js';
import { DoorWorld, join } from './support.js';

let world: DoorWorld;
beforeAll(async () => {
  world = await DoorWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

const names = async (slug: string): Promise<string[]> => (await world.store.rooms.members(slug)).slice(1).map(({ name }) => name);
const sorted = (list: readonly string[]): string[] => [...list].sort();
const crew = (count: number): string[] => Array.from({ length: count }, (_, index) => `agent-${index}`);
const patienceMs = PATIENCE.timeout;
const noIntents = async (): Promise<void> => {
  expect(await world.store.intents.takeStale(world.db.clock.at + 1)).toEqual([]);
};

test('DESIGN 4: whoever was answered can read what it wrote', async () => {
  const { slug } = await world.open('read-own');
  expect(await world.store.rooms.seq(slug)).toBeGreaterThan(0);
  await world.door.send(slug, join('grok'));
  expect(await names(slug)).toEqual(['grok']);
  await noIntents();
});

test('S9: a repeat is answered from the room, and costs no event', async () => {
  const { slug } = await world.open('repeat');
  const first = await world.door.send(slug, join('grok'));
  const seq = await world.store.rooms.seq(slug);
  expect(await world.door.send(slug, join('grok'))).toEqual(first);
  expect(await world.store.rooms.seq(slug)).toBe(seq);
  await noIntents();
});

test('DESIGN 10: 40 callers at once get through, at most 5 of them in flight', async () => {
  const { slug } = await world.open('crowd');
  let inFlight = 0;
  let most = 0;
  const client = await world.connect(world.address, {
    interceptors: {
      workflow: [
        {
          async startUpdate(input, next) {
            most = Math.max(most, ++inFlight);
            try {
              return await next(input);
            } finally {
              inFlight -= 1;
            }
          },
        },
      ],
    },
  });
  const door = createRoomDoor({ client, store: world.store, patienceMs });
  await Promise.all(crew(40).map((name) => door.send(slug, join(name))));
  expect(most).toBe(5);
  expect(sorted(await names(slug))).toEqual(sorted(crew(40)));
  await noIntents();
});

test('two servers at once: every command once, every caller reads its own', async () => {
  const { slug } = await world.open('two-servers');
  const other = createRoomDoor({ client: await world.connect(), store: world.db.second(), patienceMs });
  await Promise.all(
    crew(20).map(async (name, index) => {
      await (index % 2 ? other : world.door).send(slug, join(name));
      expect(await names(slug)).toContain(name);
    }),
  );
  expect(sorted(await names(slug))).toEqual(sorted(crew(20)));
});

test('a refusal of the room reaches its caller as it is, and leaves nothing behind', async () => {
  const { slug } = await world.open('refused');
  const seq = await world.store.rooms.seq(slug);
  const refused = world.door.send(slug, { type: 'leave', by: 'ag_stranger' });
  await expect(refused).rejects.toMatchObject({ name: 'Refusal', code: 'not_a_member' });
  expect(await world.store.rooms.seq(slug)).toBe(seq);
  await noIntents();
});

test('a room that was never opened is not_found; one whose run is missing says what its operator can do', async () => {
  await expect(world.door.send('no-such-room', join('grok'))).rejects.toMatchObject({ code: 'not_found' });
  const { slug } = await openRow(world.store, 'no-run');
  await expect(world.door.send(slug, join('grok'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('room restart') as string,
  });
});

test('what became of a run is asked again while Temporal does not say, as long as the caller is kept', async () => {
  const { slug } = await openRow(world.store, 'asked-again');
  const away = Object.assign(new Error('away'), { code: 14, details: 'away', metadata: {} });
  let asked = 0;
  const client = await world.connect(world.address, {
    interceptors: { workflow: [{ describe: (input, next) => (asked++ === 0 ? Promise.reject(away) : next(input)) }] },
  });
  const door = createRoomDoor({ client, store: world.store, patienceMs });
  await expect(door.send(slug, join('grok'))).rejects.toMatchObject({ message: expect.stringContaining('room restart') as string });
  expect(asked).toBe(2);
});

test('R12: a room that has ended answers room_closed, to a second opening too', async () => {
  const { slug, owner } = await world.open('ended');
  await world.door.send(slug, { type: 'archive', by: owner });
  await expect(world.door.send(slug, join('late'))).rejects.toMatchObject({ code: 'room_closed' });
  await world.client.workflow.getHandle(roomWorkflowId(slug)).result();
  await expect(world.door.send(slug, join('later'))).rejects.toMatchObject({ code: 'room_closed' });
  await expect(world.door.headSeen(slug, { sha: HEAD, baseSha: BASE, state: 'open', move: null })).resolves.toBeUndefined();
});

test('opening twice at once is opening once', async () => {
  const opened = await Promise.all([world.open('twice'), world.open('twice')]);
  expect(opened[0]).toEqual(opened[1]);
  expect((await world.store.messages.list(opened[0].slug, 0)).messages).toHaveLength(1);
});

test('a head that was seen reaches the room', async () => {
  const { slug } = await world.open('head');
  await world.door.headSeen(slug, { sha: HEAD, baseSha: BASE, state: 'merged', move: null });
  const merged = await world.store.bus.waitFor(
    slug,
    async () => ((await world.store.rooms.state(slug))?.head.state === 'merged' ? true : null),
    { timeoutMs: PATIENCE.timeout },
  );
  expect(merged).toBe(true);
});

test('what the room could not keep does not get in', async () => {
  const { slug } = await world.open('payload');
  await expect(world.door.send(slug, join('a\0b'))).rejects.toMatchObject({ code: 'invalid' });
  await expect(world.door.send(slug, join('a\ud800b'))).rejects.toMatchObject({ code: 'invalid' });
  await expect(world.door.send(slug, join('x'.repeat(200_000)))).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('bytes') as string,
  });
  // A backslash before u0000 is six characters, not a NUL.
  await world.door.send(slug, join('a\\u0000b'));
  expect(await names(slug)).toEqual(['a\\u0000b']);
});

test('S6: a review as large as the rules allow, with long paths, gets in', async () => {
  const { slug } = await world.open('largest');
  await world.door.send(slug, join('grok'));
  await world.door.send(slug, {
    type: 'openRound',
    by: 'ag_grok',
    head: { sha: HEAD, baseSha: BASE, state: 'open', knownSeq: 1, move: null },
  });
  const bodies = Array.from({ length: 200 }, (_, index) => `body ${index}`);
  const [summary, ...ids] = await world.store.texts.stage(slug, 'ag_grok', ['summary', ...bodies]);
  const findings = ids.map((body, index) => ({
    path: `${'deep/'.repeat(50)}${index}.ts`,
    line: index + 1,
    side: 'new' as const,
    severity: 'minor' as const,
    body,
    outsideDiff: false,
  }));
  await world.door.send(slug, { type: 'submitReview', by: 'ag_grok', verdict: 'comment', summary: summary!, findings, references: [] });
  expect((await world.store.rooms.snapshot(slug))!.state.findings).toHaveLength(200);
});

test('an answer lost on the way is asked for again under the same id: done once', async () => {
  const { slug } = await world.open('lost');
  await using gate = await Gate.before(() => `postgresql://${world.address}/`);
  const client = await world.connect(new URL(gate.url).host);
  const door = createRoomDoor({ client, store: world.store, patienceMs });
  const sent = door.send(slug, join('grok'));
  const handle = world.client.workflow.getHandle(roomWorkflowId(slug));
  await expect.poll(async () => (await handle.describe()).historyLength, { interval: 2 }).toBeGreaterThan(4);
  gate.close();
  const others = crew(4).map((name) => door.send(slug, join(name)));
  await expect.poll(async () => (await names(slug)).length).toBeLessThan(5);
  gate.open();
  await Promise.all([sent, ...others]);
  expect(sorted(await names(slug))).toEqual(sorted(['grok', ...crew(4)]));
});

test('continue-as-new under load: no command is lost and none is done twice', async () => {
  const { slug } = await world.open('renewed');
  const handle = world.client.workflow.getHandle(roomWorkflowId(slug));
  // Each time a few more have got in, however fast they do: a room that is renewed without end serves nobody.
  const renewals = async () => {
    for (const joined of [1, 6, 11, 16, 21, 26]) {
      const areIn = async () => ((await names(slug)).length >= joined ? true : null);
      expect(await world.store.bus.waitFor(slug, areIn, { timeoutMs: PATIENCE.timeout })).toBe(true);
      await handle.signal('renew');
    }
  };
  await Promise.all([renewals(), ...crew(30).map((name) => world.door.send(slug, join(name)))]);
  expect(sorted(await names(slug))).toEqual(sorted(crew(30)));
  const joined = (await Promise.all([0, 50].map((after) => world.store.messages.list(slug, after)))).flatMap(({ messages }) => messages);
  expect(joined.filter(({ text }) => text.endsWith(' joined'))).toHaveLength(30);
});

test("events of a sender that died are not skipped: the room brings them itself, then the next caller's", async () => {
  const { slug } = await world.open('predecessor');
  await world.sendAndDie(slug, join('dead'));
  expect(await names(slug)).toEqual([]);
  await world.door.send(slug, join('next'));
  expect(await names(slug)).toEqual(['dead', 'next']);
  const again = await world.sendAndDie(slug, join('dead-too'));
  // A repeat has no events of its own, and still waits for what it repeats.
  await world.door.send(slug, join('dead-too'));
  expect(await world.store.rooms.seq(slug)).toBe(again.seq);
});

test('nobody answers: unavailable in time, and the same call again is safe', async () => {
  const { slug } = await world.open('nobody');
  await world.stopWorker();
  const impatient = createRoomDoor({ client: world.client, store: world.store, patienceMs: 1_500 });
  const refused = impatient.send(slug, join('grok'));
  await expect(refused).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the same call again is safe') as string,
  });
  // It may have been stored: its intent stays for the sweeper.
  expect((await world.store.intents.takeStale(world.db.clock.at + 1)).map((intent) => intent.slug)).toContain(slug);
  await world.startWorker();
  await world.door.send(slug, join('grok'));
  expect(await names(slug)).toEqual(['grok']);
});

test('without the database nothing is sent, and the caller is told so', async () => {
  const { slug } = await world.open('no-database');
  await using gate = await Gate.before(() => world.db.url);
  const door = createRoomDoor({ client: world.client, store: world.db.second(gate.url) });
  gate.close();
  await expect(door.send(slug, join('grok'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('Nothing was stored') as string,
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messagesAfter, wait } from '../../mcp-server/calls/messages.js';
import type { Call } from '../../mcp-server/deps.js';
import { post, request, type Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let room: string;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  world = await startWorld();
  [ann, bob] = [await world.agent('ann'), await world.agent('bob')];
  room = await world.room({ agents: [ann, bob] });
});
afterAll(() => world.stop());

const last = async () => String(await world.store.messages.lastId(room));
const waits = async () => Number(/barista_waits (\d+)/.exec(await (await fetch(`${world.server.url}/metrics`)).text())![1]);
/** A wait under way, and the moment at which the server has begun it. */
async function waiting(who: Person, args: object = {}, signal?: AbortSignal) {
  const before = await waits();
  const answer = post(
    world.server.url,
    who.key,
    request('tools/call', { name: 'wait_for_messages', arguments: { room, after: await last(), timeout_seconds: 45, ...args } }),
    {},
    signal,
  ).then(
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a server really answered is what is tested
    async (response) => ((await response.json()) as any).result.structuredContent,
  );
  answer.catch(() => {}); // awaited by the test, perhaps only after it has failed
  await expect.poll(waits).toBe(before + 1);
  return { answer };
}

test('a message reaches whoever waits; mentions are ids of who is in the room', async () => {
  const { answer } = await waiting(bob);
  const { id } = await world.ok(ann, 'post_message', { room, text: 'Hello @bob, and @nobody; write to ann@example.com.' });
  expect(await answer).toEqual({
    kind: 'messages',
    messages: [
      {
        id,
        at: expect.stringMatching(/Z$/),
        from: ann.id,
        from_name: 'ann',
        kind: 'message',
        text: 'Hello @bob, and @nobody; write to ann@example.com.',
        mentions: [bob.id],
      },
    ],
    last_message_id: id,
  });
});

test('R9: any member may post at any time, with or without a role, whatever the round is doing; nobody else may', async () => {
  const [dan, eve] = [await world.agent('dan'), await world.agent('eve')];
  await world.ok(dan, 'join_room', { room });
  await world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, { roles: { [dan.id]: [] } });
  await world.ok(dan, 'post_message', { room, text: 'before a round' });
  await world.ok(ann, 'open_review_round', { room });
  await world.ok(dan, 'post_message', { room, text: 'in a round' });
  await world.ok(ann, 'post_message', { room, text: 'twice in a row' });
  await world.ok(ann, 'post_message', { room, text: 'and again' });
  expect((await world.refused(eve, 'post_message', { room, text: 'from outside' })).code).toBe('not_a_member');
});

test('reading marks nothing as read: after decides, and without it everything comes from the start', async () => {
  const all = await world.ok(ann, 'wait_for_messages', { room, timeout_seconds: 0 });
  expect(await world.ok(ann, 'wait_for_messages', { room, timeout_seconds: 0 })).toEqual(all);
  expect(all.messages[0]).toMatchObject({ id: '1', kind: 'note', from: null, from_name: 'barista' });
  const rest = await world.ok(ann, 'wait_for_messages', { room, after: '1', timeout_seconds: 0 });
  expect(rest.messages).toEqual(all.messages.slice(1));
});

test('a wait that runs out is an ordinary, empty answer with where to go on', async () => {
  const after = await last();
  expect(await world.ok(ann, 'wait_for_messages', { room, after, timeout_seconds: 0.2 })).toEqual({
    kind: 'timeout',
    messages: [],
    last_message_id: after,
  });
});

test('waits are 25 seconds by default and 45 at most', async () => {
  expect(await world.refused(ann, 'wait_for_messages', { room, timeout_seconds: 46 })).toMatchObject({
    code: 'invalid',
    field: 'timeout_seconds',
  });
  expect(await world.refused(ann, 'wait_for_messages', { room, timeout_seconds: -1 })).toMatchObject({ code: 'invalid' });
  const { result } = (await (await post(world.server.url, ann.key, request('tools/list'))).json()) as {
    result: { tools: { name: string; inputSchema: { properties: Record<string, { maximum?: number; description: string }> } }[] };
  };
  const field = result.tools.find(({ name }) => name === 'wait_for_messages')!.inputSchema.properties['timeout_seconds']!;
  expect(field.maximum).toBe(45);
  expect(field.description).toContain('25');
});

test('a second wait by the same participant ends the first with an empty answer; another participant’s goes on', async () => {
  const after = await last();
  // Begun before: were the first to end by itself only, this one would be over by then.
  const { answer: others } = await waiting(bob);
  const { answer: first } = await waiting(ann);
  const second = post(
    world.server.url,
    ann.key,
    request('tools/call', { name: 'wait_for_messages', arguments: { room, after, timeout_seconds: 45 } }),
  );
  expect(await first).toEqual({ kind: 'timeout', messages: [], last_message_id: after });
  const { id } = await world.ok(bob, 'post_message', { room, text: 'For both.' });
  expect((await others).messages.map((message: { id: string }) => message.id)).toEqual([id]);
  expect(await (await second).json()).toMatchObject({ result: { structuredContent: { kind: 'messages' } } });
  await expect.poll(waits).toBe(0);
});

test('a client that is gone ends its wait, and takes no message with it', async () => {
  const after = await last();
  const cut = new AbortController();
  const { answer } = await waiting(ann, {}, cut.signal);
  cut.abort();
  await expect(answer).rejects.toThrow();
  await expect.poll(waits).toBe(0);
  const { id } = await world.ok(bob, 'post_message', { room, text: 'Did you get this?' });
  const later = await world.ok(ann, 'wait_for_messages', { room, after });
  expect(later.messages.map((message: { id: string }) => message.id)).toEqual([id]);
});

test('a message posted through one server wakes a wait on another', async () => {
  const other = await world.anotherServer();
  const after = await last();
  const answer = world.ok(bob, 'wait_for_messages', { room, after, timeout_seconds: 45 }, other.url);
  const { id } = await world.ok(ann, 'post_message', { room, text: 'Across servers.' });
  expect((await answer).messages.map((message: { id: string }) => message.id)).toEqual([id]);
});

test('S9: the same message again within 2 minutes is the same message; a request id alone decides where there is one', async () => {
  const first = await world.ok(ann, 'post_message', { room, text: 'Once.' });
  expect(await world.ok(ann, 'post_message', { room, text: 'Once.' })).toEqual(first);
  const named = await world.ok(ann, 'post_message', { room, text: 'Once.', request_id: 'r1' });
  expect(named).not.toEqual(first);
  expect(await world.ok(ann, 'post_message', { room, text: 'Another text.', request_id: 'r1' })).toEqual(named);
});

test('after past the newest message is the newest: what comes next wakes whoever waits', async () => {
  const newest = await last();
  const look = await world.ok(bob, 'wait_for_messages', { room, after: '999999', timeout_seconds: 0 });
  expect([look.kind, look.last_message_id]).toEqual(['timeout', newest]);
  const { answer } = await waiting(bob, { after: '999999' });
  const { id } = await world.ok(ann, 'post_message', { room, text: 'still here' });
  expect((await answer).messages.map((message: { id: string }) => message.id)).toEqual([id]);
});

test('after that is no id of a message is refused by name', async () => {
  for (const after of ['latest', '-1', '1e3', '12345678901234567890']) {
    expect(await world.refused(ann, 'wait_for_messages', { room, after })).toMatchObject({ code: 'invalid', field: 'after' });
  }
});

test('an answer holds at most 50 messages and says that there are more', async () => {
  const from = await last();
  for (let i = 0; i < 55; i++) await world.store.messages.post(room, { from: ann, text: `message ${i}`, mentions: [] });
  const page = await world.ok(bob, 'wait_for_messages', { room, after: from });
  expect(page.messages).toHaveLength(50);
  expect(page.more).toBe(true);
  const rest = await world.ok(bob, 'wait_for_messages', { room, after: page.last_message_id });
  expect(rest.messages).toHaveLength(5);
  expect(rest.more).toBeUndefined();
});

test('a look at what there is, which waits for nothing, ends no wait', async () => {
  const { answer } = await waiting(bob);
  expect(await world.ok(bob, 'wait_for_messages', { room, after: await last(), timeout_seconds: 0 })).toMatchObject({ kind: 'timeout' });
  const { id } = await world.ok(ann, 'post_message', { room, text: 'still there?' });
  expect(await answer).toMatchObject({ kind: 'messages', last_message_id: id });
});

test('whoever has left waits for nothing: its wait ends with kind done', async () => {
  const guest = await world.agent('guest');
  await world.ok(guest, 'join_room', { room });
  const { answer } = await waiting(guest);
  await world.ok(guest, 'leave_room', { room });
  let found = await answer;
  // Its own leaving may be a note it still hears.
  if (found.kind === 'messages') {
    expect(await world.refused(guest, 'wait_for_messages', { room, after: found.last_message_id })).toMatchObject({ code: 'not_a_member' });
    found = { kind: 'done' };
  }
  expect(found).toMatchObject({ kind: 'done' });
});

describe('server-sent events', () => {
  interface Stream {
    next(): Promise<{ id?: string; event?: string; data?: string }>;
    close(): void;
  }
  async function open(path: string, key: string, headers: Record<string, string> = {}): Promise<Stream> {
    const cut = new AbortController();
    const response = await fetch(`${world.server.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      signal: cut.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    return {
      async next() {
        for (;;) {
          const end = buffer.indexOf('\n\n');
          if (end >= 0) {
            const block = buffer.slice(0, end);
            buffer = buffer.slice(end + 2);
            const fields = Object.fromEntries(
              block.split('\n').flatMap((line) => (line.startsWith(':') ? [] : [line.split(/: (.*)/s).slice(0, 2)])),
            );
            if (Object.keys(fields).length > 0) return fields;
            continue;
          }
          const { value, done } = await reader.read();
          if (done) throw new Error('the stream ended');
          buffer += value;
        }
      },
      close: () => cut.abort(),
    };
  }

  test('each message is an event with its id; Last-Event-ID goes on after it, none twice and none missed', async () => {
    const from = await last();
    const stream = await open(`/rooms/${room}/events?after=${from}`, bob.key);
    const first = await world.ok(ann, 'post_message', { room, text: 'one' });
    const event = await stream.next();
    expect(event).toMatchObject({ id: first.id, event: 'message' });
    expect(JSON.parse(event.data!)).toMatchObject({ id: first.id, text: 'one', from: ann.id });
    stream.close();
    const second = await world.ok(ann, 'post_message', { room, text: 'two' });
    const again = await open(`/rooms/${room}/events`, bob.key, { 'last-event-id': event.id! });
    const third = await world.ok(ann, 'post_message', { room, text: 'three' });
    expect([(await again.next()).id, (await again.next()).id]).toEqual([second.id, third.id]);
    again.close();
  });

  test('an id past the newest message is the newest here too', async () => {
    const stream = await open(`/rooms/${room}/events?after=999999`, bob.key);
    const { id } = await world.ok(ann, 'post_message', { room, text: 'heard all the same' });
    expect((await stream.next()).id).toBe(id);
    stream.close();
  });

  test('it ends with an event done when the room has ended', async () => {
    const other = await world.room({ agents: [ann] });
    const stream = await open(`/rooms/${other}/events`, ann.key);
    await world.rest(world.owner, 'POST', `/rooms/${other}/archive`, {});
    let event = await stream.next();
    while (event.event !== 'done') event = await stream.next();
    await expect(stream.next()).rejects.toThrow('the stream ended');
  });
});

describe('R12: what a room says as it ends comes before done, also where it ends while the messages are read', () => {
  /** A room, its newest message, and a call of @ann under which it is archived once its messages have been read. */
  async function ending() {
    const slug = await world.room({ agents: [ann] });
    const { store } = world;
    const endsNow = async () => {
      await world.rest(world.owner, 'POST', `/rooms/${slug}/archive`, {});
      return store.rooms.state(slug);
    };
    const caller = { kind: 'agent', id: ann.id, name: ann.name, ownerId: world.owner.id } as const;
    const reads = [store.rooms.state, endsNow];
    const slow = { ...store, rooms: { ...store.rooms, state: (room: string) => (reads.shift() ?? store.rooms.state)(room) } };
    const call = { deps: { store: slow, now: () => 0 }, caller } as unknown as Call;
    return { slug, newest: String(await store.messages.lastId(slug)), call };
  }

  test('to whoever reads the events', async () => {
    const { slug, newest, call } = await ending();
    const source = await messagesAfter(slug, newest, 'after', call);
    expect(await source.next()).toMatchObject([{ data: { text: 'the room was archived' } }]);
    expect(await source.next()).toBe('done');
  });

  test('to whoever waits', async () => {
    const { slug, newest, call } = await ending();
    const look = (after: string) => wait({ room: slug, after, timeoutMs: 0 }, call);
    const heard = await look(newest);
    expect(heard).toMatchObject({ kind: 'messages', messages: [{ text: 'the room was archived' }] });
    expect(await look(heard.last_message_id)).toMatchObject({ kind: 'done', messages: [] });
  });
});

test('stopping the server ends waits with an ordinary answer', async () => {
  const other = await world.anotherServer();
  const after = await last();
  const answer = world.ok(bob, 'wait_for_messages', { room, after, timeout_seconds: 45 }, other.url);
  await expect.poll(async () => (await (await fetch(`${other.url}/metrics`)).text()).includes('barista_waits 1')).toBe(true);
  await other.stop();
  expect(await answer).toEqual({ kind: 'timeout', messages: [], last_message_id: after });
});

test('V2: a reviewer who comes later is not told by an old note what its own review must not know yet', async () => {
  const [ada, ben, cy] = [await world.agent('ada'), await world.agent('ben'), await world.agent('cy')];
  const duel = await world.room({ recipe: 'build_duel', agents: [ada, ben] });
  await world.ok(ben, 'open_review_round', { room: duel });
  const finding = { path: 'src/a.ts', line: 1, severity: 'major', body: 'broken' };
  await world.ok(ben, 'submit_review', { room: duel, verdict: 'request_changes', summary: 'no', findings: [finding] });
  await world.ok(ada, 'rebut_finding', { room: duel, finding_id: 'f1', answer: 'reject', reason: 'it is fine' });
  await world.ok(cy, 'join_room', { room: duel });
  const told = async (who: Person) => {
    const { messages } = await world.ok(who, 'wait_for_messages', { room: duel, timeout_seconds: 0 });
    return messages.find((message: { event?: string }) => message.event === 'finding_answered').text;
  };
  await world.rest(world.owner, 'PUT', `/rooms/${duel}/review/roles`, { roles: { [cy.id]: ['reviewer'] } });
  expect(await told(ben)).toBe('@ada rejected finding f1 (src/a.ts:1): it is fine');
  expect(await told(cy)).toBe('@ada answered finding f1');
  await world.ok(cy, 'submit_review', { room: duel, verdict: 'approve', summary: 'yes', findings: [] });
  expect(await told(cy)).toBe('@ada rejected finding f1 (src/a.ts:1): it is fine');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventSourceMessage } from 'eventsource-parser';
import { startEdge, addAgent, addPerson, type Edge, type Person } from '../support/edge.js';
import { ProjectedRoom } from '../support/store.js';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

/** A room of olga's that needs her: one alert each time. */
async function alert(name: string): Promise<ProjectedRoom> {
  const room = await ProjectedRoom.open(edge.store, name, { barista: true });
  return room.do((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
}

class Stream implements AsyncDisposable {
  readonly #cut = new AbortController();
  #reader: ReadableStreamDefaultReader<EventSourceMessage> | undefined;

  async open(who: Person, headers: Record<string, string> = {}, query = ''): Promise<Response> {
    const response = await fetch(`${edge.server.url}/api/v1/alerts${query}`, {
      headers: { authorization: `Bearer ${who.key}`, ...headers },
      signal: this.#cut.signal,
    });
    if (response.ok)
      this.#reader = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
    return response;
  }

  async next(): Promise<EventSourceMessage> {
    const { value, done } = await this.#reader!.read();
    if (done) throw new Error('the stream ended');
    return value;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#cut.abort();
    return Promise.resolve();
  }
}

async function opened(headers: Record<string, string> = {}, query = '', who = edge.owner): Promise<Stream> {
  const stream = new Stream();
  const response = await stream.open(who, headers, query);
  expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({ status: 200, type: 'text/event-stream' });
  return stream;
}

test('B29: without an id the stream says where it begins, then what comes from now on', async () => {
  await using empty = await opened();
  expect(await empty.next()).toMatchObject({ event: 'ready', id: '0' });
  const room = await alert('first');
  const first = await empty.next();
  expect(first).toMatchObject({ event: 'alert' });
  const told = JSON.parse(first.data);
  expect(told).toEqual({
    id: first.id,
    kind: 'no_review',
    room: room.slug,
    round: 1,
    text: 'Round 1 has no review: whoever it waits for has been idle for 30 minutes. It needs a reviewer.',
    url: `${edge.server.url}/rooms/${room.slug}`,
    at: new Date(room.room.now).toISOString(),
  });
  await using later = await opened();
  expect(await later.next()).toMatchObject({ event: 'ready', id: first.id });
});

test('B29: Last-Event-ID goes on after it, none twice and none missed; 0 is the beginning', async () => {
  await using before = await opened();
  const { id: from } = await before.next();
  const missed = [await alert('second'), await alert('third')];
  await using again = await opened({ 'last-event-id': from! });
  await again.next();
  const live = await alert('fourth');
  const rooms = [await again.next(), await again.next(), await again.next()].map(({ data }) => JSON.parse(data).room);
  expect(rooms).toEqual([...missed, live].map(({ slug }) => slug));
  await using all = await opened({}, '?after=0');
  expect(await all.next()).toMatchObject({ event: 'ready', id: '0' });
  expect(JSON.parse((await all.next()).data).room).toMatch(/^first-/);
});

test("B29: it is for people, of their own rooms; an id that is not the caller's is refused by its field", async () => {
  const room = await alert('mine');
  const oscar = await addPerson(edge.store, 'oscar');
  const agent = await addAgent(edge.store, edge.owner.id, 'ana');
  expect((await new Stream().open(agent)).status).toBe(403);
  await using his = await opened({}, '?after=0', oscar);
  expect(await his.next()).toMatchObject({ event: 'ready', id: '0' });
  const mine = (await edge.store.alerts.list(edge.owner.id, 0)).find((one) => one.room === room.slug)!;
  for (const [headers, query, field] of [
    [{ 'last-event-id': mine.id }, '', 'last-event-id'],
    [{}, `?after=${mine.id}`, 'after'],
    [{}, '?after=-1', 'after'],
  ] as const) {
    const refused = await new Stream().open(oscar, headers, query);
    expect({ status: refused.status, problem: await refused.json() }).toMatchObject({ status: 400, problem: { code: 'invalid', field } });
  }
});

test('B29: the link of an alert says how the room is read, and the same whether or not there is one', async () => {
  const { url } = edge.server;
  const room = await alert('linked');
  const texts: string[] = [];
  for (const path of ['/', `/rooms/${room.slug}`, '/rooms/nowhere', '/rooms/%00', '/rooms/%E2%82%AC']) {
    const answer = await fetch(`${url}${path}`);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/plain; charset=UTF-8']);
    texts.push(await answer.text());
  }
  expect(new Set(texts).size).toBe(1);
  for (const way of ['barista room show SLUG', 'barista draft show SLUG', '/openapi.json', '/mcp']) expect(texts[0]).toContain(way);
  expect((await fetch(`${url}/rooms/${room.slug}`, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  // Counted as one address, however many rooms are asked for.
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/barista_http_requests_total\{[^}]*"\/rooms\/:slug"[^}]*\}/);
  expect(metrics).not.toContain('nowhere');
});

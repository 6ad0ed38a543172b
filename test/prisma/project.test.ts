import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProjectionConflict, type Store } from '../../prisma/store.js';
import { textId } from '../../prisma/text-ids.js';
import type { RoomState } from '../../workflows/room/state.js';
import { MINUTE, OWNER, idOf } from '../support/room.js';
import { ProjectedRoom, openRow, testStore, type TestStore } from '../support/store.js';

let db: TestStore;
beforeAll(async () => {
  db = await testStore();
});
afterAll(() => db[Symbol.asyncDispose]());

const stored = async (room: ProjectedRoom): Promise<RoomState | null> => db.store.rooms.state(room.slug);
const notes = async (store: Store, slug: string): Promise<string[]> =>
  (await store.messages.list(slug, 0)).messages.map(({ text }) => text);

test('the read model is the state that the workflow holds, event by event', async () => {
  const room = await ProjectedRoom.open(db.store, 'same');
  expect(await stored(room)).toEqual(room.room.state);
  await room.do((r) => r.join('grok', 'opus'));
  await room.do((r) =>
    r
      .open('grok')
      .submit('grok', { findings: [{ body: 'off by one' }] })
      .submit('opus'),
  );
  expect(await stored(room)).toEqual(room.room.state);
  expect(await db.store.rooms.get(room.slug)).toMatchObject({ seq: room.room.state.seq, round: 1, recipe: 'panel', endedAt: null });
  expect(await db.store.rooms.members(room.slug)).toMatchObject([
    { id: OWNER, kind: 'person', roles: [] },
    { id: 'ag_grok', kind: 'agent', roles: ['lead', 'reviewer'] },
    { id: 'ag_opus', roles: ['reviewer'] },
  ]);
  expect((await db.store.rooms.ofParticipant('ag_opus')).map(({ slug, roles }) => [slug, roles])).toEqual([[room.slug, ['reviewer']]]);
});

test('O4: each event posts its note once, in order, at its own time, with ids from the counter of the room', async () => {
  const room = await ProjectedRoom.open(db.store, 'notes');
  await room.do((r) => r.join('grok').after(3).open('grok').submit('grok', { summary: 'looks good' }).close('grok'));
  const { messages } = await db.store.messages.list(room.slug, 0);
  expect(messages.slice(1).map(({ text }) => text)).toEqual(room.room.notes.map(({ text }) => text));
  expect(messages.map(({ id }) => id)).toEqual(messages.map((_, index) => index + 1));
  expect(messages.at(-1)).toMatchObject({ from: null, kind: 'note', event: 'round_closed', at: room.room.now });
  expect(messages.at(-1)!.text).toContain('looks good');
});

test('projecting again, whole or in part, changes nothing', async () => {
  const room = await ProjectedRoom.open(db.store, 'again');
  const outbox = await room.act((r) => r.join('grok').open('grok'));
  expect(await db.store.project(room.slug, { from: 1, events: outbox.events.slice(0, 2) })).toEqual({ kind: 'projected', seq: 3 });
  expect(await db.store.project(room.slug, { from: 1, events: outbox.events.slice(0, 1) })).toEqual({ kind: 'already', seq: 3 });
  expect(await db.store.project(room.slug, outbox)).toEqual({ kind: 'projected', seq: 4 });
  expect(await db.store.project(room.slug, { from: 4, events: [] })).toEqual({ kind: 'already', seq: 4 });
  expect(await stored(room)).toEqual(room.room.state);
  expect(await notes(db.store, room.slug)).toHaveLength(4);
});

test('the order of keys in an event does not matter, its content does: projection_conflict', async () => {
  const room = await ProjectedRoom.open(db.store, 'conflict');
  const { events } = await room.act((r) => r.join('grok'));
  await room.flush();
  const [joined] = events;
  const turned = Object.fromEntries(Object.entries(joined!).reverse()) as typeof joined;
  expect(await db.store.project(room.slug, { from: 1, events: [turned!] })).toMatchObject({ kind: 'already' });
  const before = await stored(room);
  const other = db.store.project(room.slug, { from: 1, events: [{ ...joined!, at: joined!.at + 1 }, ...events.slice(1)] });
  await expect(other).rejects.toThrow(ProjectionConflict);
  await expect(other).rejects.toMatchObject({ name: 'ProjectionConflict', seq: 2, slug: room.slug });
  // A conflict among old events keeps new ones out too.
  await expect(db.store.project(room.slug, { from: 1, events: [events[1]!, events[0]!, events[1]!] })).rejects.toThrow(
    'projection_conflict',
  );
  expect(await stored(room)).toEqual(before);
});

test('events after a gap are refused as behind, and nothing of them is written', async () => {
  const room = await ProjectedRoom.open(db.store, 'gap');
  const { events } = await room.act((r) => r.join('grok'));
  await db.store.intents.add({ id: 'gap-intent', slug: room.slug });
  expect(await db.store.project(room.slug, { from: 2, events: events.slice(1) }, { intent: 'gap-intent' })).toEqual({
    kind: 'behind',
    seq: 1,
  });
  expect(await notes(db.store, room.slug)).toHaveLength(1);
  expect(await db.store.intents.takeStale(db.clock.at + 1)).toContainEqual({ id: 'gap-intent', slug: room.slug });
});

test('two servers and the projector at once: every event once, whoever brings it', async () => {
  const room = await ProjectedRoom.open(db.store, 'race');
  const other = db.second();
  const outbox = await room.act((r) => r.join('grok', 'opus').open('grok').submit('opus').submit('grok').close('grok'));
  const parts = outbox.events.map((event, index) => ({ from: 1 + index, events: [event] }));
  // Each server brings its own Update's events, again and again until they are in; the projector brings all of them.
  const bring = async (store: Store, part: (typeof parts)[number]): Promise<void> => {
    while ((await store.project(room.slug, part)).kind === 'behind');
  };
  await Promise.all([...parts.map((part, index) => bring(index % 2 ? db.store : other, part)), other.project(room.slug, outbox)]);
  expect(await stored(room)).toEqual(room.room.state);
  expect((await notes(db.store, room.slug)).slice(1)).toEqual(room.room.notes.map(({ text }) => text));
});

test('notes and messages share one order of ids while both are written', async () => {
  const room = await ProjectedRoom.open(db.store, 'counter');
  const other = db.second();
  const { events } = await room.act((r) => r.join('a', 'b', 'c', 'd'));
  const posts = Array.from({ length: 12 }, (_, index) =>
    other.messages.post(room.slug, { from: { id: OWNER, name: 'olga' }, text: `message ${index}`, mentions: [] }),
  );
  await Promise.all([...posts, db.store.project(room.slug, { from: 1, events })]);
  const { messages } = await db.store.messages.list(room.slug, 0);
  expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 13 + events.length }, (_, index) => index + 1));
});

test('DESIGN 17: staged texts are read only once an event names them', async () => {
  const room = await ProjectedRoom.open(db.store, 'staged');
  await room.do((r) => r.join('grok').open('grok'));
  await room.act((r) => r.submit('grok', { summary: 'the summary', findings: [{ body: 'the body' }] }));
  const ids = [textId(room.slug, 'ag_grok', 'the summary'), textId(room.slug, 'ag_grok', 'the body')];
  expect((await db.store.texts.read(room.slug, ids)).size).toBe(0);
  await room.flush();
  expect([...(await db.store.texts.read(room.slug, ids)).values()].sort()).toEqual(['the body', 'the summary']);
});

test('the intent goes in the transaction that projects its events', async () => {
  const room = await ProjectedRoom.open(db.store, 'intent');
  const outbox = await room.act((r) => r.join('grok'));
  await db.store.intents.add({ id: 'one', slug: room.slug });
  await db.store.project(room.slug, outbox, { intent: 'one' });
  expect(await db.store.intents.takeStale(db.clock.at + 1)).not.toContainEqual({ id: 'one', slug: room.slug });
});

test('V1: a round is kept whole when the next one opens', async () => {
  const room = await ProjectedRoom.open(db.store, 'record');
  await room.do((r) =>
    r
      .join('grok', 'opus')
      .open('grok')
      .submit('grok', { findings: [{ body: 'one' }] })
      .submit('opus', { summary: 'fine' }),
  );
  await room.do((r) => r.close('grok').push('b2').open('grok'));
  const { state, records, texts } = (await db.store.rooms.snapshot(room.slug, { records: 'all' }))!;
  expect(state.round).toMatchObject({ number: 2, reviews: [], carried: ['f1'] });
  expect([...records.keys()]).toEqual([1]);
  expect(records.get(1)!.round).toMatchObject({ number: 1, reviews: [{ by: 'ag_grok' }, { by: 'ag_opus' }] });
  expect(records.get(1)!.round!.closed).not.toBeNull();
  expect([...texts.values()]).toEqual(expect.arrayContaining(['one', 'fine']));
  expect((await db.store.rooms.snapshot(room.slug, { records: [7] }))!.records.size).toBe(0);
  const chosen = await db.store.rooms.snapshot(room.slug, { records: [1], texts: (_state, found) => [found.get(1)!.findings[0]!.body] });
  expect([...chosen!.texts.values()]).toEqual(['one']);
});

test('R6: a deleted agent leaves earlier rounds too, and its words go with it; others stay', async () => {
  const room = await ProjectedRoom.open(db.store, 'deleted');
  await room.do((r) => r.join('grok', 'opus').open('grok').submit('grok', { summary: 'stays' }));
  await room.do((r) => r.submit('opus', { summary: 'goes at once', findings: [{ body: 'replaced' }] }));
  await room.do((r) => r.submit('opus', { summary: 'goes', findings: [{ body: 'goes too' }] }));
  await room.do((r) => r.close('grok').push('b2').open('grok').submit('opus', { summary: 'goes as well' }).delete('opus'));
  const { state, records } = (await db.store.rooms.snapshot(room.slug, { records: 'all' }))!;
  expect(state.findings).toEqual([]);
  expect(records.get(1)!.round!.reviews.map(({ by }) => by)).toEqual(['ag_grok']);
  expect(records.get(1)!.findings).toEqual([]);
  const words = ['goes at once', 'replaced', 'goes', 'goes too', 'goes as well'].map((text) => textId(room.slug, 'ag_opus', text));
  expect((await db.store.texts.read(room.slug, words)).size).toBe(0);
  expect((await db.store.texts.read(room.slug, [textId(room.slug, 'ag_grok', 'stays')])).size).toBe(1);
  expect((await db.store.rooms.members(room.slug)).map(({ id }) => id)).toEqual([OWNER, 'ag_grok']);
  expect(await notes(db.store, room.slug)).toContainEqual(expect.stringContaining('@opus was deleted'));
});

test('R6: text of an unposted draft stays, even where the drafter was deleted and had quoted its own finding', async () => {
  const room = await ProjectedRoom.open(db.store, 'quoted');
  await room.do((r) =>
    r
      .join('grok', 'opus')
      .open('grok')
      .submit('grok', { findings: [{ body: 'word for word' }] })
      .submit('opus')
      .close('grok'),
  );
  await room.do((r) => r.draft('grok', { findings: [{ body: 'word for word', findings: ['f1'] }] }).delete('grok'));
  const { state, texts } = (await db.store.rooms.snapshot(room.slug))!;
  expect(state.draft!.findings[0]!.findings).toEqual([]);
  expect(texts.get(state.draft!.findings[0]!.body)).toBe('word for word');
});

test('R12: the end of a room is in its row, and its pull request can have a new one', async () => {
  const room = await ProjectedRoom.open(db.store, 'ended');
  await room.do((r) => r.after(5).run({ type: 'archive', by: OWNER }));
  expect(await db.store.rooms.get(room.slug)).toMatchObject({ endedAt: room.room.now });
  const next = await openRow(db.store, 'ended');
  expect(next.slug).not.toBe(room.slug);
});

test('S6: a review of 200 findings is projected in one go', async () => {
  const room = await ProjectedRoom.open(db.store, 'large');
  await room.do((r) => r.join('grok').open('grok'));
  const findings = Array.from({ length: 200 }, (_, index) => ({ path: `src/${index}.ts`, body: `finding ${index} ${'x'.repeat(500)}` }));
  const bodies = findings.map(({ body }) => body);
  expect(await db.store.texts.stage(room.slug, 'ag_grok', bodies)).toEqual(bodies.map((body) => textId(room.slug, 'ag_grok', body)));
  await db.store.texts.stage(room.slug, 'ag_grok', ['all of them']);
  const before = room.room.events.length;
  room.room.submit('grok', { summary: 'all of them', findings });
  await db.store.project(room.slug, { from: before, events: room.room.events.slice(before) });
  expect((await db.store.rooms.snapshot(room.slug))!.texts.size).toBe(201);
});

test('names, paths and notes with what PostgreSQL cannot hold are stored all the same', async () => {
  const { slug } = await openRow(db.store, 'nul');
  const [id] = await db.store.texts.stage(slug, 'ag_x', ['a\0b\ud800c']);
  expect(id).toBe(textId(slug, 'ag_x', 'a\ufffdb\ufffdc'));
  await db.store.messages.post(slug, { from: { id: OWNER, name: 'olga' }, text: 'x\0y', mentions: [] });
  expect(await notes(db.store, slug)).toEqual(['x\ufffdy']);
});

test('a room without a row cannot be projected', async () => {
  await expect(db.store.project('no-such-room', { from: 0, events: [] })).rejects.toThrow('no-such-room');
});

test('B4: an hour later the same events are still the same (no clock but the event)', async () => {
  const room = await ProjectedRoom.open(db.store, 'later');
  const outbox = await room.act((r) => r.join('grok'));
  db.clock.at += 60 * MINUTE;
  await room.flush();
  expect(await db.store.project(room.slug, outbox)).toMatchObject({ kind: 'already' });
  const joined = (await db.store.messages.list(room.slug, 0)).messages.find(({ text }) => text.includes('@grok joined'));
  expect(joined!.at).toBe(outbox.events[0]!.at);
  expect((await db.store.rooms.members(room.slug)).at(-1)!.id).toBe(idOf('grok'));
});

test('V2: lists show phase, chips and whom a room waits for, and nothing of a hidden review', async () => {
  const room = await ProjectedRoom.open(db.store, 'listing', { recipe: 'build_duel', barista: true });
  const row = async () => {
    const found = await db.store.rooms.get(room.slug);
    return { round: found!.round, ...(await db.store.rooms.listings([found!])).get(room.slug) };
  };
  expect(await row()).toMatchObject({ phase: 'waiting_for_crew', chips: [], waitingOn: [] });
  await room.do((r) => r.join('author', 'lead', 'other').baristaOpens());
  expect(await row()).toMatchObject({ phase: 'reviewing', round: 1, waitingOn: ['ag_lead'] });
  // A dispute inside the open round: the one who has not reviewed could read it off a chip.
  await room.do((r) => r.roles({ other: ['reviewer'] }).submit('lead', { findings: [{ severity: 'blocker' }] }));
  await room.do((r) =>
    r.answer('author', 'f1', 'reject', 'no').resolve('lead', 'f1', 'upheld').answer('author', 'f1', 'reject', 'still no'),
  );
  expect(await row()).toMatchObject({ phase: 'reviewing', chips: [], waitingOn: ['ag_other'] });
  await room.do((r) => r.submit('other').baristaCloses());
  expect(await row()).toMatchObject({ phase: 'waiting_for_push', chips: ['dispute'], waitingOn: ['us_olga'] });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { PAGE } from '../../prisma/messages.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { ProjectedRoom, openRow, pullRequestOf, testStore, type TestStore } from '../support/store.js';

let db: TestStore;
beforeAll(async () => {
  db = await testStore();
});
afterAll(() => db[Symbol.asyncDispose]());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const grok = { id: 'ag_grok', name: 'grok' };

test('R8: two servers opening the same pull request at once get one room; another is another', async () => {
  const owner = await db.store.accounts.addUser('r8');
  const room = { ownerId: owner.id, pullRequest: pullRequestOf('r8'), title: 'R8', recipe: 'panel' as const, another: false };
  const other = db.second();
  const opened = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 ? other : db.store).rooms.open(room)));
  expect(new Set(opened.map(({ room: { slug } }) => slug)).size).toBe(1);
  expect(opened.filter(({ created }) => created)).toHaveLength(1);
  const second = await db.store.rooms.open({ ...room, another: true });
  expect(second.created).toBe(true);
  // Asked for without `another`, the first is meant.
  expect((await db.store.rooms.open(room)).room.slug).toBe(opened[0]!.room.slug);
  expect((await db.store.rooms.ofPullRequest(room.pullRequest.key)).map(({ slug }) => slug).sort()).toEqual(
    [opened[0]!.room.slug, second.room.slug].sort(),
  );
  expect((await db.store.rooms.ofOwner(owner.id)).length).toBe(2);
  const stranger = await db.store.accounts.addUser('r8-stranger');
  expect((await db.store.rooms.open({ ...room, ownerId: stranger.id })).created).toBe(true);
});

test('living rooms are given page by page, and ended ones are not', async () => {
  const ended = await ProjectedRoom.open(db.store, 'page-ended');
  await ended.do((r) => r.run({ type: 'archive', by: 'us_olga' }));
  const mine = [(await openRow(db.store, 'page-1')).slug, (await openRow(db.store, 'page-2')).slug];
  const found: string[] = [];
  for (let after: string | null = null; ; after = found.at(-1)!) {
    const page = await db.store.rooms.living(after, 2);
    found.push(...page.map(({ slug }) => slug));
    if (page.length < 2) break;
  }
  expect(found).toEqual([...found].sort());
  expect(found).toEqual(expect.arrayContaining(mine));
  expect(found).not.toContain(ended.slug);
});

test('what does not exist is null', async () => {
  const { rooms, messages } = db.store;
  expect([
    await rooms.get('none'),
    await rooms.seq('none'),
    await rooms.state('none'),
    await rooms.snapshot('none'),
    await messages.lastId('none'),
  ]).toEqual([null, null, null, null, null]);
  const { slug } = await openRow(db.store, 'not-yet-projected');
  expect([await rooms.seq(slug), await rooms.state(slug), await rooms.snapshot(slug)]).toEqual([0, null, null]);
});

test('DESIGN 3: a snapshot is one moment, whatever is projected while it is read', async () => {
  const room = await ProjectedRoom.open(db.store, 'snapshot');
  await room.do((r) =>
    r
      .join('grok')
      .open('grok')
      .submit('grok', { summary: 'goes' })
      .close('grok')
      .push('b2')
      .open('grok')
      .submit('grok', { summary: 'new' }),
  );
  const { slug } = room;
  const outbox = await room.act((r) => r.delete('grok'));
  const reads = Promise.all(Array.from({ length: 20 }, () => db.second().rooms.snapshot(slug, { records: 'all' })));
  await Promise.all([db.store.project(slug, outbox), reads]);
  for (const snapshot of await reads) {
    const gone = snapshot!.seq === room.room.state.seq;
    expect(snapshot!.state.seq).toBe(snapshot!.seq);
    expect(snapshot!.records.get(1)!.round!.reviews).toHaveLength(gone ? 0 : 1);
    expect(snapshot!.texts.size).toBe(gone ? 0 : 2);
  }
});

test('S9: the same message by the same caller within 2 minutes is the first one; a request id alone decides where there is one', async () => {
  const { slug } = await openRow(db.store, 's9');
  const post = (text: string, requestId?: string, from = grok) =>
    db.store.messages.post(slug, { from, text, mentions: [], ...(requestId && { requestId }) });
  expect(await post('hello')).toEqual({ id: 1, repeated: false });
  db.clock.at += 2 * MINUTE;
  expect(await post('hello')).toEqual({ id: 1, repeated: true });
  db.clock.at += 1;
  expect(await post('hello')).toEqual({ id: 2, repeated: false });
  expect(await post('hello', undefined, { id: 'ag_opus', name: 'opus' })).toEqual({ id: 3, repeated: false });
  expect(await post('other')).toMatchObject({ id: 4 });
  expect(await post('hello')).toEqual({ id: 5, repeated: false }); // not its last one any more
  expect(await post('hello', 'req-1')).toEqual({ id: 6, repeated: false });
  db.clock.at += 60 * MINUTE;
  expect(await post('changed', 'req-1')).toEqual({ id: 6, repeated: true });
  expect(await post('hello', 'req-1', { id: 'ag_opus', name: 'opus' })).toMatchObject({ repeated: false });
});

test('S9: the same message sent twice at once, through two servers, is one', async () => {
  const { slug } = await openRow(db.store, 's9-race');
  const other = db.second();
  const posts = await Promise.all(
    [0, 1, 2, 3].map((index) => (index % 2 ? other : db.store).messages.post(slug, { from: grok, text: 'twice', mentions: [] })),
  );
  expect(posts.map(({ id }) => id)).toEqual([1, 1, 1, 1]);
  expect(posts.filter(({ repeated }) => !repeated)).toHaveLength(1);
  expect(await db.store.messages.lastId(slug)).toBe(1);
});

test('R12: nothing is posted in a room that has ended, but a repeat is answered', async () => {
  const room = await ProjectedRoom.open(db.store, 'r12-post');
  const { id } = await db.store.messages.post(room.slug, { from: grok, text: 'last words', mentions: [] });
  await room.do((r) => r.run({ type: 'archive', by: 'us_olga' }));
  expect(await db.store.messages.post(room.slug, { from: grok, text: 'last words', mentions: [] })).toEqual({ id, repeated: true });
  await expect(db.store.messages.post(room.slug, { from: grok, text: 'more', mentions: [] })).rejects.toMatchObject({
    code: 'room_closed',
  });
  await expect(db.store.messages.post('none', { from: grok, text: 'more', mentions: [] })).rejects.toMatchObject({ code: 'not_found' });
});

test('a page of messages holds 50 and 40 000 characters at most, and always goes on', async () => {
  const { slug } = await openRow(db.store, 'pages');
  const post = async (text: string): Promise<void> =>
    void (await db.store.messages.post(slug, { from: grok, text, mentions: ['us_olga'] }));
  for (let index = 1; index <= PAGE.messages + 1; index++) await post(`message ${index}`);
  const first = await db.store.messages.list(slug, 0);
  expect([first.messages.length, first.more, first.lastMessageId]).toEqual([50, true, 50]);
  expect(first.messages[0]).toEqual({
    id: 1,
    at: db.clock.at,
    from: 'ag_grok',
    fromName: 'grok',
    kind: 'message',
    text: 'message 1',
    mentions: ['us_olga'],
    event: null,
    veil: null,
  });
  const second = await db.store.messages.list(slug, first.lastMessageId);
  expect([second.messages.length, second.more, second.lastMessageId]).toEqual([1, false, 51]);
  expect(await db.store.messages.list(slug, 51)).toEqual({ messages: [], more: false, lastMessageId: 51 });
  await post('a'.repeat(PAGE.characters + 1)); // larger than a page: alone on one
  await post('b'.repeat(PAGE.characters));
  await post('c');
  expect((await db.store.messages.list(slug, 51)).lastMessageId).toBe(52);
  expect(await db.store.messages.list(slug, 52)).toMatchObject({ more: true, lastMessageId: 53 });
  expect(await db.store.messages.list(slug, 53)).toMatchObject({ more: false, lastMessageId: 54 });
});

test('B4: calls within the working window are one span, a later one starts another, and none goes backwards', async () => {
  const { slug } = await openRow(db.store, 'spans');
  const at = db.clock.at;
  const call = (minutes: number, by = 'ag_grok', round = 1) =>
    db.store.spans.recordCall(slug, round, by, at + minutes * MINUTE, 5 * MINUTE);
  const spans = async (round = 1) =>
    (await db.store.spans.spans(slug, round)).map(({ participant, from, last }) => [
      participant,
      (from - at) / MINUTE,
      (last - at) / MINUTE,
    ]);
  await call(0);
  await call(5);
  await call(3); // told late
  expect(await spans()).toEqual([['ag_grok', 0, 5]]);
  await call(10.001);
  await call(20);
  await call(12);
  await call(-1);
  expect(await spans()).toEqual([
    ['ag_grok', -1, 5],
    ['ag_grok', 10.001, 12],
    ['ag_grok', 20, 20],
  ]);
  await call(20, 'ag_opus');
  await call(20, 'ag_grok', 2);
  expect(await spans()).toHaveLength(4);
  expect(await spans(2)).toEqual([['ag_grok', 20, 20]]);
});

test('B4: two servers recording calls of one participant at once lose none', async () => {
  const { slug } = await openRow(db.store, 'spans-race');
  const other = db.second();
  const at = db.clock.at;
  await Promise.all(
    Array.from({ length: 30 }, (_, minute) =>
      (minute % 2 ? other : db.store).spans.recordCall(slug, 1, 'ag_grok', at + minute * MINUTE, 5 * MINUTE),
    ),
  );
  const spans = await db.store.spans.spans(slug, 1);
  for (let minute = 0; minute < 30; minute++) {
    expect(spans.some(({ from, last }) => from <= at + minute * MINUTE && at + minute * MINUTE <= last)).toBe(true);
  }
});

test('G1: facts of two pages read at once are merged, path by path', async () => {
  const { slug } = await openRow(db.store, 'shown');
  const other = db.second();
  type Facts = { lines: number[] };
  const merge = (kept: Facts, added: Facts): Facts => ({ lines: [...kept.lines, ...added.lines].sort((a, b) => a - b) });
  const long = 'x'.repeat(4_000);
  await Promise.all(
    Array.from({ length: 8 }, (_, line) =>
      (line % 2 ? other : db.store).shown.record<Facts>(
        slug,
        1,
        'ag_grok',
        [
          { path: 'a.ts', facts: { lines: [line] } },
          { path: long, facts: { lines: [line] } },
        ],
        merge,
      ),
    ),
  );
  await db.store.shown.record<Facts>(
    slug,
    1,
    'ag_grok',
    [
      { path: 'b.ts', facts: { lines: [1] } },
      { path: 'b.ts', facts: { lines: [0] } },
    ],
    merge,
  );
  await db.store.shown.record<Facts>(slug, 1, 'ag_grok', [], merge);
  await db.store.shown.record<Facts>(slug, 2, 'ag_grok', [{ path: 'a.ts', facts: { lines: [9] } }], merge);
  expect(await db.store.shown.of<Facts>(slug, 1)).toEqual([
    { participant: 'ag_grok', path: 'a.ts', facts: { lines: [0, 1, 2, 3, 4, 5, 6, 7] } },
    { participant: 'ag_grok', path: 'b.ts', facts: { lines: [0, 1] } },
    { participant: 'ag_grok', path: long, facts: { lines: [0, 1, 2, 3, 4, 5, 6, 7] } },
  ]);
});

test('DESIGN 8: an immutable read is kept once, whatever characters it holds', async () => {
  const key = { repository: 'local:/srv/r', baseSha: 'a'.repeat(40), headSha: 'b'.repeat(40), kind: 'diff' };
  expect(await db.store.reads.get(key)).toBeNull();
  const value = JSON.stringify({ patch: '\0\ud800' });
  await Promise.all([db.store.reads.put(key, value), db.second().reads.put(key, value)]);
  expect(await db.store.reads.get(key)).toBe(value);
  expect(await db.store.reads.get({ ...key, kind: 'compare' })).toBeNull();
});

test('an intent is taken by one sweeper, and is overdue only once taken', async () => {
  const { slug } = await openRow(db.store, 'intents');
  await db.store.intents.add({ id: 'i1', slug });
  const after = db.clock.at + 1;
  expect(await db.store.intents.overdue(after)).toEqual([]);
  expect(await db.store.intents.takeStale(db.clock.at)).toEqual([]);
  const taken = await Promise.all([db.store.intents.takeStale(after), db.second().intents.takeStale(after)]);
  expect(taken.flat()).toEqual([{ id: 'i1', slug }]);
  expect(await db.store.intents.overdue(after)).toEqual([{ id: 'i1', slug }]);
  await db.store.intents.remove(['i1']);
  expect(await db.store.intents.overdue(after)).toEqual([]);
});

test('R11: names are a-z, 0-9 and -, unique per owner while they live', async () => {
  const { accounts } = db.store;
  const [ann, bob] = [await accounts.addUser('ann'), await accounts.addUser('bob')];
  await expect(accounts.addUser('ann')).rejects.toMatchObject({ code: 'conflict', field: 'name' });
  for (const name of ['', 'Ann', 'a b', 'a'.repeat(40), 'ä'])
    await expect(accounts.addAgent(ann.id, name)).rejects.toMatchObject({ code: 'invalid', field: 'name' });
  const twice = await Promise.allSettled([accounts.addAgent(ann.id, 'grok'), db.second().accounts.addAgent(ann.id, 'grok')]);
  expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await accounts.addAgent(bob.id, 'grok');
  const [agent] = await accounts.agents(ann.id);
  expect(await accounts.deleteAgent(bob.id, agent!.id)).toBe(false);
  expect(await accounts.deleteAgent(ann.id, agent!.id)).toBe(true);
  expect(await accounts.deleteAgent(ann.id, agent!.id)).toBe(false);
  expect(await accounts.agents(ann.id)).toEqual([]);
  expect(await accounts.agent(ann.id, agent!.id)).toBeNull();
  expect((await accounts.addAgent(ann.id, 'grok')).id).not.toBe(agent!.id);
});

test("R11: nobody is called as the room's own notes are, and no agent as its owner", async () => {
  const { accounts } = db.store;
  const eve = await accounts.addUser('eve');
  await expect(accounts.addUser('barista')).rejects.toMatchObject({ code: 'conflict', field: 'name' });
  for (const name of ['barista', 'eve'])
    await expect(accounts.addAgent(eve.id, name)).rejects.toMatchObject({ code: 'conflict', field: 'name' });
  expect(await accounts.agents(eve.id)).toEqual([]);
});

test('a key is kept as a hash only, names its holder, and stops with it', async () => {
  const { accounts } = db.store;
  const owner = await accounts.addUser('keys');
  const agent = await accounts.addAgent(owner.id, 'grok');
  const [userKey, agentKey] = [
    await accounts.issueKey({ kind: 'person', id: owner.id }),
    await accounts.issueKey({ kind: 'agent', id: agent.id }),
  ];
  expect(userKey).toMatch(/^bu_[\w-]{43}$/);
  expect(agentKey).toMatch(/^ba_[\w-]{43}$/);
  expect(await accounts.callerOf(userKey)).toEqual({ kind: 'person', id: owner.id, name: 'keys' });
  expect(await accounts.callerOf(agentKey)).toEqual({ kind: 'agent', id: agent.id, name: 'grok', ownerId: owner.id });
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  const dump = JSON.stringify((await client.query('select * from keys')).rows);
  await client.end();
  expect(dump).not.toContain(userKey.slice(3));
  expect(dump).not.toContain(agentKey.slice(3));
  await accounts.deleteAgent(owner.id, agent.id);
  expect(await accounts.callerOf(agentKey)).toBeNull();
  await accounts.revokeKeys({ kind: 'person', id: owner.id });
  expect(await accounts.callerOf(userKey)).toBeNull();
  expect(await accounts.callerOf('bu_wrong')).toBeNull();
});

test('a key chosen outside can be kept again and again, but not for two holders', async () => {
  const { accounts } = db.store;
  const [one, two] = [await accounts.addUser('chosen-1'), await accounts.addUser('chosen-2')];
  await Promise.all([
    accounts.keepKey({ kind: 'person', id: one.id }, 'bu_chosen'),
    accounts.keepKey({ kind: 'person', id: one.id }, 'bu_chosen'),
  ]);
  expect(await accounts.callerOf('bu_chosen')).toMatchObject({ id: one.id });
  await expect(accounts.keepKey({ kind: 'person', id: two.id }, 'bu_chosen')).rejects.toThrow(Refusal);
});

test('a one-time link makes one session; sessions and links run out and are swept', async () => {
  const { accounts } = db.store;
  const owner = await accounts.addUser('session');
  const link = await accounts.issueLink(owner.id, MINUTE);
  const sessions = await Promise.all([accounts.takeLink(link, MINUTE), db.second().accounts.takeLink(link, MINUTE)]);
  const secret = sessions.find((session) => session !== null)!;
  expect(sessions.filter((session) => session !== null)).toHaveLength(1);
  expect(await accounts.sessionUser(secret)).toEqual({ id: owner.id, name: 'session' });
  // No secret works in another's place.
  expect(await accounts.callerOf(secret)).toBeNull();
  expect(await accounts.sessionUser(await accounts.issueKey({ kind: 'person', id: owner.id }))).toBeNull();
  const closed = await accounts.openSession(owner.id, MINUTE);
  await accounts.closeSession(closed);
  expect(await accounts.sessionUser(closed)).toBeNull();
  const late = await accounts.issueLink(owner.id, MINUTE);
  db.clock.at += MINUTE;
  expect(await accounts.takeLink(late, MINUTE)).toBeNull();
  expect(await accounts.sessionUser(secret)).toBeNull();
  await accounts.sweepKeys();
  db.clock.at -= MINUTE;
  expect(await accounts.sessionUser(secret)).toBeNull();
});

test('R11: a sole owner may open wherever the server reaches; with a second person only what is linked', async () => {
  await using alone = await testStore();
  const { accounts } = alone.store;
  const owner = await accounts.addUser('sole');
  expect(await accounts.mayOpen(owner.id, 'local', 'local:/srv/r')).toBe(true);
  await accounts.addUser('second');
  expect(await accounts.mayOpen(owner.id, 'local', 'local:/srv/r')).toBe(false);
  await accounts.linkRepository(owner.id, 'local', 'local:/srv/r');
  await accounts.linkRepository(owner.id, 'local', 'local:/srv/r');
  expect(await accounts.mayOpen(owner.id, 'local', 'local:/srv/r')).toBe(true);
  expect(await accounts.mayOpen(owner.id, 'github', 'local:/srv/r')).toBe(false);
  expect(await accounts.repositoryLinks(owner.id)).toEqual([{ forge: 'local', repository: 'local:/srv/r', createdAt: alone.clock.at }]);
  expect(await accounts.unlinkRepository(owner.id, 'local', 'local:/srv/r')).toBe(true);
  expect(await accounts.unlinkRepository(owner.id, 'local', 'local:/srv/r')).toBe(false);
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../mcp-server/server.js';
import { PATIENT, settings, silent } from '../support/edge.js';
import { query } from '../support/query.js';
import { MINUTE, NOON, OWNER, type TestRoom } from '../support/room.js';
import { ProjectedRoom, testStore, type TestStore } from '../support/store.js';

let db: TestStore;
let server: RunningServer;
let key: string;
beforeAll(async () => {
  db = await testStore();
  await query(db.url, `INSERT INTO users (id, name, created_at) VALUES ('${OWNER}', 'olga', to_timestamp(${NOON / 1_000}))`);
  key = await db.store.accounts.issueKey({ kind: 'person', id: OWNER });
  server = await startServer(settings(db.url), silent, db.clock.now, PATIENT);
});
afterAll(async () => {
  await server.stop();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  db.clock.at = NOON;
});

interface Shown {
  readonly slug: string;
  readonly phase: string;
  readonly chips: readonly string[];
  readonly waiting_on: readonly { readonly name: string }[];
  readonly review: { readonly phase: string; readonly chips: readonly string[]; readonly next_steps: string };
}

async function get(path: string): Promise<{ readonly rooms: readonly Shown[] } & Shown> {
  const answer = await fetch(`${server.url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { readonly rooms: readonly Shown[] } & Shown;
}

/** What the list shows of the room at this age, once the room's own page and its latest round have been found to say the same. */
async function shownAt(age: number, { slug }: ProjectedRoom): Promise<string> {
  db.clock.at = NOON + age * MINUTE;
  const [{ rooms }, page] = await Promise.all([get('/rooms'), get(`/rooms/${slug}`)]);
  const said = ({ phase, chips, waiting_on }: Shown) =>
    `${phase} on ${waiting_on.map(({ name }) => name).join(' ') || 'nobody'} [${chips.join(', ')}]`;
  const row = rooms.find((room) => room.slug === slug)!;
  expect(said(row)).toBe(said(page));
  expect({ phase: row.phase, chips: row.chips }).toEqual({ phase: page.review.phase, chips: page.review.chips });
  return said(row);
}

const open = (name: string, act: (room: TestRoom) => unknown): Promise<ProjectedRoom> =>
  ProjectedRoom.open(db.store, name, { recipe: 'build_duel', barista: true }).then((room) => room.do(act));

test('V1: a list says what the room says at that moment, though the last event was before a window ended', async () => {
  const room = await open('windows', (r) =>
    r
      .join('cy', 'ana', 'bo')
      .roles({ cy: ['author'], ana: ['lead', 'reviewer'], bo: ['reviewer'] })
      .open('ana')
      .submit('ana', { findings: [{}] })
      .submit('bo', { findings: [{}] })
      .baristaCloses()
      .answer('cy', 'f1', 'reject', 'no')
      .after(5)
      .answer('cy', 'f2', 'reject', 'no'),
  );
  expect(await shownAt(5, room)).toBe('waiting_for_answers on ana bo []');
  expect(await shownAt(30, room)).toBe('waiting_for_answers on bo []');
  expect(await shownAt(35, room)).toBe('drafting on ana []');
});

test('V1, S7: a list says so when a decline has ended', async () => {
  const room = await open('decline', (r) =>
    r
      .join('cy', 'ana')
      .open('ana')
      .decline('ana', 'busy', NOON + 10 * MINUTE),
  );
  expect(await shownAt(9, room)).toBe('reviewing on olga [no review]');
  expect(await shownAt(10, room)).toBe('reviewing on ana []');
});

test('V1, B8: a list has the chip `no review` from its moment on, which review calls put off', async () => {
  const room = await open('idle', (r) => r.join('cy', 'ana').open('ana'));
  await db.store.spans.recordCall(room.slug, 1, 'ag_ana', NOON + 20 * MINUTE, 5 * MINUTE);
  expect(await shownAt(30, room)).toBe('reviewing on ana []');
  expect(await shownAt(35, room)).toBe('reviewing on ana [no review]');
});

test('V1: of many rooms each is listed as of now, and none is written for it', async () => {
  const rooms: ProjectedRoom[] = [];
  for (let n = 0; n < 23; n += 1) {
    const until = NOON + (n % 2 === 0 ? 10 : 20) * MINUTE;
    rooms.push(await open(`many-${n}`, (r) => r.join('cy', 'ana').open('ana').decline('ana', 'busy', until)));
  }
  const rows = () => query(db.url, "SELECT slug, xmin::text, waiting_on FROM rooms WHERE title LIKE 'many-%' ORDER BY slug");
  const before = await rows();
  db.clock.at = NOON + 15 * MINUTE;
  const { rooms: listed } = await get('/rooms');
  for (const [n, { slug }] of rooms.entries()) {
    const names = listed.find((row) => row.slug === slug)!.waiting_on.map(({ name }) => name);
    expect(names).toEqual(n % 2 === 0 ? ['ana'] : ['olga']);
  }
  expect(await rows()).toEqual(before);
});

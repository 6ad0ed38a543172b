import { createHash } from 'node:crypto';
import { callsOf } from '../workflows/barista/idle.js';
import { listedUntil, listingOf } from '../workflows/barista/listing.js';
import type { Outbox } from '../workflows/messages.js';
import { alertsOf } from '../workflows/room/alerts.js';
import { apply } from '../workflows/room/apply.js';
import type { RoomEvent } from '../workflows/room/events.js';
import { noteOf, textsOf, type Note } from '../workflows/room/notes.js';
import type { RoomState } from '../workflows/room/state.js';
import { writeAlerts } from './alerts.js';
import { notify } from './bus.js';
import { dateOf, lockRoom, storable, type Db, type Tx } from './db.js';
import type { Prisma } from './generated/client.js';
import { stateOfJson } from './rooms.js';
import { spansOf } from './spans.js';
import { textIdsOfEvent, textIdsOfState } from './text-ids.js';

/** `seq` is the room's last projected event in every case. */
export type Projected =
  | { readonly kind: 'projected'; readonly seq: number }
  /** All of it was there before. */
  | { readonly kind: 'already'; readonly seq: number }
  /** Events before these are missing; nothing was written. Wait for them, or have the room project by itself. */
  | { readonly kind: 'behind'; readonly seq: number };

/** What was projected under these numbers is something else: the room's run and its database have parted. */
export class ProjectionConflict extends Error {
  override readonly name = 'ProjectionConflict';

  constructor(
    readonly slug: string,
    readonly seq: number,
    what: string,
  ) {
    super(`projection_conflict: event ${seq} of room ${slug} ${what}. Run "barista doctor".`);
  }
}

/** There is no row to project onto: the room was never opened here. */
export class NoSuchRoom extends Error {
  override readonly name = 'NoSuchRoom';

  constructor(readonly slug: string) {
    super(`There is no room ${slug} in the database.`);
  }
}

export type Project = (slug: string, outbox: Outbox, options?: { readonly intent?: string }) => Promise<Projected>;

/**
 * Writes events into the read model, exactly once, whoever calls it and however often: one transaction under the
 * room's lock. With `intent`, that row goes with it.
 * @throws {@link ProjectionConflict}, {@link NoSuchRoom}
 */
export function createProject(db: Db): Project {
  return (slug, { from, events }, { intent } = {}) =>
    db.$transaction(async (tx) => {
      const room = await lockRoom(tx, slug);
      if (!room) throw new NoSuchRoom(slug);
      if (from > room.seq) return { kind: 'behind', seq: room.seq };
      const numbered = events.map((event, index): Numbered => ({ seq: from + 1 + index, event, hash: hashOf(event) }));
      await compareKnown(
        tx,
        slug,
        numbered.filter(({ seq }) => seq <= room.seq),
      );
      if (intent !== undefined) await tx.intent.deleteMany({ where: { id: intent } });
      const fresh = numbered.filter(({ seq }) => seq > room.seq);
      if (fresh.length === 0) return { kind: 'already', seq: room.seq };
      await write(tx, slug, fresh, room.lastMessageId);
      await notify(tx, slug);
      return { kind: 'projected', seq: fresh.at(-1)!.seq };
    });
}

interface Numbered {
  readonly seq: number;
  readonly event: RoomEvent;
  readonly hash: string;
}

async function compareKnown(tx: Tx, slug: string, known: readonly Numbered[]): Promise<void> {
  if (known.length === 0) return;
  const stored = await tx.storedEvent.findMany({
    where: { slug, seq: { gte: known[0]!.seq, lte: known.at(-1)!.seq } },
    select: { seq: true, hash: true },
  });
  const hashes = new Map(stored.map(({ seq, hash }) => [seq, hash]));
  const other = known.find(({ seq, hash }) => hashes.get(seq) !== hash);
  if (other) throw new ProjectionConflict(slug, other.seq, `(${other.event.type}) is another one in the database`);
}

/** One event folded: the room before and after it. `before` is null for the first. */
interface Step {
  readonly before: RoomState | null;
  readonly event: RoomEvent;
  readonly after: RoomState;
}

async function write(tx: Tx, slug: string, fresh: readonly Numbered[], lastMessageId: number): Promise<void> {
  const stored = await tx.room.findUniqueOrThrow({ where: { slug }, select: { ownerId: true, state: true } });
  const start = stored.state ? stateOfJson(stored.state) : null;
  const steps: Step[] = [];
  for (const { event } of fresh) {
    const before: RoomState | null = steps.at(-1)?.after ?? start;
    steps.push({ before, event, after: apply(before, event) });
  }
  const { after } = steps.at(-1)!;

  await tx.storedEvent.createMany({
    data: fresh.map(({ seq, event, hash }) => ({ slug, seq, type: event.type, at: dateOf(event.at), body: json(event), hash })),
  });
  const accepted = steps.flatMap(({ event }) => textIdsOfEvent(event));
  if (accepted.length > 0) await tx.text.updateMany({ where: { slug, id: { in: accepted } }, data: { accepted: true } });
  const notes = await notesOf(tx, slug, steps);
  if (notes.length > 0) {
    await tx.message.createMany({
      data: notes.map(({ at, note }, index) => ({
        slug,
        id: lastMessageId + 1 + index,
        at: dateOf(at),
        fromName: 'barista',
        kind: 'note' as const,
        text: storable(note.text),
        mentions: [...note.mentions],
        event: note.event,
        ...(note.veil && { veilRound: note.veil.round, veilText: storable(note.veil.text) }),
      })),
    });
  }
  await writeAlerts(
    tx,
    stored.ownerId,
    steps.flatMap(({ before, event, after }) => alertsOf(before, event, after).map((alert) => ({ at: event.at, alert }))),
  );
  await writeRecords(tx, slug, steps);
  if (after.participants !== start?.participants) await writeParticipants(tx, slug, after);
  const calls = callsOf(after.round && !after.round.closed ? await spansOf(tx, slug, after.round.number) : []);
  const { at } = steps.at(-1)!.event;
  const { phase, chips, waitingOn } = listingOf(after, calls, at);
  const until = listedUntil(after, calls, at);
  await tx.room.update({
    where: { slug },
    data: {
      seq: after.seq,
      state: json(after),
      recipe: after.recipe,
      round: after.round?.number ?? 0,
      phase,
      chips: [...chips],
      waitingOn: [...waitingOn],
      listedUntil: until === null ? null : dateOf(until),
      lastMessageId: lastMessageId + notes.length,
      endedAt: after.ended && dateOf(after.ended.at),
    },
    select: { slug: true },
  });
}

/** The notes of the steps in order, each at its event's time. */
async function notesOf(tx: Tx, slug: string, steps: readonly Step[]): Promise<{ at: number; note: Note }[]> {
  const ids = steps.flatMap(({ before, event, after }) => textsOf(before ?? after, event));
  const rows = ids.length === 0 ? [] : await tx.text.findMany({ where: { slug, id: { in: ids } }, select: { id: true, body: true } });
  const texts = new Map(rows.map(({ id, body }) => [id, body]));
  return steps.flatMap(({ before, event, after }) => {
    const note = noteOf(before ?? after, event, (id) => texts.get(id) ?? '');
    return note ? [{ at: event.at, note }] : [];
  });
}

/** Rounds that this projection ends, and what it changes about rounds that ended before. */
async function writeRecords(tx: Tx, slug: string, steps: readonly Step[]): Promise<void> {
  for (const { before, event, after } of steps) {
    if (event.type === 'RoundOpened' && before?.round) {
      // S9's memory is of the living room alone.
      await keepRecord(tx, slug, before.round.number, { ...before, requests: [] });
    } else if (event.type === 'AgentDeleted') {
      await forgetAgent(tx, slug, event, after);
    } else if (after.draft && after.draft !== before?.draft && after.round && after.draft.round < after.round.number) {
      // A draft may be edited and posted after its round has ended (D6): the round's record says so.
      const [record] = await recordsOf(tx, slug, after.draft.round);
      if (record) await keepRecord(tx, slug, after.draft.round, { ...record.state, draft: after.draft });
    }
  }
}

async function recordsOf(tx: Tx, slug: string, number?: number): Promise<{ number: number; state: RoomState }[]> {
  const rows = await tx.roundRecord.findMany({ where: { slug, ...(number === undefined ? {} : { number }) } });
  return rows.map((row) => ({ number: row.number, state: stateOfJson(row.record) }));
}

async function keepRecord(tx: Tx, slug: string, number: number, state: RoomState): Promise<void> {
  const record = json(state);
  await tx.roundRecord.upsert({ where: { slug_number: { slug, number } }, create: { slug, number, record }, update: { record } });
}

/** R6: its reviews and findings leave earlier rounds too, and whatever it wrote that nothing names any more. */
async function forgetAgent(tx: Tx, slug: string, event: RoomEvent & { type: 'AgentDeleted' }, after: RoomState): Promise<void> {
  const records = (await recordsOf(tx, slug)).map(({ number, state }) => ({ number, state: { ...apply(state, event), seq: state.seq } }));
  for (const { number, state } of records) await keepRecord(tx, slug, number, state);
  const named = [after, ...records.map(({ state }) => state)].flatMap(textIdsOfState);
  await tx.text.deleteMany({ where: { slug, by: event.id, accepted: true, id: { notIn: named } } });
}

async function writeParticipants(tx: Tx, slug: string, { participants }: RoomState): Promise<void> {
  await tx.roomParticipant.deleteMany({ where: { slug } });
  await tx.roomParticipant.createMany({
    data: participants.map(({ id, name, kind, roles, present }, position) => ({
      slug,
      id,
      name,
      kind,
      roles: [...roles],
      present,
      position,
    })),
  });
}

/** The same JSON however its keys are ordered: a projection may come from history, from an answer, or from a column. */
function hashOf(event: RoomEvent): string {
  return createHash('sha256').update(JSON.stringify(event, sortedKeys)).digest('base64url');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const json = (value: RoomState | RoomEvent): Prisma.InputJsonValue => value as unknown as Prisma.InputJsonValue;

import { randomBytes } from 'node:crypto';
import type { ParticipantId, PullRequest, RoomState, TextId } from '../workflows/room/state.js';
import { callsOf } from '../workflows/barista/idle.js';
import { type Listing, listingOf } from '../workflows/barista/listing.js';
import { openRound } from '../workflows/room/rounds.js';
import type { Chip, Phase, ParticipantKind, Recipe, Role } from '../workflows/room/words.js';
import { dateOf, isDuplicate, storable, type Db } from './db.js';
import { Prisma } from './generated/client.js';
import { spansOfRounds } from './spans.js';
import { textIdsOfState } from './text-ids.js';

/** A state may have a megabyte: so many are held at once while lists are worked out. */
const STATES_AT_ONCE = 20;

/** A room as lists show it. Nothing in here tells of a review that somebody may not see (V2). */
export interface RoomRow {
  readonly slug: string;
  readonly ownerId: string;
  readonly pullRequest: PullRequest;
  readonly title: string;
  readonly recipe: Recipe;
  /** Number of the last projected event; 0 until the workflow's first. */
  readonly seq: number;
  /** 0 before round 1. */
  readonly round: number;
  /** As the last event left it, and until when that holds (null: until the next event). {@link Rooms.listings} says it as of now. */
  readonly listed: { readonly as: Listing; readonly until: number | null };
  readonly lastMessageId: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface RoomMember {
  readonly id: ParticipantId;
  readonly name: string;
  readonly kind: ParticipantKind;
  readonly roles: readonly Role[];
  /** False once it has left. */
  readonly present: boolean;
}

export interface RoomToOpen {
  readonly ownerId: string;
  readonly pullRequest: PullRequest;
  readonly title: string;
  readonly recipe: Recipe;
  /** R8: beside whatever rooms there are. */
  readonly another: boolean;
  /** Ends the new room's slug; absent: one that is never guessed. */
  readonly slugEnd?: string;
}

/** One moment of a room: everything in it belongs to event `seq`. */
export interface Snapshot {
  readonly seq: number;
  readonly state: RoomState;
  /** Rounds before the latest by number, each the whole room as it was when the next one opened. */
  readonly records: ReadonlyMap<number, RoomState>;
  readonly texts: ReadonlyMap<TextId, string>;
}

export interface SnapshotWish {
  /** Which earlier rounds to bring; none unless asked for. */
  readonly records?: 'all' | readonly number[];
  /** The texts to bring; every text of the state and the records unless told otherwise. */
  readonly texts?: (state: RoomState, records: ReadonlyMap<number, RoomState>) => readonly TextId[];
}

export interface Rooms {
  /** The living room of this owner and pull request, or a new row; two servers at once get the same one (R8). */
  open(room: RoomToOpen): Promise<{ room: RoomRow; created: boolean }>;
  get(slug: string): Promise<RoomRow | null>;
  /** Number of the last projected event; null: there is no such room. */
  seq(slug: string): Promise<number | null>;
  /** The state alone; null until the first event is projected, and where there is no such room. */
  state(slug: string): Promise<RoomState | null>;
  /** One consistent read (DESIGN 3); null as {@link Rooms.state}. */
  snapshot(slug: string, wish?: SnapshotWish): Promise<Snapshot | null>;
  /** Newest first. */
  ofOwner(ownerId: string): Promise<RoomRow[]>;
  /** Rooms it is in and has not left, newest first. */
  ofParticipant(id: ParticipantId): Promise<(RoomRow & { roles: readonly Role[] })[]>;
  /** How lists show each of these rooms now, by slug: worked out anew where time alone may have changed what its row says. */
  listings(rooms: readonly RoomRow[]): Promise<ReadonlyMap<string, Listing>>;
  /** Living rooms of a pull request, whoever owns them (R8, P3). */
  ofPullRequest(key: string): Promise<RoomRow[]>;
  /** Every room this owner ever had of a pull request, those that have ended too. */
  everOf(ownerId: string, key: string): Promise<RoomRow[]>;
  /** Living rooms on these repositories, or on every one whose address begins so (whatever its case); earliest first. */
  onRepositories(forge: PullRequest['forge'], which: readonly string[] | { readonly urlStart: string }, limit: number): Promise<RoomRow[]>;
  /** Living rooms in order of their slugs, from after `after`. */
  living(after: string | null, limit: number): Promise<RoomRow[]>;
  /** Earliest joined first, those that have left too. */
  members(slug: string): Promise<RoomMember[]>;
}

export function createRooms(db: Db, now: () => number): Rooms {
  async function livingOf(ownerId: string, key: string): Promise<RoomRow | null> {
    // The default room before one that was opened beside it.
    const found = await db.room.findFirst({
      where: { ownerId, pullRequestKey: key, endedAt: null },
      orderBy: [{ another: 'asc' }, { createdAt: 'asc' }],
      omit: { state: true },
    });
    return found && rowOf(found);
  }

  async function bySlug(slug: string): Promise<RoomRow | null> {
    const found = await db.room.findUnique({ where: { slug }, omit: { state: true } });
    return found && rowOf(found);
  }

  async function listedAnew(slugs: readonly string[], at: number): Promise<[string, Listing][]> {
    const found = await db.room.findMany({ where: { slug: { in: [...slugs] } }, select: { slug: true, state: true } });
    const states = found.flatMap(({ slug, state }) => (state ? [{ slug, state: stateOfJson(state) }] : []));
    const open = states.flatMap(({ slug, state }) => {
      const round = openRound(state);
      return round ? [{ slug, round: round.number }] : [];
    });
    const spans = await spansOfRounds(db, open);
    return states.map(({ slug, state }) => [slug, listingOf(state, callsOf(spans.get(slug) ?? []), at)]);
  }

  return {
    async open({ ownerId, pullRequest, title, recipe, another, slugEnd }) {
      for (;;) {
        const known = another ? null : await livingOf(ownerId, pullRequest.key);
        if (known) return { room: known, created: false };
        try {
          const row = await db.room.create({
            data: {
              slug: slugOf(pullRequest.repository, slugEnd),
              ownerId,
              forge: pullRequest.forge,
              pullRequestKey: pullRequest.key,
              repository: pullRequest.repository,
              url: pullRequest.url,
              title: storable(title),
              recipe,
              another,
              createdAt: dateOf(now()),
            },
            omit: { state: true },
          });
          return { room: rowOf(row), created: true };
        } catch (error) {
          if (!isDuplicate(error)) throw error; // else another server was first (or had this slug): look again
          const named = slugEnd === undefined ? null : await bySlug(slugOf(pullRequest.repository, slugEnd));
          if (named) return { room: named, created: false };
        }
      }
    },
    get: bySlug,
    async seq(slug) {
      return (await db.room.findUnique({ where: { slug }, select: { seq: true } }))?.seq ?? null;
    },
    async state(slug) {
      const found = await db.room.findUnique({ where: { slug }, select: { state: true } });
      return found?.state ? stateOfJson(found.state) : null;
    },
    snapshot: (slug, wish = {}) =>
      db.$transaction(
        async (tx) => {
          const room = await tx.room.findUnique({ where: { slug }, select: { seq: true, state: true } });
          if (!room?.state) return null;
          const state = stateOfJson(room.state);
          const numbers = wish.records ?? [];
          const rows =
            numbers.length === 0
              ? []
              : await tx.roundRecord.findMany({
                  where: { slug, ...(numbers === 'all' ? {} : { number: { in: [...numbers] } }) },
                  orderBy: { number: 'asc' },
                });
          const records = new Map(rows.map(({ number, record }) => [number, stateOfJson(record)]));
          const wanted = wish.texts ? wish.texts(state, records) : [state, ...records.values()].flatMap(textIdsOfState);
          const texts =
            wanted.length === 0
              ? []
              : await tx.text.findMany({
                  where: { slug, accepted: true, id: { in: [...new Set(wanted)] } },
                  select: { id: true, body: true },
                });
          return { seq: room.seq, state, records, texts: new Map(texts.map(({ id, body }) => [id, body])) };
        },
        { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead },
      ),
    async ofOwner(ownerId) {
      return (await db.room.findMany({ where: { ownerId }, orderBy: { createdAt: 'desc' }, omit: { state: true } })).map(rowOf);
    },
    async ofParticipant(id) {
      const found = await db.roomParticipant.findMany({
        where: { id, present: true },
        select: { roles: true, room: { omit: { state: true } } },
        orderBy: { room: { createdAt: 'desc' } },
      });
      return found.map(({ roles, room }) => ({ ...rowOf(room), roles: roles as Role[] }));
    },
    async listings(rooms) {
      const at = now();
      const listings = new Map(rooms.map(({ slug, listed }) => [slug, listed.as]));
      const over = rooms.filter(({ listed: { until } }) => until !== null && until <= at).map(({ slug }) => slug);
      for (let first = 0; first < over.length; first += STATES_AT_ONCE)
        for (const [slug, listing] of await listedAnew(over.slice(first, first + STATES_AT_ONCE), at)) listings.set(slug, listing);
      return listings;
    },
    async ofPullRequest(key) {
      return (
        await db.room.findMany({ where: { pullRequestKey: key, endedAt: null }, orderBy: { createdAt: 'asc' }, omit: { state: true } })
      ).map(rowOf);
    },
    async everOf(ownerId, key) {
      return (await db.room.findMany({ where: { ownerId, pullRequestKey: key }, omit: { state: true } })).map(rowOf);
    },
    async onRepositories(forge, which, limit) {
      const there =
        'urlStart' in which ? { url: { startsWith: which.urlStart, mode: 'insensitive' as const } } : { repository: { in: [...which] } };
      const where = { endedAt: null, forge, ...there };
      return (await db.room.findMany({ where, orderBy: { createdAt: 'asc' }, take: limit, omit: { state: true } })).map(rowOf);
    },
    async living(after, limit) {
      const where = { endedAt: null, ...(after === null ? {} : { slug: { gt: after } }) };
      return (await db.room.findMany({ where, orderBy: { slug: 'asc' }, take: limit, omit: { state: true } })).map(rowOf);
    },
    async members(slug) {
      const rows = await db.roomParticipant.findMany({ where: { slug }, orderBy: { position: 'asc' } });
      return rows.map(({ id, name, kind, roles, present }) => ({
        id,
        name,
        kind: kind as ParticipantKind,
        roles: roles as Role[],
        present,
      }));
    },
  };
}

/** Our own JSON, written by `project` alone. */
export const stateOfJson = (json: Prisma.JsonValue): RoomState => json as unknown as RoomState;

type StoredRow = Omit<Prisma.RoomGetPayload<object>, 'state'>;

function rowOf(row: StoredRow): RoomRow {
  return {
    slug: row.slug,
    ownerId: row.ownerId,
    pullRequest: { forge: row.forge as PullRequest['forge'], key: row.pullRequestKey, repository: row.repository, url: row.url },
    title: row.title,
    recipe: row.recipe as Recipe,
    seq: row.seq,
    round: row.round,
    listed: {
      as: { phase: row.phase as Phase, chips: row.chips as Chip[], waitingOn: row.waitingOn },
      until: row.listedUntil?.getTime() ?? null,
    },
    lastMessageId: row.lastMessageId,
    createdAt: row.createdAt.getTime(),
    endedAt: row.endedAt?.getTime() ?? null,
  };
}

/** Says which repository, and is never guessed or used twice: `barista-3f9a2c71`. */
function slugOf(repository: string, end = randomBytes(4).toString('hex')): string {
  const parts = repository.split(/[/:]/).filter((part) => part !== '' && part !== '.git');
  const name = (parts.at(-1) ?? '')
    .replace(/\.git$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30);
  return `${name || 'room'}-${end}`;
}

import { createHash, randomBytes } from 'node:crypto';
import type { Alert } from '../workflows/room/alerts.js';
import type { AlertKind } from '../workflows/room/words.js';
import { ALERTS_TOPIC, notify, ownerTopic } from './bus.js';
import { dateOf, storable, type Db, type Tx } from './db.js';

export interface StoredAlert {
  /** `al_…`: one alert, one id, however often it is delivered. */
  readonly id: string;
  /** The owner's own numbers, from 1: commit order is position order. */
  readonly position: number;
  readonly room: string;
  readonly kind: AlertKind;
  readonly round: number | null;
  readonly text: string;
  /** A path below the server's address. */
  readonly link: string;
  /** When it happened in the room, in epoch milliseconds. */
  readonly at: number;
}

/** An alert that one notifier has taken to deliver. */
export interface ClaimedAlert extends StoredAlert {
  /** How often it has been taken, this time too. */
  readonly tries: number;
}

export interface Alerts {
  /** The owner's alerts after this position (0: from the first), oldest first, at most 100. */
  list(ownerId: string, after: number): Promise<StoredAlert[]>;
  /** Position of this alert of the owner's; null: the owner has none of this id. */
  positionOf(ownerId: string, id: string): Promise<number | null>;
  /** The owner's newest alert; null before the first. */
  newest(ownerId: string): Promise<StoredAlert | null>;
  /**
   * Takes an alert that is due for the caller alone, until `until` (epoch milliseconds): whoever dies with it gives it
   * back then. Alerts from before `since` are due no more. Null: there is none.
   */
  claim(until: number, since: number): Promise<ClaimedAlert | null>;
  /** It has arrived. */
  delivered(id: string): Promise<void>;
  /** It has not; it is due again at `nextTryAt`, never where null. Changes nothing once somebody else has taken it. */
  failed({ id, tries }: ClaimedAlert, nextTryAt: number | null): Promise<void>;
  /** How many were tried and not taken, and are tried again. */
  refused(): Promise<number>;
  /** What deliveries are signed with where no secret is set: made once, the same for every process (`whsec_…`). */
  secret(): Promise<string>;
}

const PAGE = 100;
const SECRET = 'notify';

export function createAlerts(db: Db, now: () => number): Alerts {
  return {
    async list(ownerId, after) {
      const rows = await db.alert.findMany({ where: { ownerId, position: { gt: after } }, orderBy: { position: 'asc' }, take: PAGE });
      return rows.map(alertOf);
    },
    async positionOf(ownerId, id) {
      return (await db.alert.findFirst({ where: { ownerId, id }, select: { position: true } }))?.position ?? null;
    },
    async newest(ownerId) {
      const row = await db.alert.findFirst({ where: { ownerId }, orderBy: { position: 'desc' } });
      return row && alertOf(row);
    },
    async claim(until, since) {
      // Raw SQL, for Prisma has no row lock: of two notifiers at once, each takes another alert.
      const taken = await db.$queryRaw<{ id: string }[]>`
        UPDATE alerts SET next_try_at = ${dateOf(until)}, tries = tries + 1
        WHERE id = (
          SELECT id FROM alerts WHERE next_try_at <= ${dateOf(now())} AND at >= ${dateOf(since)}
          ORDER BY next_try_at, position LIMIT 1 FOR UPDATE SKIP LOCKED
        ) RETURNING id`;
      if (!taken[0]) return null;
      const row = await db.alert.findUniqueOrThrow({ where: { id: taken[0].id } });
      return { ...alertOf(row), tries: row.tries };
    },
    async delivered(id) {
      await db.alert.update({ where: { id }, data: { sentAt: dateOf(now()), nextTryAt: null }, select: { id: true } });
    },
    async failed({ id, tries }, nextTryAt) {
      await db.alert.updateMany({ where: { id, tries, sentAt: null }, data: { nextTryAt: nextTryAt === null ? null : dateOf(nextTryAt) } });
    },
    refused: () => db.alert.count({ where: { nextTryAt: { not: null }, tries: { gt: 0 } } }),
    async secret() {
      const made = `whsec_${randomBytes(32).toString('base64')}`;
      await db.secret.createMany({ data: [{ name: SECRET, value: made }], skipDuplicates: true });
      return (await db.secret.findUniqueOrThrow({ where: { name: SECRET } })).value;
    },
  };
}

/**
 * Writes what the owner is told, in the transaction of the events that it comes of. What was told before is not told
 * again. The owner's row is locked after the room's and before nothing else, so that projections cannot lock each other out.
 */
export async function writeAlerts(
  tx: Tx,
  ownerId: string,
  alerts: readonly { readonly at: number; readonly alert: Alert }[],
): Promise<void> {
  if (alerts.length === 0) return;
  const byId = new Map(alerts.map(({ at, alert }) => [idOf(alert), { at, alert }]));
  const told = await tx.alert.findMany({ where: { id: { in: [...byId.keys()] } }, select: { id: true } });
  for (const { id } of told) byId.delete(id);
  if (byId.size === 0) return;
  const { lastAlert } = await tx.user.update({
    where: { id: ownerId },
    data: { lastAlert: { increment: byId.size } },
    select: { lastAlert: true },
  });
  const first = lastAlert - byId.size + 1;
  await tx.alert.createMany({
    data: [...byId].map(([id, { at, alert }], index) => ({
      id,
      ownerId,
      position: first + index,
      slug: alert.room,
      kind: alert.kind,
      round: alert.round,
      text: storable(alert.text),
      link: alert.link,
      at: dateOf(at),
      nextTryAt: dateOf(at),
    })),
  });
  await notify(tx, ownerTopic(ownerId));
  await notify(tx, ALERTS_TOPIC);
}

function idOf({ room, kind, subject }: Alert): string {
  return `al_${createHash('sha256')
    .update(JSON.stringify([room, kind, subject]))
    .digest('base64url')
    .slice(0, 22)}`;
}

function alertOf(row: {
  id: string;
  position: number;
  slug: string;
  kind: string;
  round: number | null;
  text: string;
  link: string;
  at: Date;
}): StoredAlert {
  const { id, position, slug, kind, round, text, link, at } = row;
  return { id, position, room: slug, kind: kind as AlertKind, round, text, link, at: at.getTime() };
}

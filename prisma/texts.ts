import type { TextId } from '../workflows/room/state.js';
import { dateOf, storable, type Db } from './db.js';
import { textId } from './text-ids.js';

export interface Texts {
  /**
   * Stores texts under the ids that an Update then names; nobody reads them until an event does. Staging again what
   * is there, accepted or not, only says that it is still wanted.
   * @returns one id a text, in order
   */
  stage(slug: string, by: string, texts: readonly string[]): Promise<TextId[]>;
  /** The accepted ones among `ids`. */
  read(slug: string, ids: readonly TextId[]): Promise<ReadonlyMap<TextId, string>>;
  /** Removes what was staged, never accepted and not touched since `olderThan`; a room with an Update on its way is left alone. */
  sweep(olderThan: number): Promise<number>;
}

export function createTexts(db: Db, now: () => number): Texts {
  return {
    async stage(slug, by, texts) {
      const bodies = texts.map(storable);
      const ids = bodies.map((body) => textId(slug, by, body));
      const byId = new Map(ids.map((id, index) => [id, bodies[index]!]));
      if (byId.size === 0) return ids;
      // One statement for 200 findings, which Prisma's upsert cannot do; a staged row that was about to be swept is
      // taken over rather than missed.
      await db.$executeRaw`
        INSERT INTO texts (slug, id, by, body, accepted, touched_at)
        SELECT ${slug}, id, ${by}, body, false, ${dateOf(now())}
        FROM unnest(${[...byId.keys()]}::text[], ${[...byId.values()]}::text[]) AS staged (id, body)
        ORDER BY id
        ON CONFLICT (slug, id) DO UPDATE SET touched_at = excluded.touched_at`;
      return ids;
    },
    async read(slug, ids) {
      if (ids.length === 0) return new Map();
      const rows = await db.text.findMany({ where: { slug, accepted: true, id: { in: [...ids] } }, select: { id: true, body: true } });
      return new Map(rows.map(({ id, body }) => [id, body]));
    },
    async sweep(olderThan) {
      const { count } = await db.text.deleteMany({
        where: { accepted: false, touchedAt: { lt: dateOf(olderThan) }, room: { intents: { none: {} } } },
      });
      return count;
    },
  };
}

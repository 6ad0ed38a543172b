import { createHash } from 'node:crypto';
import type { ParticipantId } from '../workflows/room/state.js';
import { storable, type Db } from './db.js';
import type { Prisma } from './generated/client.js';

/** What one participant was shown of one path in a round (G1); the facts' shape belongs to whoever writes them. */
export interface ShownFile<Facts> {
  readonly participant: ParticipantId;
  readonly path: string;
  readonly facts: Facts;
}

export interface ShownStore {
  /** Merges new facts into the kept ones; two pages read at the same time lose nothing of each other. */
  record<Facts extends Prisma.InputJsonValue>(
    slug: string,
    round: number,
    participant: ParticipantId,
    shown: readonly { readonly path: string; readonly facts: Facts }[],
    merge: (kept: Facts, added: Facts) => Facts,
  ): Promise<void>;
  /** This participant has asked to read in the round, whatever it is shown (B4). */
  asked(slug: string, round: number, participant: ParticipantId): Promise<void>;
  hasAsked(slug: string, round: number, participant: ParticipantId): Promise<boolean>;
  /** Everything shown in the round, by participant and path. */
  of<Facts>(slug: string, round: number): Promise<ShownFile<Facts>[]>;
}

export function createShown(db: Db): ShownStore {
  return {
    async record<Facts extends Prisma.InputJsonValue>(
      slug: string,
      round: number,
      participant: ParticipantId,
      shown: readonly { readonly path: string; readonly facts: Facts }[],
      merge: (kept: Facts, added: Facts) => Facts,
    ) {
      if (shown.length === 0) return;
      const added = new Map<string, { path: string; facts: Facts }>();
      for (const { path, facts } of shown) {
        const earlier = added.get(path);
        added.set(path, { path, facts: earlier ? merge(earlier.facts, facts) : facts });
      }
      const hashes = [...added.keys()].map(hashOf);
      await db.$transaction(async (tx) => {
        // A lock on what may have no row yet: Prisma has none.
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`shown ${slug} ${round} ${participant}`}, 0))`;
        const where = { slug, round, participant, pathHash: { in: hashes } };
        const kept = await tx.shown.findMany({ where });
        const keptFacts = new Map(kept.map((row) => [row.pathHash, row.facts as Facts]));
        if (kept.length > 0) await tx.shown.deleteMany({ where });
        await tx.shown.createMany({
          data: [...added.values()].map(({ path, facts }) => {
            const pathHash = hashOf(path);
            const before = keptFacts.get(pathHash);
            return { slug, round, participant, pathHash, path: storable(path), facts: before === undefined ? facts : merge(before, facts) };
          }),
        });
      });
    },
    async asked(slug, round, participant) {
      await db.shown.createMany({ data: [{ slug, round, participant, pathHash: NO_PATH, path: '', facts: {} }], skipDuplicates: true });
    },
    async hasAsked(slug, round, participant) {
      const key = { slug, round, participant, pathHash: NO_PATH };
      return (await db.shown.findUnique({ where: { slug_round_participant_pathHash: key }, select: { round: true } })) !== null;
    },
    async of<Facts>(slug: string, round: number) {
      const rows = await db.shown.findMany({
        where: { slug, round, path: { not: '' } },
        orderBy: [{ participant: 'asc' }, { path: 'asc' }],
      });
      return rows.map(({ participant, path, facts }) => ({ participant, path, facts: facts as Facts }));
    },
  };
}

const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex');

/** Where it is kept that there was a call at all: no file has an empty path. */
const NO_PATH = hashOf('');

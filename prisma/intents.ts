import { dateOf, type Db } from './db.js';

/** An Update that somebody has sent, or was about to. */
export interface Intent {
  readonly id: string;
  readonly slug: string;
}

export interface Intents {
  add(intent: Intent): Promise<void>;
  /** The Update was answered and left nothing to project (refused, or a repeat). */
  remove(ids: readonly string[]): Promise<void>;
  /** Intents from before `createdBefore` that no other sweeper has taken; now they are this one's. */
  takeStale(createdBefore: number): Promise<Intent[]>;
  /** Taken ones from before `createdBefore`: their senders have given up, whoever they were. */
  overdue(createdBefore: number): Promise<Intent[]>;
}

export function createIntents(db: Db, now: () => number): Intents {
  return {
    async add({ id, slug }) {
      await db.intent.create({ data: { id, slug, createdAt: dateOf(now()) } });
    },
    async remove(ids) {
      await db.intent.deleteMany({ where: { id: { in: [...ids] } } });
    },
    takeStale: (createdBefore) =>
      db.intent.updateManyAndReturn({
        where: { flushedAt: null, createdAt: { lt: dateOf(createdBefore) } },
        data: { flushedAt: dateOf(now()) },
        select: { id: true, slug: true },
      }),
    overdue: (createdBefore) =>
      db.intent.findMany({
        where: { flushedAt: { not: null }, createdAt: { lt: dateOf(createdBefore) } },
        select: { id: true, slug: true },
      }),
  };
}

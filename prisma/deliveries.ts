import type { ForgeName } from '../activities/forge/port.js';
import { dateOf, type Db } from './db.js';

/** A delivery as `barista doctor` shows it. `at`: epoch milliseconds. */
export interface LastDelivery {
  readonly id: string;
  readonly what: string;
  readonly at: number;
}

/** What the forges' deliveries leave in the database; each is kept whole as a workflow. */
export interface Deliveries {
  /** One came; an older one than the newest known changes nothing. */
  came(forge: ForgeName, delivery: LastDelivery): Promise<void>;
  last(forge: ForgeName): Promise<LastDelivery | null>;
  /**
   * V5: the forge told of the CI of a commit, so what was read of it before is old. `of`: the commit, or the key of the
   * pull request that it ran for, whose every commit it may be about.
   */
  ciHeard(repository: string, of: string, at: number): Promise<void>;
  /** When it last did; null: not lately. */
  ciHeardAt(repository: string, of: string): Promise<number | null>;
  /** Forgets what was heard of CI before `before`: nothing that is kept is that old. */
  sweepCi(before: number): Promise<void>;
}

export function createDeliveries(db: Db): Deliveries {
  return {
    async came(forge, { id, what, at }) {
      const set = { delivery: id, what, at: dateOf(at) };
      await db.lastDelivery.createMany({ data: [{ forge, ...set }], skipDuplicates: true });
      await db.lastDelivery.updateMany({ where: { forge, at: { lt: dateOf(at) } }, data: set });
    },
    async last(forge) {
      const row = await db.lastDelivery.findUnique({ where: { forge } });
      return row && { id: row.delivery, what: row.what, at: row.at.getTime() };
    },
    async ciHeard(repository, sha, at) {
      await db.ciHeard.createMany({ data: [{ repository, sha, at: dateOf(at) }], skipDuplicates: true });
      await db.ciHeard.updateMany({ where: { repository, sha, at: { lt: dateOf(at) } }, data: { at: dateOf(at) } });
    },
    async ciHeardAt(repository, sha) {
      const row = await db.ciHeard.findUnique({ where: { repository_sha: { repository, sha } } });
      return row?.at.getTime() ?? null;
    },
    async sweepCi(before) {
      await db.ciHeard.deleteMany({ where: { at: { lt: dateOf(before) } } });
    },
  };
}

import type { ContextKey, ContextStore } from '../activities/forge/port.js';
import { dateOf, type Db } from './db.js';

/** Keeps immutable reads of a forge for every process (DESIGN 8). */
export function createKeptReads(db: Db, now: () => number): ContextStore {
  return {
    async get({ repository, baseSha, headSha, kind }: ContextKey) {
      const kept = await db.keptRead.findUnique({
        where: { repository_baseSha_headSha_kind: { repository, baseSha, headSha, kind } },
        select: { value: true },
      });
      return kept?.value ?? null;
    },
    async put({ repository, baseSha, headSha, kind }: ContextKey, value: string) {
      const row = { repository, baseSha, headSha, kind, value, keptAt: dateOf(now()) };
      await db.keptRead.createMany({ data: [row], skipDuplicates: true });
    },
  };
}

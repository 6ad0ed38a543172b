import type { ForgeErrorKind, ForgeName } from '../activities/forge/port.js';
import type { Identity } from './repositories.js';
import { dateOf, type Db } from './db.js';

/** Why a repository cannot be reached under one identity: in words for its owner, with where to mend it. */
export interface ForgeTrouble {
  readonly identity: Identity;
  readonly kind: ForgeErrorKind;
  readonly message: string;
  /** Epoch milliseconds: when it began. */
  readonly since: number;
  /** When the forge will be asked again; null: it named no time. */
  readonly until: number | null;
}

/** What every process knows of the forges' repositories; one that is not in it can be reached, as far as is known. */
export interface ForgeStates {
  /** The trouble there is now. The same kind of trouble again keeps its beginning. */
  troubled(forge: ForgeName, repository: string, trouble: ForgeTrouble): Promise<void>;
  /** It can be reached again. */
  mended(forge: ForgeName, repository: string, identity: Identity): Promise<void>;
  of(forge: ForgeName, repository: string): Promise<ForgeTrouble[]>;
}

export function createForgeStates(db: Db): ForgeStates {
  return {
    async troubled(forge, repository, { identity, kind, message, since, until }) {
      const now = { kind, message, until: until === null ? null : dateOf(until) };
      await db.$transaction(async (tx) => {
        const { count } = await tx.forgeState.updateMany({ where: { forge, repository, identity, kind }, data: now });
        if (count > 0) return;
        const row = { ...now, since: dateOf(since) };
        await tx.forgeState.upsert({
          where: { forge_repository_identity: { forge, repository, identity } },
          create: { forge, repository, identity, ...row },
          update: row,
        });
      });
    },
    async mended(forge, repository, identity) {
      await db.forgeState.deleteMany({ where: { forge, repository, identity } });
    },
    async of(forge, repository) {
      const rows = await db.forgeState.findMany({ where: { forge, repository }, orderBy: { identity: 'asc' } });
      return rows.map((row) => ({
        identity: row.identity as Identity,
        kind: row.kind as ForgeErrorKind,
        message: row.message,
        since: row.since.getTime(),
        until: row.until?.getTime() ?? null,
      }));
    },
  };
}

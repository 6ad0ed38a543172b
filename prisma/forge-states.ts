import type { ForgeErrorKind, ForgeName, Identity, Limit } from '../activities/forge/port.js';
import { notify, FORGES_TOPIC } from './bus.js';
import { dateOf, type Db } from './db.js';

/** A kind of work that may be shut out by itself, for want of one permission. */
export type ForgePart = 'ci' | 'files' | 'texts' | 'posting';

/** Why a repository cannot be reached under one identity: in words for its owner, with where to mend it. */
export interface ForgeTrouble {
  readonly identity: Identity;
  /** Absent: everything is shut out. */
  readonly part?: ForgePart;
  readonly kind: ForgeErrorKind;
  readonly message: string;
  /** Epoch milliseconds: when it began. */
  readonly since: number;
  /** When the forge will be asked again; null: it named no time. */
  readonly until: number | null;
}

export interface ForgePlace {
  readonly forge: ForgeName;
  /** As in a resolved ref. */
  readonly repository: string;
}

/** A limit as the process that was told of it wrote it down. */
export interface HeardLimit extends Limit {
  readonly forge: ForgeName;
}

/** What every process knows of the forges' repositories; one that is not in it can be reached, as far as is known. */
export interface ForgeStates {
  /** The trouble there is now. The same kind of trouble again keeps its beginning. */
  troubled(forge: ForgeName, repository: string, trouble: ForgeTrouble): Promise<void>;
  /** It can be reached again; without `part`: as a whole, which proves nothing for a part that was shut out alone. */
  mended(forge: ForgeName, repository: string, identity: Identity, part?: ForgePart): Promise<void>;
  of(forge: ForgeName, repository: string): Promise<ForgeTrouble[]>;
  /** Tells every process of a limit; a later end is kept against an earlier one. */
  limited(limit: HeardLimit): Promise<void>;
  /** Everything that is known: the troubles there are, and the limits last named, run out or not. */
  all(): Promise<{
    readonly troubles: readonly (ForgePlace & { readonly trouble: ForgeTrouble })[];
    readonly limits: readonly HeardLimit[];
  }>;
}

/** Rows of {@link ForgeStates.limited}: no repository is spelt so. */
const LIMIT = 'limit ';

export function createForgeStates(db: Db): ForgeStates {
  return {
    async troubled(forge, repository, { identity, part, kind, message, since, until }) {
      const who = part === undefined ? identity : `${identity} ${part}`;
      const now = { kind, message, until: until === null ? null : dateOf(until) };
      await db.$transaction(async (tx) => {
        const { count } = await tx.forgeState.updateMany({ where: { forge, repository, identity: who, kind }, data: now });
        if (count === 0) {
          const row = { ...now, since: dateOf(since) };
          await tx.forgeState.upsert({
            where: { forge_repository_identity: { forge, repository, identity: who } },
            create: { forge, repository, identity: who, ...row },
            update: row,
          });
        }
        await notify(tx, FORGES_TOPIC);
      });
    },
    async mended(forge, repository, identity, part) {
      const who = part === undefined ? identity : `${identity} ${part}`;
      await db.$transaction(async (tx) => {
        const { count } = await tx.forgeState.deleteMany({ where: { forge, repository, identity: who } });
        if (count > 0) await notify(tx, FORGES_TOPIC);
      });
    },
    async of(forge, repository) {
      const rows = await db.forgeState.findMany({ where: { forge, repository }, orderBy: { identity: 'asc' } });
      return rows.map(troubleOf);
    },
    async limited({ forge, name, until }) {
      const repository = `${LIMIT}${name}`;
      const at = { until: dateOf(until) };
      await db.$transaction(async (tx) => {
        const where = { forge, repository, identity: 'operator' };
        await tx.forgeState.upsert({
          where: { forge_repository_identity: where },
          create: { ...where, kind: 'unavailable', message: '', since: dateOf(until), ...at },
          update: {},
        });
        await tx.forgeState.updateMany({ where: { ...where, until: { lt: at.until } }, data: at });
        await notify(tx, FORGES_TOPIC);
      });
    },
    async all() {
      const rows = await db.forgeState.findMany();
      const isLimit = ({ repository }: { repository: string }) => repository.startsWith(LIMIT);
      return {
        troubles: rows
          .filter((row) => !isLimit(row))
          .map((row) => ({ forge: row.forge as ForgeName, repository: row.repository, trouble: troubleOf(row) })),
        limits: rows.filter(isLimit).map((row) => ({
          forge: row.forge as ForgeName,
          name: row.repository.slice(LIMIT.length),
          until: row.until!.getTime(),
        })),
      };
    },
  };
}

interface Row {
  readonly identity: string;
  readonly kind: string;
  readonly message: string;
  readonly since: Date;
  readonly until: Date | null;
}

function troubleOf({ identity: who, kind, message, since, until }: Row): ForgeTrouble {
  const [identity, part] = who.split(' ') as [Identity, ForgePart?];
  return {
    identity,
    ...(part !== undefined && { part }),
    kind: kind as ForgeErrorKind,
    message,
    since: since.getTime(),
    until: until?.getTime() ?? null,
  };
}

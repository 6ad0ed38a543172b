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

export function createForgeStates(db: Db): ForgeStates {
  return {
    async troubled(forge, repository, { identity, part, kind, message, since, until }) {
      const where = { forge, repository, identity, part: part ?? EVERYTHING };
      const now = { kind, message, until: until === null ? null : dateOf(until) };
      await db.$transaction(async (tx) => {
        const { count } = await tx.forgeState.updateMany({ where: { ...where, kind }, data: now });
        if (count === 0) {
          const row = { ...now, since: dateOf(since) };
          await tx.forgeState.upsert({
            where: { forge_repository_identity_part: where },
            create: { ...where, ...row },
            update: row,
          });
        }
        await notify(tx, FORGES_TOPIC);
      });
    },
    async mended(forge, repository, identity, part) {
      await db.$transaction(async (tx) => {
        const { count } = await tx.forgeState.deleteMany({ where: { forge, repository, identity, part: part ?? EVERYTHING } });
        if (count > 0) await notify(tx, FORGES_TOPIC);
      });
    },
    async of(forge, repository) {
      const rows = await db.forgeState.findMany({ where: { forge, repository }, orderBy: [{ identity: 'asc' }, { part: 'asc' }] });
      return rows.map(troubleOf);
    },
    async limited({ forge, name, until }) {
      const set = { until: dateOf(until) };
      await db.$transaction(async (tx) => {
        await tx.forgeLimit.createMany({ data: [{ forge, name, ...set }], skipDuplicates: true });
        await tx.forgeLimit.updateMany({ where: { forge, name, until: { lt: set.until } }, data: set });
        await notify(tx, FORGES_TOPIC);
      });
    },
    async all() {
      const [states, limits] = await Promise.all([db.forgeState.findMany(), db.forgeLimit.findMany()]);
      return {
        troubles: states.map((row) => ({ forge: row.forge as ForgeName, repository: row.repository, trouble: troubleOf(row) })),
        limits: limits.map(({ forge, name, until }) => ({ forge: forge as ForgeName, name, until: until.getTime() })),
      };
    },
  };
}

/** How a row says that no part is shut out alone. */
const EVERYTHING = '';

interface Row {
  readonly identity: string;
  readonly part: string;
  readonly kind: string;
  readonly message: string;
  readonly since: Date;
  readonly until: Date | null;
}

function troubleOf({ identity, part, kind, message, since, until }: Row): ForgeTrouble {
  return {
    identity: identity as Identity,
    ...(part !== EVERYTHING && { part: part as ForgePart }),
    kind: kind as ForgeErrorKind,
    message,
    since: since.getTime(),
    until: until?.getTime() ?? null,
  };
}

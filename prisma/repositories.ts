import type { ForgeName, Identity } from '../activities/forge/port.js';
import type { ParticipantId } from '../workflows/room/state.js';
import type { Recipe } from '../workflows/room/words.js';
import { Prisma } from './generated/client.js';
import { dateOf, type Db } from './db.js';

/** The rooms that open by themselves when a pull request opens or leaves draft. */
export interface AutomaticRooms {
  readonly recipe: Recipe;
  /** The owner's agents that join it, in this order. */
  readonly crew: readonly ParticipantId[];
  readonly barista: boolean;
  /** Only pull requests that carry this label; null: every one. */
  readonly label: string | null;
}

export type { Identity } from '../activities/forge/port.js';

export interface RepositorySettings {
  /** null: rooms open by hand alone. */
  readonly automatic: AutomaticRooms | null;
  /** null: the reviewer's identity, where the server has one. */
  readonly postAs: Identity | null;
  /** W9: posts as the operator's comment where the reviewer's App is not installed. */
  readonly commentInstead: boolean;
}

export const DEFAULT_REPOSITORY_SETTINGS: RepositorySettings = { automatic: null, postAs: null, commentInstead: false };

/** A repository as its forge knows it: `repository` is as in a resolved ref, `url` where people see it. */
export interface RepositoryPlace {
  readonly forge: ForgeName;
  readonly repository: string;
  readonly url: string;
}

export interface Repositories {
  /** The defaults where the owner set nothing. */
  settings(ownerId: string, forge: ForgeName, repository: string): Promise<RepositorySettings>;
  /** Sets those that are named, and the address of today; the others stay as they are, whoever sets them meanwhile. */
  keep(ownerId: string, place: RepositoryPlace, settings: Partial<RepositorySettings>): Promise<void>;
  /** What the owner has set, by address. */
  ofOwner(ownerId: string): Promise<(RepositoryPlace & { readonly settings: RepositorySettings })[]>;
  /** Every owner whose rooms open by themselves there, in the order of their names. */
  automatic(
    forge: ForgeName,
    repository: string,
  ): Promise<{ readonly owner: { readonly id: string; readonly name: string }; readonly rooms: AutomaticRooms }[]>;
}

export function createRepositories(db: Db, now: () => number): Repositories {
  return {
    async settings(ownerId, forge, repository) {
      const row = await db.repositorySettings.findUnique({ where: { ownerId_forge_repository: { ownerId, forge, repository } } });
      return row ? settingsOf(row) : DEFAULT_REPOSITORY_SETTINGS;
    },
    async keep(ownerId, { forge, repository, url }, { automatic, postAs, commentInstead }) {
      const set = {
        url,
        ...(automatic !== undefined && { automatic: automatic === null ? Prisma.DbNull : { ...automatic, crew: [...automatic.crew] } }),
        ...(postAs !== undefined && { postAs }),
        ...(commentInstead !== undefined && { commentInstead }),
        updatedAt: dateOf(now()),
      };
      await db.repositorySettings.upsert({
        where: { ownerId_forge_repository: { ownerId, forge, repository } },
        create: { ownerId, forge, repository, ...set },
        update: set,
      });
    },
    async ofOwner(ownerId) {
      const rows = await db.repositorySettings.findMany({ where: { ownerId }, orderBy: [{ url: 'asc' }, { repository: 'asc' }] });
      return rows.map((row) => ({
        forge: row.forge as ForgeName,
        repository: row.repository,
        url: row.url,
        settings: settingsOf(row),
      }));
    },
    async automatic(forge, repository) {
      const rows = await db.repositorySettings.findMany({
        where: { forge, repository, automatic: { not: Prisma.AnyNull } },
        select: { owner: { select: { id: true, name: true } }, automatic: true },
        orderBy: { owner: { name: 'asc' } },
      });
      return rows.map(({ owner, automatic }) => ({ owner, rooms: automatic as unknown as AutomaticRooms }));
    },
  };
}

interface Row {
  readonly automatic: Prisma.JsonValue;
  readonly postAs: string | null;
  readonly commentInstead: boolean;
}

/** Our own JSON, written by `keep` alone. */
function settingsOf({ automatic, postAs, commentInstead }: Row): RepositorySettings {
  return { automatic: automatic as unknown as AutomaticRooms | null, postAs: postAs as Identity | null, commentInstead };
}

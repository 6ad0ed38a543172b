import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '../workflows/room/refusal.js';
import { dateOf, isDuplicate, type Db } from './db.js';

export interface User {
  readonly id: string;
  readonly name: string;
}

export interface Agent extends User {
  readonly ownerId: string;
  readonly createdAt: number;
}

/** Who a key belongs to. Its id is the participant id in every room. */
export type Caller =
  | { readonly kind: 'agent'; readonly id: string; readonly name: string; readonly ownerId: string }
  | { readonly kind: 'person'; readonly id: string; readonly name: string };

export type Holder = Pick<Caller, 'kind' | 'id'>;

export interface Accounts {
  /** @throws Refusal `invalid` (R11) or `conflict` where the name is taken */
  addUser(name: string): Promise<User>;
  users(): Promise<User[]>;
  user(id: string): Promise<User | null>;
  /** @throws as {@link addUser}; a deleted agent's name is free again */
  addAgent(ownerId: string, name: string): Promise<Agent>;
  /** The owner's living agents, oldest first. */
  agents(ownerId: string): Promise<Agent[]>;
  /** A living agent of this owner. */
  agent(ownerId: string, id: string): Promise<Agent | null>;
  /** Its keys stop at once; its rooms are told by whoever calls (R6). False: there is no such living agent. */
  deleteAgent(ownerId: string, id: string): Promise<boolean>;

  /** A new key (`bu_…` of a person, `ba_…` of an agent), to be shown once: only its hash stays. */
  issueKey(holder: Holder): Promise<string>;
  /** A new key of a living agent of this owner; every key it had stops with the same stroke. Null: there is no such agent. */
  renewKey(ownerId: string, id: string): Promise<{ agent: Agent; key: string } | null>;
  /** Takes a key chosen outside (BARISTA_OWNER_KEY). Safe to repeat. @throws Refusal `conflict` where it is another's */
  keepKey(holder: Holder, key: string): Promise<void>;
  /** Every key, session and link of the holder stops at once. */
  revokeKeys(holder: Holder): Promise<void>;
  /** Whose key this is; null for none, and for a deleted agent's. */
  callerOf(key: string): Promise<Caller | null>;

  /** A one-time link's secret; {@link Accounts.takeLink} makes a session of it, once. */
  issueLink(userId: string, lifeMs: number): Promise<string>;
  takeLink(secret: string, sessionMs: number): Promise<string | null>;
  openSession(userId: string, lifeMs: number): Promise<string>;
  sessionUser(secret: string): Promise<User | null>;
  closeSession(secret: string): Promise<void>;
  /** Removes what has run out. */
  sweepKeys(): Promise<void>;

  /** R11. Safe to repeat. */
  linkRepository(ownerId: string, forge: string, repository: string): Promise<void>;
  /** Its rooms go on. False: it was not linked. */
  unlinkRepository(ownerId: string, forge: string, repository: string): Promise<boolean>;
  repositoryLinks(ownerId: string): Promise<{ forge: string; repository: string; createdAt: number }[]>;
  /** R11: whether this owner may open rooms on it; a sole owner may wherever the server's connections reach. */
  mayOpen(ownerId: string, forge: string, repository: string): Promise<boolean>;
}

const NAME = /^[a-z0-9-]{1,39}$/;
/** Who the room's own notes are from: nobody else may speak under it. */
const ROOM_ITSELF = 'barista';

export function createAccounts(db: Db, now: () => number): Accounts {
  const keyOf = (holder: Holder) => (holder.kind === 'agent' ? { agentId: holder.id } : { userId: holder.id });

  async function secretFor(userId: string, kind: 'session' | 'link', lifeMs: number): Promise<string> {
    const secret = newSecret();
    const at = now();
    await db.key.create({ data: { hash: hashOf(secret), kind, userId, createdAt: dateOf(at), expiresAt: dateOf(at + lifeMs) } });
    return secret;
  }

  return {
    async addUser(name) {
      checkName(name);
      if (name === ROOM_ITSELF) throw taken(name);
      const id = `us_${randomUUID()}`;
      return unlessTaken(name, db.user.create({ data: { id, name, createdAt: dateOf(now()) }, select: { id: true, name: true } }));
    },
    users: () => db.user.findMany({ orderBy: { createdAt: 'asc' }, select: { id: true, name: true } }),
    user: (id) => db.user.findUnique({ where: { id }, select: { id: true, name: true } }),

    async addAgent(ownerId, name) {
      checkName(name);
      // In a room `@name` is one participant: an agent is not called as its owner is either.
      const owner = await db.user.findUnique({ where: { id: ownerId }, select: { name: true } });
      if (name === ROOM_ITSELF || name === owner?.name) throw taken(name);
      const id = `ag_${randomUUID()}`;
      return agentOf(await unlessTaken(name, db.agent.create({ data: { id, ownerId, name, createdAt: dateOf(now()) } }), lostKey(name)));
    },
    async agents(ownerId) {
      return (await db.agent.findMany({ where: { ownerId, deletedAt: null }, orderBy: { createdAt: 'asc' } })).map(agentOf);
    },
    async agent(ownerId, id) {
      const found = await db.agent.findFirst({ where: { id, ownerId, deletedAt: null } });
      return found && agentOf(found);
    },
    async deleteAgent(ownerId, id) {
      const [{ count }] = await db.$transaction([
        db.agent.updateMany({ where: { id, ownerId, deletedAt: null }, data: { deletedAt: dateOf(now()) } }),
        db.key.deleteMany({ where: { agent: { id, ownerId } } }),
      ]);
      return count > 0;
    },

    async issueKey(holder) {
      const key = `${holder.kind === 'agent' ? 'ba' : 'bu'}_${newSecret()}`;
      await db.key.create({ data: { hash: hashOf(key), kind: 'key', ...keyOf(holder), createdAt: dateOf(now()) } });
      return key;
    },
    async renewKey(ownerId, id) {
      const key = `ba_${newSecret()}`;
      return db.$transaction(async (tx) => {
        // Holds the agent's row: two renewals at once leave one key, and none outlives a deletion.
        const { count } = await tx.agent.updateMany({ where: { id, ownerId, deletedAt: null }, data: { deletedAt: null } });
        if (count === 0) return null;
        await tx.key.deleteMany({ where: { agentId: id } });
        await tx.key.create({ data: { hash: hashOf(key), kind: 'key', agentId: id, createdAt: dateOf(now()) } });
        return { agent: agentOf(await tx.agent.findUniqueOrThrow({ where: { id } })), key };
      });
    },
    async keepKey(holder, key) {
      const mine = keyOf(holder);
      const hash = hashOf(key);
      await db.key.createMany({ data: [{ hash, kind: 'key', ...mine, createdAt: dateOf(now()) }], skipDuplicates: true });
      const kept = await db.key.findFirst({ where: { hash, kind: 'key', ...mine } });
      if (!kept) throw new Refusal('conflict', 'This key belongs to somebody else. Choose another.');
    },
    async revokeKeys(holder) {
      await db.key.deleteMany({ where: keyOf(holder) });
    },
    async callerOf(key) {
      const found = await db.key.findFirst({
        where: { hash: hashOf(key), kind: 'key' },
        select: { user: true, agent: true },
      });
      if (found?.user) return { kind: 'person', id: found.user.id, name: found.user.name };
      if (found?.agent && !found.agent.deletedAt) {
        return { kind: 'agent', id: found.agent.id, name: found.agent.name, ownerId: found.agent.ownerId };
      }
      return null;
    },

    issueLink: (userId, lifeMs) => secretFor(userId, 'link', lifeMs),
    async takeLink(secret, sessionMs) {
      const hash = hashOf(secret);
      const link = await db.key.findFirst({ where: { hash, kind: 'link', expiresAt: { gt: dateOf(now()) } } });
      if (!link?.userId) return null;
      // Whoever deletes it has it: two browsers with one link are one session.
      const { count } = await db.key.deleteMany({ where: { hash } });
      return count === 1 ? secretFor(link.userId, 'session', sessionMs) : null;
    },
    openSession: (userId, lifeMs) => secretFor(userId, 'session', lifeMs),
    async sessionUser(secret) {
      const found = await db.key.findFirst({
        where: { hash: hashOf(secret), kind: 'session', expiresAt: { gt: dateOf(now()) } },
        select: { user: { select: { id: true, name: true } } },
      });
      return found?.user ?? null;
    },
    async closeSession(secret) {
      await db.key.deleteMany({ where: { hash: hashOf(secret), kind: 'session' } });
    },
    async sweepKeys() {
      await db.key.deleteMany({ where: { expiresAt: { lte: dateOf(now()) } } });
    },

    async linkRepository(ownerId, forge, repository) {
      await db.repositoryLink.createMany({ data: [{ ownerId, forge, repository, createdAt: dateOf(now()) }], skipDuplicates: true });
    },
    async unlinkRepository(ownerId, forge, repository) {
      return (await db.repositoryLink.deleteMany({ where: { ownerId, forge, repository } })).count > 0;
    },
    async repositoryLinks(ownerId) {
      const links = await db.repositoryLink.findMany({ where: { ownerId }, orderBy: { createdAt: 'asc' } });
      return links.map(({ forge, repository, createdAt }) => ({ forge, repository, createdAt: createdAt.getTime() }));
    },
    async mayOpen(ownerId, forge, repository) {
      const [linked, others] = await Promise.all([
        db.repositoryLink.findUnique({ where: { ownerId_forge_repository: { ownerId, forge, repository } } }),
        db.user.findFirst({ where: { id: { not: ownerId } }, select: { id: true } }),
      ]);
      return linked !== null || others === null;
    },
  };
}

function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new Refusal('invalid', `${JSON.stringify(name)} cannot be a name: 1 to 39 of a-z, 0-9 and -.`, undefined, 'name');
}

const lostKey = (name: string) => `If ${name} is your agent and its key is lost: barista agent key ${name} makes a new one.`;

async function unlessTaken<T>(name: string, created: Promise<T>, hint?: string): Promise<T> {
  try {
    return await created;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw taken(name, hint);
  }
}

function taken(name: string, hint?: string): Refusal {
  return new Refusal('conflict', `The name ${name} is taken. Choose another.`, hint, 'name');
}

function agentOf(row: { id: string; name: string; ownerId: string; createdAt: Date }): Agent {
  return { id: row.id, name: row.name, ownerId: row.ownerId, createdAt: row.createdAt.getTime() };
}

/** 256 random bits need no slow hash: nobody guesses them. */
const newSecret = (): string => randomBytes(32).toString('base64url');

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

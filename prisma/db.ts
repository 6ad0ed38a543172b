import { PrismaPg } from '@prisma/adapter-pg';
import { Prisma, PrismaClient } from './generated/client.js';

export type Db = PrismaClient;
export type Tx = Prisma.TransactionClient;

/**
 * In milliseconds. A room's writers wait in line for its row; hundreds of them, at a few milliseconds each, fit in well.
 * A connection is waited for as long by a lone statement as by a transaction: until then the database is only busy.
 */
const PATIENCE = { connection: 10_000, work: 15_000 } as const;

/** The pool outlives its connections: the adapter listens to their errors, so a database that goes away fails calls only. */
export function connect(url: string, poolSize: number, patienceMs?: number): Db {
  const { connection, work } = patienceMs === undefined ? PATIENCE : { connection: patienceMs, work: patienceMs };
  const adapter = new PrismaPg({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connection,
    query_timeout: work,
    keepAlive: true,
  });
  return new PrismaClient({ adapter, transactionOptions: { maxWait: connection, timeout: work } });
}

export const dateOf = (at: number): Date => new Date(at);

/** Room row columns that its writers need, under its lock until the transaction ends; null where there is no such room. */
interface LockedRoom {
  readonly seq: number;
  readonly lastMessageId: number;
  readonly endedAt: Date | null;
}

/**
 * Takes the room's row for this transaction: the one lock of a room, so that its counters and its state move in
 * commit order. Raw SQL, for Prisma has no row lock. Not FOR UPDATE: rows that merely refer to the room (spans,
 * texts) must not wait.
 */
export async function lockRoom(tx: Tx, slug: string): Promise<LockedRoom | null> {
  const rows = await tx.$queryRaw<LockedRoom[]>`
    SELECT seq, last_message_id AS "lastMessageId", ended_at AS "endedAt" FROM rooms WHERE slug = ${slug} FOR NO KEY UPDATE`;
  return rows[0] ?? null;
}

/** PostgreSQL's text and jsonb take neither NUL nor half a surrogate pair: both become U+FFFD. */
export function storable(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/** The unique constraint was hit: somebody else was first. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}

/** P1xxx: not reachable, gone in the middle, too slow; P2024, P2028: no connection or transaction to be had. */
const PRISMA_AWAY = /^P1\d\d\d$|^P2024$|^P2028$/;
/** What the adapter says where Prisma has no code of its own (raw statements, a transaction's own). */
const ADAPTER_AWAY = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);
/** SQLSTATE: connection trouble, out of resources, shut down or starting up. */
const SQLSTATE_AWAY = /^(08|53|57P)/;
/** No way to its host, or no address for it just now: what the adapter has no kind for it passes on as Node has it. */
const NODE_AWAY = new Set(['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNREFUSED', 'ETIMEDOUT', 'EPIPE']);
/** node-postgres has no codes for its own findings. */
const PG_AWAY = /connection error and is not queryable|connection terminated|timeout exceeded when trying to connect|query read timeout/i;

interface DriverFailure {
  readonly cause?: { readonly kind?: string; readonly code?: string };
}

/** Whether the failure is the database's absence: the same call may do later. */
export function isDatabaseAway(error: unknown): error is Error {
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  if (!(error instanceof Error)) return false;
  if (PG_AWAY.test(error.message)) return true;
  if (error instanceof Prisma.PrismaClientKnownRequestError && PRISMA_AWAY.test(error.code)) return true;
  if (NODE_AWAY.has((error as NodeJS.ErrnoException).code ?? '')) return true;
  const failure =
    error instanceof Prisma.PrismaClientKnownRequestError
      ? (error.meta?.['driverAdapterError'] as DriverFailure | undefined)
      : (error as DriverFailure);
  const { kind = '', code = '' } = failure?.cause ?? {};
  return ADAPTER_AWAY.has(kind) || SQLSTATE_AWAY.test(code);
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { RoomRow, Store } from '../../prisma/store.js';
import { ROOM_QUERY, roomWorkflowId } from '../../workflows/messages.js';
import type { RoomState } from '../../workflows/room/state.js';

const PAGE = 100;
const ANSWER_MS = 10_000;
/** Events on their way to the database have arrived by then. */
const SETTLE_MS = 2_000;

/**
 * Whether every living room has a run, and the run and the database agree on its event number (DESIGN 12).
 * @throws Error naming each room where not, and what to do
 */
export async function checkRooms(store: Store, client: Client): Promise<string> {
  const problems: string[] = [];
  let count = 0;
  for (let after: string | null = null; ;) {
    const page: RoomRow[] = await store.rooms.living(after, PAGE);
    for (const { slug } of page) problems.push(...(await problemOf(slug, store, client)));
    count += page.length;
    if (page.length < PAGE) break;
    after = page.at(-1)!.slug;
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return `${count} living, each with its run`;
}

async function problemOf(slug: string, store: Store, client: Client): Promise<string[]> {
  const seen = await look(slug, store, client);
  if (seen === null) return [];
  if (typeof seen === 'string') return [seen];
  await wait(SETTLE_MS);
  const again = await look(slug, store, client);
  if (again === null) return [];
  if (typeof again === 'string') return [again];
  const { run, database } = again;
  return [
    run < database
      ? `${slug}: its run is at event ${run} and the database at ${database}, as after a reset: terminate the run, then barista room restart ${slug}`
      : `${slug}: the database is at event ${database} and does not catch up with its run at ${run}: is a worker running?`,
  ];
}

/** Null: all is well. */
async function look(slug: string, store: Store, client: Client): Promise<{ run: number; database: number } | string | null> {
  const handle = client.workflow.getHandle(roomWorkflowId(slug));
  try {
    const { status } = await client.withAbortSignal(AbortSignal.timeout(ANSWER_MS), () => handle.describe());
    if (status.name !== 'RUNNING') return `${slug}: its run has ended (${status.name.toLowerCase()}): barista room restart ${slug}`;
    const state = await client.withAbortSignal(AbortSignal.timeout(ANSWER_MS), () => handle.query<RoomState>(ROOM_QUERY));
    const database = (await store.rooms.seq(slug)) ?? 0;
    return state.seq === database ? null : { run: state.seq, database };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return `${slug}: its run is gone: barista room restart ${slug}`;
    return noAnswerOf(slug, (error as Error).message);
  }
}

/** W12: a run whose history this version does not replay answers nobody, whatever worker runs. */
export function noAnswerOf(slug: string, why: string): string {
  return why.includes(NOT_REPLAYED)
    ? `${slug}: this version cannot go on with its run (${why}): go back to the version it ran on, or terminate the run, then barista room restart ${slug}`
    : `${slug}: its run does not answer (${why}): is a worker running?`;
}

/** How Temporal's core marks what a worker answers where a history does not replay. */
const NOT_REPLAYED = '[TMPRL1100]';

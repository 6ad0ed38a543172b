import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { databaseAway } from './database-away.js';
import { ForgeError } from './forge/port.js';
import { lookAtHead, refOf } from './head.js';
import type { ActivityDeps } from './deps.js';
import type { RoomActivities } from '../workflows/activities.js';
import type { RoomState } from '../workflows/room/state.js';

/** A branch on disk is looked at for next to nothing. */
const LOCAL_POLL = 2_000;
/** P4: a room in which nothing has happened for a day is looked at less often, at last every half hour. */
const LONG_SILENT = 24 * 60 * 60_000;
const RARE_POLL = 30 * 60_000;
const FORGE_AWAY = 30_000;

/** B29: a forge that restarts, or limits its callers for a moment, is not broken yet. */
const BROKEN_AFTER = 5 * 60_000;

/** So long after a limit has run out, at most: rooms of one limit that all asked in its first second would meet the next. */
const SPREAD = 60_000;

/** What one attempt leaves for the next; the server keeps it between them. */
interface Trace {
  /** What was seen and found to be nothing new, and the room it was compared with; absent before the first read. */
  readonly seen?: { readonly fingerprint: string | null; readonly seq: number };
  /** When the head could first not be read; null when it could at last. */
  readonly failingSince: number | null;
}

/**
 * P4 at no cost in history: an attempt that finds nothing new fails, and Temporal retries it after the delay it
 * asks for without writing an event. What it compares is the room as the database has it.
 */
export function createWatchHead({ store, forge, now }: ActivityDeps, random: () => number = Math.random): RoomActivities['watchHead'] {
  return async ({ slug, broken }) => {
    const room = await store.rooms.state(slug).catch((error: unknown) => {
      // Attempts are counted over all looks, so that Temporal's own delay would be the longest.
      throw databaseAway(error) ?? error;
    });
    if (!room) throw again('the room is not in the database yet', LOCAL_POLL);
    const context = Context.current();
    const last = (context.info.heartbeatDetails ?? { failingSince: null }) as Trace;
    try {
      const fingerprint = await forge.headFingerprint(refOf(room.pullRequest));
      if (broken || last.seen?.seq !== room.head.seq || last.seen.fingerprint !== fingerprint) {
        const seen = await lookAtHead(forge, room);
        if (broken || seen.sha !== room.head.sha || seen.state !== room.head.state) return seen;
      }
      context.heartbeat({ seen: { fingerprint, seq: room.head.seq }, failingSince: null } satisfies Trace);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const failingSince = last.failingSince ?? now();
      if (!broken && now() - failingSince >= BROKEN_AFTER)
        return { brokenSince: failingSince, trouble: error.facts.limit ? 'limited' : error.kind };
      context.heartbeat({ ...last, failingSince } satisfies Trace);
      // Only somebody's hand mends the others, and the forge's delivery tells of it sooner.
      const later = broken && error.kind !== 'unavailable' ? Math.max(FORGE_AWAY, nextLook(room, now())) : FORGE_AWAY;
      const wait = error.retryAfter === undefined ? later : error.retryAfter * 1_000;
      throw again(error.message, error.facts.limit ? wait + Math.floor(random() * SPREAD) : wait);
    }
    throw again('the head has not moved', nextLook(room, now()));
  };
}

function again(why: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({ type: 'not_moved', message: why, nextRetryDelay, category: ApplicationFailureCategory.BENIGN });
}

function nextLook(room: RoomState, now: number): number {
  const { headPoll } = room.durations;
  if (room.pullRequest.forge === 'local') return Math.min(LOCAL_POLL, headPoll);
  const quietSince = Math.max(room.head.since, room.round?.openedAt ?? 0, room.round?.closed?.at ?? 0);
  return now - quietSince > LONG_SILENT ? Math.max(RARE_POLL, headPoll) : headPoll;
}

import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
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

/**
 * P4 at no cost in history: an attempt that finds nothing new fails, and Temporal retries it after the delay it
 * asks for without writing an event. What it compares is the room as the database has it.
 */
export function createWatchHead({ store, forge, now }: ActivityDeps): RoomActivities['watchHead'] {
  return async ({ slug }) => {
    const room = await store.rooms.state(slug);
    if (!room) throw again('the room is not in the database yet', LOCAL_POLL);
    try {
      const fingerprint = await forge.headFingerprint(refOf(room.pullRequest));
      // What the last attempt saw and found to be nothing new; kept by the server between attempts.
      const last = Context.current().info.heartbeatDetails as { fingerprint: string | null; seq: number } | undefined;
      if (last?.seq !== room.head.seq || last.fingerprint !== fingerprint) {
        const seen = await lookAtHead(forge, room);
        if (seen.sha !== room.head.sha || seen.state !== room.head.state) return seen;
      }
      Context.current().heartbeat({ fingerprint, seq: room.head.seq });
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      throw again(error.message, error.retryAfter === undefined ? FORGE_AWAY : error.retryAfter * 1_000);
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

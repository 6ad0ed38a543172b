import type { DeliveryActivities, DeliveryName, DueInput, Look, RoomLook } from '../../workflows/delivery/activities.js';
import { carries } from '../../workflows/delivery/lag.js';
import type { PullRequest, RoomState } from '../../workflows/room/state.js';
import type { ActivityDeps } from '../deps.js';
import { ForgeError, type Forge, type HeadRead } from '../forge/port.js';
import { refOf, seenFrom } from '../head.js';
import { slugEndOf } from './automatic-room.js';
import { failureOfForge } from './failures.js';
import { NextReads } from './next-reads.js';

/** The pull request as it was read, and what each of its living rooms is to know of it; or the failure, and which rooms there are. */
type Seen =
  { readonly head: HeadRead; readonly rooms: readonly RoomLook[] } | { readonly failed: ForgeError; readonly rooms: readonly string[] };

/**
 * P4: one read of the pull request for every room that stands on it, and for every delivery that asks before it begins;
 * nobody's pull request is not read.
 */
export function createLook({ store, forge }: ActivityDeps): DeliveryActivities['lookAtPullRequest'] {
  const reads = new NextReads<Seen>();

  return async ({ delivery, pullRequest, due }): Promise<Look> => {
    const [rows, automatic] = await Promise.all([
      store.rooms.ofPullRequest(pullRequest.key),
      due === null ? [] : store.repositories.automatic(pullRequest.forge, pullRequest.repository),
    ]);
    if (rows.length === 0 && automatic.length === 0) return { kind: 'nobody' };
    const seen = await reads.read(`${pullRequest.key} ${pullRequest.url}`, () => see(pullRequest));
    if ('failed' in seen) {
      const { failed, rooms } = seen;
      if (failed.kind === 'unavailable') throw failureOfForge(failed);
      return { kind: 'unread', trouble: failed.kind, why: failed.message, rooms };
    }
    const { head, rooms } = seen;
    return {
      kind: 'read',
      shown: { sha: head.headSha, state: head.state, draft: draftOf(head), labels: labelsOf(head) },
      rooms,
      due: due === null ? [] : await dueOwners(delivery, pullRequest.key, automatic, due, head),
    };
  };

  async function see(pullRequest: PullRequest): Promise<Seen> {
    // Before the forge is read: a room that learns of another head meanwhile takes no notice of this read.
    const rooms = await livingRooms(pullRequest.key);
    try {
      const head = await forge.head(refOf(pullRequest));
      return { head, rooms: await Promise.all(rooms.map((room) => lookOf(forge, room, head))) };
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return { failed: error, rooms: rooms.map(({ slug }) => slug) };
    }
  }

  async function livingRooms(key: string): Promise<RoomState[]> {
    const rows = await store.rooms.ofPullRequest(key);
    const states = await Promise.all(rows.map(({ slug }) => store.rooms.state(slug)));
    // One that is just being opened reads the head itself.
    return states.filter((state) => state !== null && state.ended === null) as RoomState[];
  }

  /** The owners whose room is to open: those that never had one of it, or whose room this very delivery began. */
  async function dueOwners(
    delivery: DeliveryName,
    key: string,
    automatic: Awaited<ReturnType<typeof store.repositories.automatic>>,
    told: DueInput,
    head: HeadRead,
  ): Promise<string[]> {
    const labels = labelsOf(head) ?? told.labels;
    if (head.state !== 'open' || (draftOf(head) ?? told.draft)) return [];
    const owners: string[] = [];
    for (const { owner, rooms } of automatic) {
      if (rooms.label === null ? told.byLabel : !carries(labels, rooms.label)) continue;
      const had = await store.rooms.everOf(owner.id, key);
      const end = slugEndOf(delivery, owner.id, rooms);
      if (had.length === 0 || had.some(({ slug, endedAt }) => endedAt === null && slug.endsWith(end))) owners.push(owner.id);
    }
    return owners;
  }
}

async function lookOf(forge: Forge, room: RoomState, head: HeadRead): Promise<RoomLook> {
  const { sha, baseSha, state, brokenSince, seq } = room.head;
  const knows = head.state === state && (head.headSha ?? sha) === sha && (head.baseSha ?? baseSha) === baseSha && brokenSince === null;
  return { slug: room.slug, seen: knows ? null : { ...(await seenFrom(forge, room, head)), knownSeq: seq } };
}

const draftOf = (head: HeadRead): boolean | null => (head.headSha === null ? null : (head.draft ?? null));
const labelsOf = (head: HeadRead): readonly string[] | null => (head.headSha === null ? null : (head.labels ?? null));

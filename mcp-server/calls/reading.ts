import { isPresent } from '../../workflows/room/members.js';
import { recordOf } from '../../workflows/room/record.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { openRound } from '../../workflows/room/rounds.js';
import type { ParticipantId, RoomState } from '../../workflows/room/state.js';
import { wouldReveal } from '../../workflows/room/visibility.js';
import type { Call } from '../deps.js';
import type { Snapshot } from '../views/snapshot.js';
import { knownRoom } from './access.js';
import { send } from './write.js';

/** Whoever is in the room; or its owner as well, who need not be in it for what is the owner's alone. */
type Reader = 'member' | 'member_or_owner';

/** One moment of the room, for somebody who may read it. @throws Refusal `not_found`, `not_a_member` */
export async function snapshotOf(call: Call, slug: string, reader: Reader = 'member'): Promise<Snapshot> {
  const snapshot = await call.deps.store.rooms.snapshot(slug, { records: 'all' });
  const mayRead = ({ owner }: RoomState): boolean => reader === 'member_or_owner' && owner === call.caller.id;
  if (snapshot !== null && (isPresent(snapshot.state, call.caller.id) || mayRead(snapshot.state))) {
    return { ...snapshot, records: new Map([...snapshot.records].map(([number, record]) => [number, recordOf(record)!])) };
  }
  await knownRoom(call, slug);
  throw new Refusal('not_a_member', `You are not in room ${slug}.`, 'Call join_room first.');
}

/** A room may change while its reader is being recorded; so often is it read again. */
const READS = 5;

/**
 * Reveal before read (DESIGN 3): what a caller may be shown reviews from. If it would show another's review of the
 * open round for the first time, that is recorded in the room first and everything is read again, so that whoever has
 * seen another's review can no longer replace its own (V8). Tool, REST, page and events all read by this.
 */
export async function snapshotToShow(call: Call, slug: string, reader: Reader = 'member'): Promise<Snapshot> {
  for (let reads = 1; ; reads++) {
    const snapshot = await snapshotOf(call, slug, reader);
    const round = openRound(snapshot.state);
    // In a room that has ended nobody replaces a review any more, so there is nothing to record.
    if (round === null || snapshot.state.ended !== null || !wouldReveal(snapshot.state, call.caller.id)) return snapshot;
    try {
      await send(call, snapshot.state, { type: 'reveal', by: call.caller.id, round: round.number });
    } catch (error) {
      if (!(error instanceof Refusal && (error.code === 'conflict' || error.code === 'room_closed'))) throw error;
    }
    if (reads === READS) throw new Refusal('unavailable', 'The room keeps changing while it is read.', 'Repeat the same call.');
  }
}

/** For answers that are no reading of reviews: the room as if the others had submitted nothing in the open round. */
export function withoutOthersReviews(snapshot: Snapshot, reader: ParticipantId): Snapshot {
  const round = openRound(snapshot.state);
  if (round === null || !wouldReveal(snapshot.state, reader)) return snapshot;
  const reviews = round.reviews.filter((review) => review.by === reader);
  const findings = snapshot.state.findings.filter((finding) => finding.raisedIn !== round.number || finding.raisedBy === reader);
  return { ...snapshot, state: { ...snapshot.state, round: { ...round, reviews }, findings } };
}

import type { RoomEvent } from './events.js';
import type { Draft, DraftFinding, Finding, ParticipantId, RoomState, Round } from './state.js';

/** A round with all that was in it: what the projection keeps once the next round opens and the state lets it go. */
export interface RoundRecord {
  readonly round: Round;
  /** Raised in it or carried into it, settled or not, as they stood when the next round opened. */
  readonly findings: readonly Finding[];
  /** Its draft as it was last known; while the state still has this round's draft, the state's is the newer (D6). */
  readonly draft: Draft | null;
}

/** The latest round as a record; null before round 1. */
export function recordOf(room: RoomState): RoundRecord | null {
  const { round, findings, draft } = room;
  return round && { round, findings, draft: draft?.round === round.number ? draft : null };
}

/** Whether {@link recordsAfter} has anything to do, so that the records need not be loaded for every event. */
export function changesRecords(before: RoomState, event: RoomEvent): boolean {
  if (event.type === 'RoundOpened') return before.round !== null;
  if (event.type === 'DraftSaved') return before.draft !== null && before.draft.round !== event.round;
  return event.type === 'AgentDeleted';
}

/** The records of a room after an event, from those before it; a record that stays the same stays the same object. */
export function recordsAfter(records: readonly RoundRecord[], before: RoomState, event: RoomEvent): readonly RoundRecord[] {
  if (!changesRecords(before, event)) return records;
  if (event.type === 'RoundOpened') return [...records, recordOf(before)!];
  if (event.type === 'AgentDeleted') return records.map((record) => withoutAgent(record, event.id));
  // A newer round's draft takes the place of an older one in the state: its record keeps how that one ended.
  const { draft } = before;
  return records.map((record) => (record.round.number === draft?.round ? { ...record, draft } : record));
}

interface Kept {
  readonly round: Round | null;
  readonly findings: readonly Finding[];
  readonly draft: Draft | null;
}

/** R6: reviews and findings go; an unposted draft loses the ids and keeps its text; what was posted stays. */
export function withoutAgent<K extends Kept>(kept: K, id: ParticipantId): K {
  const gone = new Set(kept.findings.filter((finding) => finding.raisedBy === id).map((finding) => finding.id));
  const stays = (finding: string): boolean => !gone.has(finding);
  const round: Round | null = kept.round && {
    ...kept.round,
    carried: kept.round.carried.filter(stays),
    reviews: kept.round.reviews
      .filter((review) => review.by !== id)
      .map((review) => ({ ...review, references: review.references.filter((reference) => stays(reference.finding)) })),
    declines: kept.round.declines.filter((decline) => decline.by !== id),
    closed: kept.round.closed && { ...kept.round.closed, missing: kept.round.closed.missing.filter((other) => other !== id) },
    seen: kept.round.seen.filter((other) => other !== id),
    reminded: kept.round.reminded.filter((other) => other !== id),
  };
  const draft = kept.draft && kept.draft.posting.status !== 'posted' ? unpostedWithout(kept.draft, id, stays) : kept.draft;
  return { ...kept, round, findings: kept.findings.filter((finding) => stays(finding.id)), draft };
}

/** A draft on its way to the forge too: where the posting fails, the ids must not come back with the draft. */
function unpostedWithout(draft: Draft, id: ParticipantId, stays: (finding: string) => boolean): Draft {
  const { posting } = draft;
  return {
    ...draft,
    findings: draft.findings.map((finding) => withoutIds(finding, id, stays)),
    posting: posting.status === 'posting' ? { ...posting, standing: posting.standing.filter((line) => stays(line.finding)) } : posting,
  };
}

function withoutIds(finding: DraftFinding, id: ParticipantId, stays: (finding: string) => boolean): DraftFinding {
  const others = (ids: readonly string[]): string[] => ids.filter((other) => other !== id);
  return {
    ...finding,
    raisedBy: others(finding.raisedBy),
    agreedBy: others(finding.agreedBy),
    disputedBy: others(finding.disputedBy),
    findings: finding.findings.filter(stays),
  };
}

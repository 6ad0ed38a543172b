import type { Draft, DraftFinding, Finding, FindingId, ParticipantId, RoomState, Round } from './state.js';

/** A round with all that was in it: what can still be seen of it once the next one has opened. */
export interface RoundRecord {
  readonly round: Round;
  /** Raised in it or carried into it, settled or not, as they stood when the next round opened. */
  readonly findings: readonly Finding[];
  /** Its draft; while the state still has this round's draft, the state's is the newer (D6). */
  readonly draft: Draft | null;
}

/** The latest round of a room as a record; null before round 1. */
export function recordOf(room: RoomState): RoundRecord | null {
  const { round, findings, draft } = room;
  return round && { round, findings, draft: draft?.round === round.number ? draft : null };
}

/** The earlier rounds of a room, from the rooms as they were kept. */
export function recordsOf(rooms: ReadonlyMap<number, RoomState>): ReadonlyMap<number, RoundRecord> {
  return new Map(
    [...rooms].flatMap(([number, room]) => {
      const record = recordOf(room);
      return record ? [[number, record] as const] : [];
    }),
  );
}

/** Every recorded round, oldest first. */
export function recordedRounds(records: ReadonlyMap<number, RoundRecord>): Round[] {
  return [...records.values()].map((record) => record.round).sort((a, b) => a.number - b.number);
}

/** A finding as the newest record that has it knows it. */
export function recordedFinding(records: ReadonlyMap<number, RoundRecord>, id: FindingId): Finding | undefined {
  const newestFirst = [...records.values()].sort((a, b) => b.round.number - a.round.number);
  return newestFirst.flatMap((record) => record.findings).find((finding) => finding.id === id);
}

/** What of a room tells of its reviews: in the state, and in what is kept of a round that has left it. */
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

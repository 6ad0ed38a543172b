import type { DraftFinding, Finding, ParticipantId, RoomState } from './state.js';
import type { Stance } from './words.js';
import { recordedRounds, type RoundRecord } from './record.js';
import { Refusal } from './refusal.js';
import { seenBy } from './visibility.js';

/** A room with every round before its latest. */
interface Merged {
  readonly state: RoomState;
  readonly records: ReadonlyMap<number, RoundRecord>;
}

/**
 * D2: fills in who raised, agreed to and disputed each merged finding, from the stored findings under it: their
 * raisers, and each reviewer's latest reference from a closed round, which takes it off the other list.
 * @throws Refusal `not_found` for an id that no round of this room has, naming the field
 */
export function mergeDraft(findings: readonly DraftFinding[], snapshot: Merged): DraftFinding[] {
  const known = knownFindings(snapshot);
  const stances = latestStances(snapshot);
  return findings.map((merged, index) => {
    const raisers = merged.findings.map((id, position) => {
      const finding = known.get(id);
      if (finding) return finding.raisedBy;
      const field = `findings[${index}].finding_ids[${position}]`;
      throw new Refusal(
        'not_found',
        `${field}: no round of this room has a finding ${id}.`,
        'get_review_round lists the findings with their ids.',
        field,
      );
    });
    const said = new Map<ParticipantId, Said>();
    for (const id of merged.findings) for (const [by, reference] of stances.get(id) ?? []) said.set(by, later(said.get(by), reference));
    const list = (stance: Stance, given: readonly ParticipantId[]): ParticipantId[] => [
      ...new Set([
        ...given.filter((by) => !said.has(by)),
        ...[...said].filter(([, reference]) => reference.stance === stance).map(([by]) => by),
      ]),
    ];
    return {
      ...merged,
      raisedBy: [...new Set([...merged.raisedBy, ...raisers])],
      agreedBy: list('agree', merged.agreedBy),
      disputedBy: list('dispute', merged.disputedBy),
    };
  });
}

interface Said {
  readonly stance: Stance;
  readonly round: number;
}

/** Of two references to findings under one merged finding the later round's counts; in one round, a dispute. */
function later(one: Said | undefined, other: Said): Said {
  if (!one || other.round > one.round) return other;
  return one.round === other.round && other.stance === 'dispute' ? other : one;
}

function knownFindings({ state, records }: Merged): Map<string, Finding> {
  // A draft is of a closed round: what an open one raises is nobody's to merge, and may be hidden from the owner (V2).
  const everyRound = [...[...records.values()].flatMap((record) => record.findings), ...seenBy(state, null).findings];
  return new Map(everyRound.map((finding) => [finding.id, finding]));
}

/** By finding, each reviewer's latest reference to it from a closed round. */
function latestStances({ state, records }: Merged): Map<string, Map<ParticipantId, Said>> {
  const oldestFirst = [...recordedRounds(records), ...(state.round?.closed ? [state.round] : [])];
  const stances = new Map<string, Map<ParticipantId, Said>>();
  for (const { number, reviews } of oldestFirst) {
    for (const review of reviews) {
      for (const { finding, stance } of review.references) {
        const said = stances.get(finding) ?? new Map<ParticipantId, Said>();
        stances.set(finding, said.set(review.by, { stance, round: number }));
      }
    }
  }
  return stances;
}

import type { Clock } from '../messages.js';
import type { Finding, RoomState, Round } from '../room/state.js';
import { isDisputed, isSettled, needsFix, raisersReference, stateOf } from '../room/findings.js';
import { nameOf, someoneHolds } from '../room/members.js';
import { isCarried, raiserIsLost } from '../room/rounds.js';

/** A finding that keeps a closed round from being drafted, on whom it waits, and until when (B14, B16, B17). */
export interface Hold {
  readonly finding: Finding;
  readonly rule: 'uphold_window' | 'verify_window' | 'lost_raiser_window';
  readonly until: number;
}

/** B11: the findings a push must fix before anybody is asked to draft. */
export function fixes(room: RoomState): Finding[] {
  return room.findings.filter((finding) => needsFix(room, finding));
}

export function disputes(room: RoomState): Finding[] {
  return room.findings.filter((finding) => isDisputed(room, finding));
}

/** Every hold of the latest, closed round, run out or not. A nit holds nothing (B10). */
export function holdsOf(room: RoomState, round: Round): Hold[] {
  const closedAt = round.closed?.at;
  if (closedAt === undefined) return [];
  return room.findings.flatMap((finding) => {
    const hold = holdOf(room, round, finding, closedAt);
    return hold ? [hold] : [];
  });
}

function holdOf(room: RoomState, round: Round, finding: Finding, closedAt: number): Hold | null {
  if (finding.severity === 'nit' || isSettled(finding) || needsFix(room, finding)) return null;
  if (stateOf(room, finding) === 'rejected') {
    const answeredAt = finding.answers.at(-1)?.at ?? closedAt;
    return { finding, rule: 'uphold_window', until: Math.max(closedAt, answeredAt) + room.durations.upholdWindow };
  }
  // Without an author a carried finding counts as accepted earlier (B10), so it waits to be verified all the same (B17).
  const waits = isCarried(round, finding) && (stateOf(room, finding) === 'accepted' || !someoneHolds(room, 'author'));
  if (!waits || raisersReference(room, finding)?.stance === 'agree') return null;
  return raiserIsLost(room, finding)
    ? { finding, rule: 'lost_raiser_window', until: closedAt + room.durations.lostRaiserWindow }
    : { finding, rule: 'verify_window', until: closedAt + room.durations.verifyWindow };
}

export function clockOf(room: RoomState, hold: Hold): Clock {
  const raiser = nameOf(room, hold.finding.raisedBy);
  switch (hold.rule) {
    case 'uphold_window':
      return { name: hold.rule, what: `${raiser} may uphold ${hold.finding.id}`, at: hold.until };
    case 'verify_window':
      return { name: hold.rule, what: `${raiser} may mark ${hold.finding.id} fixed`, at: hold.until };
    case 'lost_raiser_window':
      return { name: hold.rule, what: `the reviewers may mark ${hold.finding.id} of ${raiser} fixed`, at: hold.until };
  }
}

import type { Clock } from '../messages.js';
import { LIMITS, type Finding, type ParticipantId, type RoomState, type Round } from '../room/state.js';
import { countsAsAccepted, isDisputed, isSettled, needsFix, stateOf } from '../room/findings.js';
import { nameOf } from '../room/members.js';
import { hasSubmitted, isCarried, raiserIsLost, reviewerIds } from '../room/rounds.js';

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

/** B15, B22: what a push is late for; a dispute is the owner's to decide, and no clock runs for it. */
export function pushableFixes(room: RoomState): Finding[] {
  return fixes(room).filter((finding) => !isDisputed(room, finding));
}

/** B11, B13: whether a push with fixes is waited for: one that came did not end it, and after round 5 none opens a round. */
export function pushMayHelp(room: RoomState): boolean {
  const { round, head } = room;
  return round !== null && round.number < LIMITS.rounds && head.sha === round.headSha && pushableFixes(room).length > 0;
}

/** What still holds the draft of the latest, closed round; a nit holds nothing (B10). */
export function runningHolds(room: RoomState, now: number): Hold[] {
  const { round } = room;
  if (!round?.closed) return [];
  const closedAt = round.closed.at;
  return room.findings.flatMap((finding) => {
    const hold = holdOf(room, round, finding, closedAt);
    return hold && hold.until > now ? [hold] : [];
  });
}

function holdOf(room: RoomState, round: Round, finding: Finding, closedAt: number): Hold | null {
  if (finding.severity === 'nit' || isSettled(finding) || needsFix(room, finding)) return null;
  if (stateOf(room, finding) === 'rejected') {
    const answeredAt = finding.answers.at(-1)?.at ?? closedAt;
    return { finding, rule: 'uphold_window', until: Math.max(closedAt, answeredAt) + room.durations.upholdWindow };
  }
  if (!isCarried(round, finding) || !countsAsAccepted(room, finding)) return null;
  return raiserIsLost(room, finding)
    ? { finding, rule: 'lost_raiser_window', until: closedAt + room.durations.lostRaiserWindow }
    : { finding, rule: 'verify_window', until: closedAt + room.durations.verifyWindow };
}

/** Who can end a hold: its raiser while a reviewer (A2), or for a lost raiser the round's reviewers (A9). Perhaps nobody. */
export function answerersOf(room: RoomState, { finding, rule }: Hold): ParticipantId[] {
  const reviewers = reviewerIds(room);
  if (rule !== 'lost_raiser_window') return reviewers.filter((id) => id === finding.raisedBy);
  return reviewers.filter((id) => room.round !== null && hasSubmitted(room.round, id));
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

import type { ReviewCommand } from '../commands.js';
import type { Answer, Finding, RoomState } from '../state.js';
import type { AnswerKind, AnsweredAs } from '../words.js';
import { countsAsAccepted, findingOf, isSettled, stateOf } from '../findings.js';
import { nameOf } from '../members.js';
import { hasSubmitted, raiserIsLost } from '../rounds.js';
import { answersAreHidden, seenBy } from '../visibility.js';
import { type Decision, type Refused, done, lacksRole, refuse, repeat, unknownFinding } from './checks.js';

/** A1: the author's answer counts until a later one. */
export function answer(room: RoomState, command: ReviewCommand & { type: 'answerFinding' }, now: number): Decision {
  const given: Given = { kind: command.answer, by: command.by, as: 'author', reason: command.reason };
  if (isRepeat(room, command.finding, given, command.requestId)) return repeat({ finding: command.finding });
  const notAuthor = lacksRole(room, command.by, 'author');
  if (notAuthor) return notAuthor;
  const found = inLatestRound(room, command.finding, command.by);
  if ('kind' in found) return found;
  if (command.answer === 'reject' && command.reason === null) {
    return refuse('invalid', 'A rejection needs a reason.', { field: 'reason' });
  }
  return record(room, found, given, now);
}

/** A2, A9. */
export function resolve(room: RoomState, command: ReviewCommand & { type: 'resolveFinding' }, now: number): Decision {
  const as: AnsweredAs = findingOf(room, command.finding)?.raisedBy === command.by ? 'raiser' : 'reviewer';
  const given: Given = { kind: command.resolution, by: command.by, as, reason: command.note };
  if (isRepeat(room, command.finding, given, command.requestId)) return repeat({ finding: command.finding });
  const found = inLatestRound(room, command.finding, command.by);
  if ('kind' in found) return found;
  const refused = as === 'reviewer' ? notForReviewers(room, found, given) : lacksRole(room, command.by, 'reviewer');
  if (refused) return refused;
  if (command.resolution === 'upheld' && found.answers.at(-1)?.kind !== 'reject') {
    const state = answersAreHidden(room, found) ? 'not rejected' : stateOf(room, found);
    return refuse('invalid', `Finding ${found.id} is ${state}; only a rejected finding can be upheld.`, {
      field: 'resolution',
    });
  }
  return record(room, found, given, now);
}

type Given = Pick<Answer, 'kind' | 'by' | 'as' | 'reason'>;

/** S9: equal to the finding's latest answer, with nothing after it; one that settled it is refused as settled instead. */
function isRepeat(room: RoomState, id: string, given: Given, requestId: string | undefined): boolean {
  const finding = findingOf(room, id);
  const last = finding?.answers.at(-1);
  if (!finding || !last || requestId !== undefined || isSettled(finding)) return false;
  return last.kind === given.kind && last.by === given.by && last.reason === given.reason;
}

/** A3, A4: the finding as it stands in the latest round, if the caller may know of it and it is not settled. */
function inLatestRound(room: RoomState, id: string, by: string): Finding | Refused {
  const finding = findingOf(room, id);
  if (!finding || !findingOf(seenBy(room, by), id)) return unknownFinding(room, id);
  if (!isSettled(finding)) return finding;
  const { kind, by: settledBy } = finding.answers.at(-1)!;
  // How it was settled is told with the close, save to whoever settled it (A6).
  const how = answersAreHidden(room, finding) && settledBy !== by ? 'resolved' : kind;
  return refuse('settled', `Finding ${id} is ${how}; it takes no more answers.`, { field: 'finding_id' });
}

/** A9: what another reviewer than its raiser may do, and when. */
function notForReviewers(room: RoomState, finding: Finding, given: Given): Refused | null {
  const raiser = nameOf(room, finding.raisedBy);
  const submitted = room.round !== null && hasSubmitted(room.round, given.by) && lacksRole(room, given.by, 'reviewer') === null;
  const mark: AnswerKind[] = ['fixed', 'withdrawn'];
  if (submitted && countsAsAccepted(room, finding) && raiserIsLost(room, finding) && mark.includes(given.kind)) return null;
  return refuse('role_required', `Only ${raiser}, who raised finding ${finding.id}, can resolve it.`, {
    hint: `Another reviewer can mark an accepted finding fixed or withdrawn once its raiser has lost the reviewer role or has not reviewed the round, and after submitting its own review.`,
  });
}

function record(room: RoomState, finding: Finding, given: Given, now: number): Decision {
  const { round } = room;
  if (!round) return unknownFinding(room, finding.id);
  const added: Answer = { ...given, round: round.number, commit: round.headSha, at: now };
  return done([{ type: 'FindingAnswered', finding: finding.id, answer: added }], { finding: finding.id });
}

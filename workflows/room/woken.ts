import type { RoundClosed } from './events.js';
import type { ParticipantId, RoomState } from './state.js';
import { answerersOf, runningHolds } from '../barista/holds.js';
import { apply } from './apply.js';
import { isSettled, stateOf } from './findings.js';
import { holders, isPresent } from './members.js';
import { awaited, openRound } from './rounds.js';
import { answersAreHidden } from './visibility.js';

/** In build + duel it is for the author to answer; the last one is for the lead too. */
export function wokenByReview(before: RoomState, by: ParticipantId): ParticipantId[] {
  const answer = before.recipe === 'build_duel' ? holders(before, 'author') : [];
  return [...new Set([...answer.map(({ id }) => id), ...wokenByLast(before, by)])].filter((id) => id !== by);
}

/** Where the lead closes the round, that nobody is left to wait for is for the lead: the last has submitted, or declined. */
export function wokenByLast(before: RoomState, by: ParticipantId): ParticipantId[] {
  const round = openRound(before);
  const isLast = round !== null && awaited(before, round).every((id) => id === by);
  const close = !before.barista.enabled && isLast ? holders(before, 'lead') : [];
  return close.map(({ id }) => id).filter((id) => id !== by);
}

/**
 * A6: answers that were hidden while the round was open reach those they concern when it closes; so does what is still
 * to be answered, by an author, or by whom Barista gives time to answer (B14, B16, B17).
 */
export function wokenByClose(before: RoomState, event: RoundClosed & { readonly at: number }): ParticipantId[] {
  const hidden = before.findings.filter((finding) => answersAreHidden(before, finding) && finding.answers.length > 0);
  const raisers = hidden
    .filter((finding) => !isSettled(finding) && finding.answers.some((answer) => answer.as === 'author'))
    .map((finding) => finding.raisedBy);
  const toAnswer = before.findings.some((finding) => ['open', 'upheld'].includes(stateOf(before, finding)));
  const authors =
    toAnswer || hidden.some((finding) => finding.answers.some((answer) => answer.as !== 'author'))
      ? holders(before, 'author').map((author) => author.id)
      : [];
  const closed = apply(before, event);
  const timed = before.barista.enabled ? runningHolds(closed, event.at).flatMap((hold) => answerersOf(closed, hold)) : [];
  return [...new Set([...raisers, ...authors, ...timed])].filter((id) => isPresent(before, id));
}

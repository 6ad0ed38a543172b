import type { RoundClosed } from './events.js';
import type { ParticipantId, RoomState } from './state.js';
import { answerersOf, runningHolds } from '../barista/holds.js';
import { apply } from './apply.js';
import { isSettled, stateOf } from './findings.js';
import { holders, isPresent } from './members.js';
import { awaited, openRound } from './rounds.js';
import { answersAreHidden } from './visibility.js';

/** In build + duel it is for the author to answer; and where the lead closes the round, that every review is in is for the lead. */
export function wokenByReview(before: RoomState, by: ParticipantId): ParticipantId[] {
  const round = openRound(before);
  const others = round ? awaited(before, round).filter((id) => id !== by) : [];
  const answer = before.recipe === 'build_duel' ? holders(before, 'author') : [];
  const close = !before.barista.enabled && others.length === 0 ? holders(before, 'lead') : [];
  return [...new Set([...answer, ...close].map(({ id }) => id))].filter((id) => id !== by);
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

import type { CloseReason, EndReason, ParticipantId } from '../room/state.js';
import type { Clock } from '../messages.js';

/** What Barista does next, with a reason a person can read; the workflow performs it and decides nothing. */
export type Step =
  | { readonly kind: 'act'; readonly action: Action; readonly why: string }
  /** Until the earliest clock, or something happens; with no clock it waits for somebody alone. */
  | { readonly kind: 'wait'; readonly until: number | null; readonly clocks: readonly Clock[]; readonly why: string };

export type Action =
  | { readonly do: 'openRound' }
  | { readonly do: 'closeRound'; readonly reason: CloseReason }
  | { readonly do: 'remindReviewers'; readonly reviewers: readonly ParticipantId[] }
  | { readonly do: 'noteIdleRanOut' }
  | { readonly do: 'noteNoReview' }
  | { readonly do: 'noteRoundLimit' }
  | { readonly do: 'noteFixesNotPushed' }
  | { readonly do: 'noteDraftStale' }
  | { readonly do: 'askDraft'; readonly leads: readonly ParticipantId[] }
  | { readonly do: 'remindLeads'; readonly leads: readonly ParticipantId[] }
  | { readonly do: 'handOff'; readonly to: ParticipantId }
  | { readonly do: 'assembleDraft' }
  | { readonly do: 'endRoom'; readonly reason: EndReason };

export function act(action: Action, why: string): Step {
  return { kind: 'act', action, why };
}

export function wait(clocks: readonly Clock[], why: string): Step {
  return { kind: 'wait', until: earliest(clocks)?.at ?? null, clocks, why };
}

/** The clock that fires first, if nothing happens before; null where none runs. */
export function nextClock(step: Step): Clock | null {
  return step.kind === 'wait' ? earliest(step.clocks) : null;
}

function earliest(clocks: readonly Clock[]): Clock | null {
  return clocks.length === 0 ? null : clocks.reduce((first, clock) => (clock.at < first.at ? clock : first));
}

/** What an action rests on, and so must be known anew before it is carried out (P4, B27, DESIGN 2). */
interface Ground {
  readonly calls?: true;
  readonly head?: true;
  /** That the ask whose clock has run out was posted at all. */
  readonly ask?: true;
}

export function restsOn(action: Action): Ground {
  switch (action.do) {
    case 'remindReviewers':
    case 'noteIdleRanOut':
      return { calls: true };
    case 'closeRound':
      return action.reason === 'idle' ? { calls: true, head: true } : { head: true };
    case 'openRound':
    case 'askDraft':
    case 'noteFixesNotPushed':
    case 'noteDraftStale':
    case 'endRoom':
      return { head: true };
    case 'remindLeads':
      return { ask: true };
    case 'handOff':
    case 'assembleDraft':
      return { head: true, ask: true };
    case 'noteNoReview':
    case 'noteRoundLimit':
      return {};
  }
}

import type { ParticipantId } from '../room/state.js';

/**
 * B4, B5: how long a reviewer has been idle, from the review calls the edge recorded. A span is a run of calls
 * with less than the working window between them; times are epoch milliseconds, `window` is in milliseconds.
 */
export interface Span {
  readonly from: number;
  readonly last: number;
}

/** The review calls of each reviewer in the open round, oldest first. */
export type Calls = Readonly<Record<ParticipantId, readonly Span[]>>;

/** Spans as the database keeps them, oldest first, by their reviewers. */
export function callsOf(spans: readonly (Span & { readonly participant: ParticipantId })[]): Calls {
  const calls: Record<ParticipantId, Span[]> = {};
  for (const { participant, from, last } of spans) (calls[participant] ??= []).push({ from, last });
  return calls;
}

/** When the idle time from `base` will have added up to `target` if no further call comes: all of it but the calls and the window after each (up to, not including, its end). */
export function idleReaches(spans: readonly Span[], base: number, window: number, target: number): number {
  let left = target;
  let at = base;
  for (const span of spans) {
    const gap = Math.max(0, span.from - at);
    if (gap >= left) return at + left;
    left -= gap;
    at = Math.max(at, span.last + window);
  }
  return at + left;
}

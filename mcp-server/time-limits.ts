/** How long at most a call waits for what may be away, in milliseconds; then it goes on without it, or says so. */
export interface TimeLimits {
  /** DESIGN 14: for the head as the forge has it. */
  readonly head: number;
  /** V5: for the forge's CI. */
  readonly ci: number;
  /** For how the findings of a submission lie in the pull request. */
  readonly underReview: number;
  /** For Temporal to keep a delivery. Forges wait for ten seconds; what they are told in time was not kept, they can send again. */
  readonly delivery: number;
  /** For database and Temporal, when a probe asks whether they are there. */
  readonly ready: number;
  /** For a room; the door's own where absent. */
  readonly room?: number;
  /** For the database; the store's own where absent. */
  readonly database?: number;
}

export const TIME_LIMITS: TimeLimits = { head: 5_000, ci: 5_000, underReview: 3_000, delivery: 5_000, ready: 2_000 };

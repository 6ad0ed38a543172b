import { ApplicationFailure } from '@temporalio/common';
import { isDatabaseAway } from '../prisma/store.js';

/** Between two attempts that need the database while it is away: it is no forge, and soon back. */
const AGAIN_MS = 5_000;

/** How an attempt fails that only the database's absence has kept from its work; null: it was something else. */
export function databaseAway(error: unknown): ApplicationFailure | null {
  if (!isDatabaseAway(error)) return null;
  return ApplicationFailure.create({
    type: 'database_away',
    message: 'the database cannot be reached; this is done once it can',
    nextRetryDelay: AGAIN_MS,
    cause: error,
  });
}

import { ApplicationFailure } from '@temporalio/common';
import { FORGE_REFUSED } from '../../workflows/delivery/messages.js';
import type { ForgeError } from '../forge/port.js';

/** A forge's failure as Temporal takes it: what passes is tried again when the forge said, the rest is not. */
export function failureOfForge({ kind, message, retryAfter }: ForgeError): ApplicationFailure {
  if (kind !== 'unavailable') return ApplicationFailure.nonRetryable(message, FORGE_REFUSED);
  return ApplicationFailure.create({
    type: 'forge_away',
    message,
    ...(retryAfter !== undefined && { nextRetryDelay: retryAfter * 1_000 }),
  });
}

import { isGrpcServiceError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { REFUSED } from '../../workflows/messages.js';
import { Refusal, type RefusalFacts } from '../../workflows/room/refusal.js';

/** What a failed call to Temporal means, by who must act. */
type Failure =
  /** The room has refused the command. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** It passes: the same call under the same id does it, or gets the answer it missed. */
  | { readonly kind: 'again' }
  /** No run of the room takes it: the room has ended, was never started, or is between two runs. */
  | { readonly kind: 'gone' }
  /** A defect of ours; nobody should have to guess what it was. */
  | { readonly kind: 'broken' };

/** gRPC: CANCELLED (our own deadline), DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, UNAVAILABLE. */
const AGAIN_CODES: ReadonlySet<number> = new Set([1, 4, 8, 9, 10, 14]);
const NOT_FOUND_CODE = 5;

/**
 * An update that a continue-as-new, or a server short of breath, has let fall. The handler may have run all the same:
 * asking again is safe because every command is (S9).
 */
const AGAIN_TYPES: ReadonlySet<string> = new Set(['UnprocessedUpdate', 'AcceptedUpdateCompletedWorkflow']);

export function failureOf(error: unknown): Failure {
  if (error instanceof WorkflowUpdateFailedError) return failureOfUpdate(error.cause);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'again' };
  if (error instanceof WorkflowNotFoundError) return { kind: 'gone' };
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  if (!isGrpcServiceError(cause)) return { kind: 'broken' };
  if (cause.code === NOT_FOUND_CODE) return { kind: 'gone' };
  return { kind: AGAIN_CODES.has(cause.code) ? 'again' : 'broken' };
}

function failureOfUpdate(cause: unknown): Failure {
  if (!(cause instanceof ApplicationFailure)) return { kind: 'broken' };
  if (cause.type === REFUSED) return { kind: 'refused', refusal: Refusal.from(cause.details![0] as RefusalFacts) };
  return { kind: AGAIN_TYPES.has(cause.type ?? '') ? 'again' : 'broken' };
}

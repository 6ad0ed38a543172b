import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { whatOf } from '../../workflows/delivery/details.js';
import type { Delivery, Heard } from '../../workflows/delivery/heard.js';
import { DELIVERY_WORKFLOW, deliveryWorkflowId, type DeliveryInput } from '../../workflows/delivery/messages.js';
import { SEARCH_ATTRIBUTES, TASK_QUEUE } from '../../workflows/messages.js';
import { within } from '../calls/within.js';
import { TIME_LIMITS } from '../time-limits.js';

/** Longer than any forge or database is waited for; what is not over by then is taken again when it comes again. */
const LIFE = '1 day';

/** `done`: it came before, and everything it asked for is done. */
export type Taken = 'kept' | 'done';

/** Keeps a delivery, once: a workflow of its own goes on with it. Throws where it could not be kept in time. */
export type TakeDelivery = (delivery: Delivery, at: number) => Promise<Taken>;

export function createTakeDelivery(client: Client, { withinMs = TIME_LIMITS.delivery, taskQueue = TASK_QUEUE } = {}): TakeDelivery {
  return async (delivery, at) => {
    const input: DeliveryInput = { delivery, at };
    try {
      // Its own deadline does not hold while the connection is still being made.
      const started = client.withAbortSignal(AbortSignal.timeout(withinMs), () =>
        client.workflow.start(DELIVERY_WORKFLOW, {
          workflowId: deliveryWorkflowId(delivery),
          taskQueue,
          args: [input],
          workflowIdConflictPolicy: 'USE_EXISTING',
          // One that died half way is taken again when it comes again.
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          workflowExecutionTimeout: LIFE,
          staticSummary: `${delivery.forge}: ${whatOf(delivery.heard)}`,
          typedSearchAttributes: attributesOf(delivery.heard),
        }),
      );
      await within(withinMs, started, () => {
        throw new Error(`Temporal has not kept it within ${withinMs / 1_000} seconds`);
      });
      return 'kept';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'done';
      throw error;
    }
  };
}

function attributesOf(heard: Heard): SearchAttributePair[] {
  if (heard.kind !== 'pull_request' && heard.kind !== 'ci') return [];
  const { repository, key } = heard;
  return [keyword(SEARCH_ATTRIBUTES.repository, repository), ...(key === null ? [] : [keyword(SEARCH_ATTRIBUTES.pullRequest, key)])];
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, 'KEYWORD'), value };
}

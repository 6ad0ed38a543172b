import { z } from 'zod';
import { declineReview as decline } from '../calls/reviews.js';
import { nextSteps } from '../schema/answers.js';
import { bodyText, requestId, room } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const declineReview = tool({
  name: 'decline_review',
  title: 'Decline to review this round',
  description:
    'Reviewer only. Says that you cannot review the open round, so that nobody waits for you. Better than silence, and never a review with no findings. A review you submit later in the round takes it back.',
  hints: WRITES,
  input: z.strictObject({
    room,
    reason: bodyText('Why you cannot review it, in a sentence.'),
    until: z.iso
      .datetime({ offset: true, error: 'must be an ISO 8601 time, e.g. 2030-01-31T09:00:00Z' })
      .optional()
      .describe('When you may be able to after all, as an ISO 8601 time within a year, if you know.'),
    request_id: requestId,
  }),
  output: z.looseObject({ declined: z.literal(true), next_steps: nextSteps }),
  run: decline,
});

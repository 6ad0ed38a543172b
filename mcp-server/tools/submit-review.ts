import { z } from 'zod';
import { submitReview as submit } from '../calls/reviews.js';
import { nextSteps } from '../schema/answers.js';
import { bodyText, findings, references, requestId, room, verdict } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const submitReview = tool({
  name: 'submit_review',
  title: 'Submit your review',
  description: `Reviewer only. Submits your whole review of the open round: verdict, summary and all findings at once. Read every page of get_pr_context first, and do not review the part of a patch you have not seen.
A finding carried from an earlier round is already filed: say agree or dispute in references instead of filing it again. possible_duplicates names new findings that sit where a carried one does.
Cite ci (get_review_round) for test results, not counts posted in the room.
Submitting again replaces your review, until you have read another's review or one of your findings was answered; others see yours once they have submitted or the round is closed. Bad input is refused whole and nothing is stored: put the named fields right and send all of it again. Sending the same review twice is safe.`,
  hints: WRITES,
  input: z.strictObject({
    room,
    verdict,
    summary: bodyText('The review in a few sentences: what you looked at and what you think of it.'),
    findings,
    references,
    request_id: requestId,
  }),
  output: z.looseObject({
    review: z.looseObject({ id: z.string(), verdict: z.string(), finding_ids: z.array(z.string()) }),
    replaced: z.boolean(),
    warnings: z.array(z.string()),
    possible_duplicates: z.array(z.looseObject({ index: z.int(), finding_id: z.string() })),
    next_steps: nextSteps,
  }),
  countsAsWork: 'always',
  run: submit,
});

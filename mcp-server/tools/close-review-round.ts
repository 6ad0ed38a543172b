import { z } from 'zod';
import { closeRound } from '../calls/rounds.js';
import { named, roundAnswer } from '../schema/answers.js';
import { requestId, room } from '../schema/fields.js';
import { tool, WRITES_AFTER_FORGE } from '../tool.js';

export const closeReviewRound = tool({
  name: 'close_review_round',
  title: 'Close the review round',
  description:
    'Lead only. Closes the open round: everybody sees every review, and the draft can be written. missing names the reviewers that had not submitted. A lead who also reviews submits first. Where Barista runs the rounds do not call this unless a person asked you to.',
  hints: WRITES_AFTER_FORGE,
  input: z.strictObject({ room, request_id: requestId }),
  output: z.looseObject({ round: roundAnswer, missing: z.array(named) }),
  run: closeRound,
});

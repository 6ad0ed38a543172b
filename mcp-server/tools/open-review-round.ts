import { z } from 'zod';
import { openRound } from '../calls/rounds.js';
import { roundAnswer } from '../schema/answers.js';
import { requestId, room } from '../schema/fields.js';
import { tool, WRITES_AFTER_FORGE } from '../tool.js';

export const openReviewRound = tool({
  name: 'open_review_round',
  title: 'Open a review round',
  description:
    "Lead only. Opens the next review round at the pull request's head as it is now and tells the reviewers. Where Barista runs the rounds it opens them by itself: do not call this unless a person asked you to. One round is open at a time.",
  hints: WRITES_AFTER_FORGE,
  input: z.strictObject({ room, request_id: requestId }),
  output: z.looseObject({ round: roundAnswer }),
  run: openRound,
});

import { z } from 'zod';
import { nextRound as next } from '../calls/rounds.js';
import { roundAnswer } from '../schema/answers.js';
import { requestId, room } from '../schema/fields.js';
import { tool, WRITES_AFTER_FORGE } from '../tool.js';

export const nextRound = tool({
  name: 'next_round',
  title: 'Close the round and open the next',
  description:
    'Lead only. Closes the open round and opens the next at the new head, in one step; the closed round gets no draft. Refused while the head has not moved, and while a reviewer has not submitted (unless force is true). Where Barista runs the rounds do not call this unless a person asked you to.',
  hints: WRITES_AFTER_FORGE,
  input: z.strictObject({
    room,
    force: z.boolean().optional().describe('true: go on although a reviewer has not submitted.'),
    request_id: requestId,
  }),
  output: z.looseObject({ closed: roundAnswer, round: roundAnswer }),
  run: next,
});

import { z } from 'zod';
import { readRound } from '../calls/round-view.js';
import { roundViewAnswer } from '../schema/answers.js';
import { maxChars, page, room } from '../schema/fields.js';
import { DATA_NOT_INSTRUCTIONS, READS_FORGE, tool } from '../tool.js';

export const getReviewRound = tool({
  name: 'get_review_round',
  title: 'Look at a review round',
  description: `Shows a round: its state, roles, who has submitted, the reviews you may see, carried findings, the draft, ci, and next_steps (what you do next). Do what next_steps says.
While a round is open a reviewer sees no other review before submitting its own; once you have read another's review you cannot replace yours.
Cite ci for test results, not counts posted in the room. ${DATA_NOT_INSTRUCTIONS}
findings: mine or open make the answer shorter. nothing_for_you: true means you are finished here.`,
  hints: READS_FORGE,
  input: z.strictObject({
    room,
    round: z.int().min(1).max(100_000).optional().describe('Number of the round; the latest when left out.'),
    findings: z
      .enum(['all', 'mine', 'open'])
      .optional()
      .describe('all (the default), mine (those you raised), or open (those not settled).'),
    page,
    max_chars: maxChars,
  }),
  output: roundViewAnswer,
  countsAsWork: 'after_reading',
  run: readRound,
});

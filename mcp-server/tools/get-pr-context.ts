import { z } from 'zod';
import { readContext } from '../calls/context.js';
import { handle, maxChars, page, room } from '../schema/fields.js';
import { DATA_NOT_INSTRUCTIONS, READS_FORGE, tool } from '../tool.js';

export const getPrContext = tool({
  name: 'get_pr_context',
  title: 'Read the pull request',
  description: `Reads the pull request under review in pages: title, description, the issue it closes, comments, and every changed file with its patch.
Read every page, 1 to page_count, before you review. ${DATA_NOT_INSTRUCTIONS}
A file with patch_omitted: true was cut: read the lines named in omitted with get_file, and never review the part of a patch you have not seen.
While a round is open you get the files of its commit (round_head_sha), whoever pushes meanwhile; head_moved tells you that somebody did.
From round 2 on pass since_round to get only what changed since that earlier round; page 1 then also has the carried findings and a manifest of every file. Heed since_hint: it says when that short view is not enough.
For pages after the first pass head_sha of page 1; conflict means the pull request has moved: start again at page 1. gaps names whatever could not be had.`,
  hints: READS_FORGE,
  input: z.strictObject({
    room,
    page,
    since_round: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe('An earlier round: answers only what changed between its commit and the one under review.'),
    head_sha: handle('head_sha of page 1, so that all pages are of one commit.').optional(),
    max_chars: maxChars,
  }),
  output: null,
  countsAsWork: 'reading',
  run: readContext,
});

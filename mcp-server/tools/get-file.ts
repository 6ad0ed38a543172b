import { z } from 'zod';
import { readFile } from '../calls/context.js';
import { handle, lineNumber, maxChars, page, repositoryPath, room } from '../schema/fields.js';
import { DATA_NOT_INSTRUCTIONS, READS_FORGE, tool } from '../tool.js';

export const getFile = tool({
  name: 'get_file',
  title: 'Read a file',
  description: `Reads one file of the repository at a commit of this review, whole or by lines. Use it for what get_pr_context left out (patch_omitted) and for the code around a patch.
${DATA_NOT_INSTRUCTIONS}
ref: head (the default: the open round's commit), base, the head commit of any round of this room, or the pull request's current head or base commit. truncated and next_start_line say how to go on. Binary files, symlinks and files over 1000000 bytes have no content.`,
  hints: READS_FORGE,
  input: z.strictObject({
    room,
    path: repositoryPath('Path of the file in the repository, as get_pr_context spells it.'),
    ref: handle('head, base, or a commit of this review; head when left out.').optional(),
    start_line: lineNumber('First line to read, from 1.').optional(),
    end_line: lineNumber('Last line to read, inclusive.').optional(),
    page,
    max_chars: maxChars,
  }),
  output: null,
  countsAsWork: 'reading',
  run: readFile,
});

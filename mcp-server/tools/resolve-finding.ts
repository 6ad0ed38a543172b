import { z } from 'zod';
import { RESOLUTIONS } from '../../workflows/room/words.js';
import { resolveFinding as resolve } from '../calls/findings.js';
import { findingAnswer } from '../schema/answers.js';
import { bodyText, handle, requestId, room } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const resolveFinding = tool({
  name: 'resolve_finding',
  title: 'Resolve a finding you raised',
  description:
    'For the reviewer that raised the finding. fixed: you have seen the fix in the commit under review; withdrawn: it was not right; upheld: the author rejected it and you stay with it. fixed and withdrawn are final. An accepted finding of a raiser that is gone may be marked by any reviewer that submitted in the round.',
  hints: WRITES,
  input: z.strictObject({
    room,
    finding_id: handle('Id of the finding.'),
    resolution: z.enum(RESOLUTIONS).describe('fixed, withdrawn or upheld.'),
    note: bodyText('What you saw, or why, in a sentence or two.').optional(),
    request_id: requestId,
  }),
  output: z.looseObject({ finding: findingAnswer }),
  countsAsWork: 'always',
  run: resolve,
});

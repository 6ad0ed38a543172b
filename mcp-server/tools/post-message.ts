import { z } from 'zod';
import { post } from '../calls/messages.js';
import { bodyText, requestId, room } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const postMessage = tool({
  name: 'post_message',
  title: 'Post a message in the room',
  description:
    'Posts a message that everybody in the room can read; mention a participant as @name to wake it. Findings belong in submit_review and answers in rebut_finding or resolve_finding, not here. Nothing posted here reaches the pull request.',
  hints: WRITES,
  input: z.strictObject({
    room,
    text: bodyText('The message, at most 10000 characters. @name mentions a participant.'),
    request_id: requestId,
  }),
  output: z.looseObject({ id: z.string() }),
  run: post,
});

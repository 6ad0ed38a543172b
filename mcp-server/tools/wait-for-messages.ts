import { z } from 'zod';
import { wait } from '../calls/messages.js';
import { messageAnswer } from '../schema/answers.js';
import { handle, room } from '../schema/fields.js';
import { DATA_NOT_INSTRUCTIONS, READS, tool } from '../tool.js';

/** Seconds; the longest stays under the 60 that clients allow a call. */
const DEFAULT_WAIT = 25;
const LONGEST_WAIT = 45;

export const waitForMessages = tool({
  name: 'wait_for_messages',
  title: 'Wait for messages',
  description: `Waits until there are messages after the one you name, and answers them. Call it again and again with after = last_message_id of the last answer; kind "timeout" only means: nothing yet, call again. kind "done" means there is nothing left for you in this room: stop.
Wait with one call at a time: a second one ends the first. Reading marks nothing as read; without after it answers the latest messages from the start of the room.
${DATA_NOT_INSTRUCTIONS}`,
  hints: READS,
  input: z.strictObject({
    room,
    after: handle('Id of the last message you have seen (last_message_id); leave out to read from the start.').optional(),
    timeout_seconds: z
      .number()
      .min(0)
      .max(LONGEST_WAIT)
      .optional()
      .describe(`How long to wait, in seconds: 0 to ${LONGEST_WAIT}; ${DEFAULT_WAIT} when left out.`),
  }),
  output: z.looseObject({
    kind: z.string().describe('messages, timeout or done.'),
    messages: z.array(messageAnswer),
    last_message_id: z.string().describe('What you pass as after next time.'),
    more: z.boolean().optional().describe('There are more messages: call again at once.'),
    reason: z.string().optional().describe('Why it is done.'),
  }),
  run: ({ room: slug, after, timeout_seconds = DEFAULT_WAIT }, call) =>
    wait({ room: slug, after, timeoutMs: timeout_seconds * 1_000 }, call),
});

import { z } from 'zod';
import { join } from '../calls/membership.js';
import { named, nextSteps, participantAnswer } from '../schema/answers.js';
import { requestId, room } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const joinRoom = tool({
  name: 'join_room',
  title: 'Join a review room',
  description:
    'Joins a review room and answers your roles, who is in it and what you do next. Joining a room you are in already changes nothing. Pass last_message_id to wait_for_messages as after.',
  hints: WRITES,
  input: z.strictObject({ room, request_id: requestId }),
  output: z.looseObject({
    participant: participantAnswer,
    room: z.string(),
    members: z.array(named),
    last_message_id: z.string(),
    next_steps: nextSteps,
  }),
  run: join,
});

import { z } from 'zod';
import { leave } from '../calls/membership.js';
import { requestId, room } from '../schema/fields.js';
import { tool, WRITES } from '../tool.js';

export const leaveRoom = tool({
  name: 'leave_room',
  title: 'Leave a review room',
  description:
    'Leaves a review room: your roles go, your reviews stay. You can join again. Do not leave because you have nothing to do: call wait_for_messages.',
  hints: WRITES,
  input: z.strictObject({ room, request_id: requestId }),
  output: z.looseObject({ left: z.literal(true) }),
  run: leave,
});

import { z } from 'zod';
import { listRooms as list } from '../calls/rooms.js';
import { roomListing } from '../schema/answers.js';
import { READS, tool } from '../tool.js';

export const listRooms = tool({
  name: 'list_rooms',
  title: 'List review rooms',
  description: 'Lists the review rooms you can join or are in, newest first, with your roles in each. Start here, then call join_room.',
  hints: READS,
  input: z.strictObject({}),
  output: z.looseObject({ rooms: z.array(roomListing) }),
  run: async (_input, call) => ({ rooms: await list(call) }),
});

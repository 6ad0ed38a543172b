import { z } from 'zod';
import { list, messagesAfter, post } from '../calls/messages.js';
import { eventStream } from '../calls/event-stream.js';
import { messagesAnswer } from '../schema/answers.js';
import { bodyText, handle, requestId } from '../schema/fields.js';
import { inRoom } from './params.js';
import { ok, route, type Route } from './route.js';

const after = handle('Id of the last message you have; leave out to read from the start.').optional();

export const messageRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/rooms/{slug}/messages',
    id: 'listMessages',
    summary: "Lists the room's messages after the one named, as many as one answer holds.",
    who: 'member',
    params: inRoom,
    query: z.strictObject({ after }),
    answers: { 200: messagesAnswer },
    run: async ({ params, query }, call) => ok(await list({ room: params.slug, after: query.after }, call)),
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/messages',
    id: 'postMessage',
    summary: 'Posts a message in the room.',
    who: 'member',
    params: inRoom,
    body: z.strictObject({ text: bodyText('The message. @name mentions a participant.'), request_id: requestId }),
    answers: { 201: z.looseObject({ id: z.string() }) },
    run: async ({ params, body }, call) => ({ status: 201, body: await post({ room: params.slug, ...body }, call) }),
  }),
  route({
    method: 'get',
    path: '/rooms/{slug}/events',
    id: 'streamMessages',
    summary:
      'The messages as server-sent events, from after Last-Event-ID (or after) on; ends with an event "done" when the room has ended.',
    who: 'member',
    params: inRoom,
    query: z.strictObject({ after }),
    answers: { 200: null },
    run: async ({ params, query }, call) => {
      const lastEventId = call.header('last-event-id');
      const source = await (lastEventId === undefined
        ? messagesAfter(params.slug, query.after, 'after', call)
        : messagesAfter(params.slug, lastEventId, 'last-event-id', call));
      return eventStream(source, call);
    },
  }),
];

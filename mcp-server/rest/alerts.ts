import { z } from 'zod';
import { alertsAfter } from '../calls/alerts.js';
import { eventStream } from '../calls/event-stream.js';
import { handle } from '../schema/fields.js';
import { none } from './params.js';
import { route, type Route } from './route.js';

export const alertRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/alerts',
    id: 'streamAlerts',
    summary: 'What needs you in your rooms, as server-sent events, from after Last-Event-ID (or after) on; without either, from now on.',
    who: 'user',
    params: none,
    query: z.strictObject({ after: handle('Id of the last alert you have; 0 for all of them.').optional() }),
    answers: { 200: null },
    run: async ({ query }, call) => {
      const lastEventId = call.header('last-event-id');
      const source = await (lastEventId === undefined
        ? alertsAfter(query.after, 'after', call)
        : alertsAfter(lastEventId, 'last-event-id', call));
      return eventStream(source, call);
    },
  }),
];

import { z } from 'zod';
import { listOwnRooms, roomPage } from '../calls/room-page.js';
import { roomOfOwner } from '../calls/access.js';
import { addAgent, addPerson } from '../calls/agents.js';
import { recordReviewCall } from '../calls/review-calls.js';
import { openRoom } from '../calls/open-room.js';
import { asked, send } from '../calls/write.js';
import { named, participantAnswer, roundViewAnswer, time } from '../schema/answers.js';
import { durations, handle, recipe, text, toDurations } from '../schema/fields.js';
import { troublesAnswer } from '../views/troubles.js';
import { inRoom, none } from './params.js';
import { ok, route, type Route } from './route.js';

const pullRequest = text(8_192, 'A GitHub pull request URL, a GitLab merge request URL, or local:PATH?base=main&head=topic.');

const roomRow = z.looseObject({
  slug: z.string(),
  title: z.string(),
  pull_request: z.string(),
  recipe: z.string(),
  state: z.string().describe('living or ended.'),
  phase: z.string(),
  round: z.int().describe('Number of the latest round; 0 before the first.'),
  chips: z.array(z.string()),
  waiting_on: z.array(named),
  opened_at: time,
  ended_at: time.nullable(),
});
const wholeRoom = z.looseObject({
  ...roomRow.shape,
  barista: z.looseObject({ enabled: z.boolean(), durations: z.looseObject({}).describe('Each by its name, as ISO 8601.') }),
  clocks: z
    .array(
      z.looseObject({
        name: z.string().describe('What is measured, e.g. head_quiet or idle_close.'),
        what: z.string().describe('What happens then.'),
        at: z.string().describe('When it fires if nothing happens before: ISO 8601, UTC.'),
      }),
    )
    .describe('The clocks that run in the room.'),
  members: z.array(participantAnswer),
  forge: z.looseObject({ troubles: troublesAnswer }),
  review: roundViewAnswer.nullable().describe('Page 1 of the latest round, as GET /rooms/{slug}/review/rounds/{n} answers it.'),
});
const opened = z.looseObject({ ...wholeRoom.shape, created: z.boolean().describe('false: it was there, and nothing of it was changed.') });
const added = z.looseObject({ participant: participantAnswer });

export const roomRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/rooms',
    id: 'openRoom',
    summary: 'Opens a room on a pull request, or answers the one there is.',
    who: 'user',
    params: none,
    body: z.strictObject({
      pull_request: pullRequest,
      recipe: recipe.default('panel'),
      barista: z.boolean().default(true).describe('Whether Barista runs the rounds.'),
      durations: durations.optional(),
      another: z.boolean().default(false).describe('true: a second room beside the one there is.'),
    }),
    answers: { 200: opened, 201: opened },
    run: async ({ body }, call) => {
      const { slug, created } = await openRoom(
        {
          pullRequest: body.pull_request,
          recipe: body.recipe,
          barista: body.barista,
          durations: body.durations === undefined ? {} : toDurations(body.durations),
          another: body.another,
        },
        call,
      );
      return { status: created ? 201 : 200, body: { ...(await roomPage(call, slug)), created } };
    },
  }),
  route({
    method: 'get',
    path: '/rooms',
    id: 'listRooms',
    summary: 'Lists your rooms and those you are in, newest first.',
    who: 'user',
    params: none,
    answers: { 200: z.looseObject({ rooms: z.array(roomRow) }) },
    run: async (_input, call) => ok({ rooms: await listOwnRooms(call) }),
  }),
  route({
    method: 'get',
    path: '/rooms/{slug}',
    id: 'getRoom',
    summary: 'Shows one room whole, its latest round as you may see it.',
    who: 'user',
    params: inRoom,
    answers: { 200: wholeRoom },
    run: async ({ params }, call) => {
      await recordReviewCall(call, params.slug, 'after_reading');
      return ok(await roomPage(call, params.slug));
    },
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/archive',
    id: 'archiveRoom',
    summary: 'Ends the room.',
    who: 'owner',
    params: inRoom,
    answers: { 200: z.looseObject({ slug: z.string(), state: z.string() }) },
    run: async ({ params }, call) => {
      const room = await roomOfOwner(call, params.slug);
      if (room.ended?.reason !== 'archived') await send(call, room, asked(call, 'archive', undefined));
      return ok({ slug: params.slug, state: 'ended' });
    },
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/agents',
    id: 'addAgentToRoom',
    summary: 'Adds one of your agents to the room, with its default role.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ agent_id: handle('Id of the agent.') }),
    answers: { 200: added },
    run: async ({ params, body }, call) => ok(await addAgent(params.slug, body.agent_id, call)),
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/people',
    id: 'addPersonToRoom',
    summary: 'Makes a person a participant, without a role.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ user_id: handle('Id of the user.') }),
    answers: { 200: added },
    run: async ({ params, body }, call) => ok(await addPerson(params.slug, body.user_id, call)),
  }),
];

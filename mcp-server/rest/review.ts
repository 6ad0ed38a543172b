import { z } from 'zod';
import { knownRoom, roomOfMember, roomOfOwner } from '../calls/access.js';
import { wireMembers } from '../calls/membership.js';
import { recordReviewCall } from '../calls/review-calls.js';
import { settings } from '../calls/room-page.js';
import { readRound, roundsOf } from '../calls/round-view.js';
import { asked, send } from '../calls/write.js';
import { participantAnswer, roundAnswer, roundViewAnswer } from '../schema/answers.js';
import { durations, maxChars, page, recipe, roles, toDurations } from '../schema/fields.js';
import { inRoom } from './params.js';
import { ok, route, type Route } from './route.js';

const settingsAnswer = z.looseObject({
  slug: z.string(),
  recipe: z.string(),
  barista: z.looseObject({ enabled: z.boolean(), durations: z.looseObject({}) }),
});

export const reviewRoutes: readonly Route[] = [
  route({
    method: 'patch',
    path: '/rooms/{slug}/review/recipe',
    id: 'setRecipe',
    summary: "Changes the room's recipe; nobody's roles change with it.",
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ recipe }),
    answers: { 200: settingsAnswer },
    run: async ({ params, body }, call) => {
      await send(call, await roomOfOwner(call, params.slug), { ...asked(call, 'setRecipe', undefined), recipe: body.recipe });
      return ok(settings(await knownRoom(call, params.slug)));
    },
  }),
  route({
    method: 'put',
    path: '/rooms/{slug}/review/roles',
    id: 'setRoles',
    summary: 'Sets the roles of the participants named; the others keep theirs.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ roles }),
    answers: { 200: z.looseObject({ members: z.array(participantAnswer) }) },
    run: async ({ params, body }, call) => {
      await send(call, await roomOfOwner(call, params.slug), { ...asked(call, 'setRoles', undefined), roles: body.roles });
      return ok({ members: wireMembers(await knownRoom(call, params.slug)) });
    },
  }),
  route({
    method: 'patch',
    path: '/rooms/{slug}/review/barista',
    id: 'setBarista',
    summary: 'Turns Barista on or off for the room, or changes how long its clocks run.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ enabled: z.boolean().optional().describe('Whether Barista runs the rounds.'), durations: durations.optional() }),
    answers: { 200: settingsAnswer },
    run: async ({ params, body }, call) => {
      await send(call, await roomOfOwner(call, params.slug), {
        ...asked(call, 'setBarista', undefined),
        ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
        ...(body.durations === undefined ? {} : { durations: toDurations(body.durations) }),
      });
      return ok(settings(await knownRoom(call, params.slug)));
    },
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/review/final-draft',
    id: 'finalDraft',
    summary: 'Has the lead draft the latest round as it is, although something still needs a fix; only while it is offered.',
    who: 'owner',
    params: inRoom,
    answers: { 200: z.looseObject({ round: z.int() }) },
    run: async ({ params }, call) => ok(await send(call, await roomOfOwner(call, params.slug), asked(call, 'finalDraft', undefined))),
  }),
  route({
    method: 'get',
    path: '/rooms/{slug}/review/rounds',
    id: 'listRounds',
    summary: 'Lists the rounds of the room, oldest first.',
    who: 'member',
    params: inRoom,
    answers: { 200: z.looseObject({ rounds: z.array(roundAnswer) }) },
    run: async ({ params }, call) => {
      await roomOfMember(call, params.slug);
      return ok({ rounds: await roundsOf(call, params.slug, 'all') });
    },
  }),
  route({
    method: 'get',
    path: '/rooms/{slug}/review/rounds/{n}',
    id: 'getRound',
    summary: 'Shows a round as you may see it; the same as get_review_round.',
    who: 'member',
    params: z.strictObject({ ...inRoom.shape, n: z.int().min(1).max(100_000).describe('Number of the round.') }),
    query: z.strictObject({
      findings: z.enum(['all', 'mine', 'open']).optional().describe('Which findings to show.'),
      page,
      max_chars: maxChars,
    }),
    answers: { 200: roundViewAnswer },
    run: async ({ params, query }, call) => {
      await recordReviewCall(call, params.slug, 'after_reading');
      return ok(await readRound({ room: params.slug, round: params.n, ...query }, call));
    },
  }),
];

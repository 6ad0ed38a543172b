import { z } from 'zod';
import { listRepositories, setRepository } from '../calls/repositories.js';
import { handle, recipe, text } from '../schema/fields.js';
import { repositoryAnswer } from '../views/repository.js';
import { none } from './params.js';
import { ok, route, type Route } from './route.js';

/** Each joins with a call of its own to the room, one after another. */
const CREW_LIMIT = 20;

const automatic = z.strictObject({
  recipe: recipe.optional(),
  crew: z
    .array(handle('Id or name of one of your agents.'))
    .max(CREW_LIMIT)
    .optional()
    .describe('Your agents that join, in this order. Needed to turn automatic rooms on.'),
  barista: z.boolean().optional().describe('Whether Barista runs the rounds (true).'),
  label: text(255, 'Only pull requests with this label; null: all of them.').nullable().optional(),
});

export const repositoryRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/repositories',
    id: 'listRepositories',
    summary: 'Lists your repositories: those linked to you and those you set something for, with what troubles their forge.',
    who: 'user',
    params: none,
    answers: { 200: z.looseObject({ repositories: z.array(repositoryAnswer) }) },
    run: async (_input, call) => ok({ repositories: await listRepositories(call) }),
  }),
  route({
    method: 'put',
    path: '/repositories',
    id: 'setRepository',
    summary: 'Sets your choices for a repository. What is left out stays as it is; two calls at once keep the later value of each.',
    who: 'user',
    params: none,
    body: z.strictObject({
      repository: text(8_192, 'https://github.com/OWNER/NAME, https://gitlab.com/GROUP/PROJECT or local:PATH.'),
      automatic: automatic
        .nullable()
        .optional()
        .describe('Opens a room when a pull request opens or leaves draft; null: no more. What is left out of it stays as it is.'),
      post_as: z
        .enum(['operator', 'reviewer'])
        .nullable()
        .optional()
        .describe("Which identity posts reviews; null: the reviewer's, where the server has one."),
      comment_instead: z
        .boolean()
        .optional()
        .describe("Whether the operator's identity posts a review as a comment where the reviewer App is not installed."),
    }),
    answers: { 200: repositoryAnswer },
    run: async ({ body }, call) => {
      const { repository, automatic: rooms, post_as: postAs, comment_instead: commentInstead } = body;
      return ok(await setRepository({ repository, automatic: rooms, postAs, commentInstead }, call));
    },
  }),
];

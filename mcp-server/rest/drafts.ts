import { z } from 'zod';
import { editDraft, postDraft } from '../calls/drafts.js';
import { roomOfOwner } from '../calls/access.js';
import { draftFor } from '../calls/round-view.js';
import { draftAnswer } from '../schema/answers.js';
import { draftFields, requestId } from '../schema/fields.js';
import { inRoom } from './params.js';
import { ok, route, type Route } from './route.js';

const version = z.int().min(0).max(1_000_000).describe('version of the draft you have read; conflict if it has changed since.');

export const draftRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/rooms/{slug}/review/draft',
    id: 'getDraft',
    summary: "Shows the newest round's draft.",
    who: 'owner',
    params: inRoom,
    answers: { 200: draftAnswer },
    run: async ({ params }, call) => {
      await roomOfOwner(call, params.slug);
      return ok(await draftFor(call, params.slug));
    },
  }),
  route({
    method: 'put',
    path: '/rooms/{slug}/review/draft',
    id: 'editDraft',
    summary: 'Replaces the draft by your edit of it.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ ...draftFields, version, request_id: requestId }),
    answers: { 200: draftAnswer },
    run: async ({ params, body }, call) => ok((await editDraft({ room: params.slug, ...body }, call)).draft),
  }),
  route({
    method: 'post',
    path: '/rooms/{slug}/review/draft/post',
    id: 'postDraft',
    summary: 'Posts the draft to the pull request, once; its text is fixed from now on.',
    who: 'owner',
    params: inRoom,
    body: z.strictObject({ version: version.optional(), request_id: requestId }),
    answers: { 202: draftAnswer },
    run: async ({ params, body }, call) => ({ status: 202, body: (await postDraft({ room: params.slug, ...body }, call)).draft }),
  }),
];

import { z } from 'zod';
import { editDraft, postDraft } from '../calls/drafts.js';
import { roomOfOwner } from '../calls/access.js';
import { draftFor } from '../calls/round-view.js';
import { draftAnswer, id, time } from '../schema/answers.js';
import { draftFields, requestId } from '../schema/fields.js';
import { inRoom } from './params.js';
import { ok, route, type Route } from './route.js';

const version = z.int().min(0).max(1_000_000).describe('version of the draft you have read; conflict if it has changed since.');

const line = { line: z.int().optional(), start_line: z.int().optional() };

/** All that an owner's program decides by; what an agent is answered says less, for it reads each schema. */
const wholeDraft = z.looseObject({
  ...draftAnswer.shape,
  findings: z.array(
    z.looseObject({
      path: z.string(),
      ...line,
      side: z.string(),
      severity: z.string(),
      body: z.string(),
      raised_by: z.array(id),
      agreed_by: z.array(id),
      disputed_by: z.array(id),
      finding_ids: z.array(z.string()),
    }),
  ),
  standing: z
    .array(z.looseObject({ finding_id: z.string(), standing: z.string(), label: z.string(), path: z.string().optional(), ...line }))
    .describe('Every unsettled finding of the latest round; posted below the body.'),
  coverage: z.array(z.looseObject({ participant: id, line: z.string() })).describe('What each reviewer read through Barista.'),
  declined: z.array(z.looseObject({ id, name: z.string(), reason: z.string() })),
  drafted_by: z.string().describe('A participant, or barista.'),
  drafted_by_name: z.string(),
  drafted_at: time,
  assembled: z.boolean().describe('true: put together by Barista, for no agent drafted.'),
  notice: z.string().nullable().describe('What to know before posting; never posted itself.'),
  stale: z.boolean().describe('true: the head is another commit than head_sha.'),
  edited: z.boolean().describe('true: the owner has edited it.'),
  status: z.string().describe('draft, posting or posted.'),
  failure: z.string().nullable().describe('Why the last posting failed.'),
  posted_at: time.nullable(),
  url: z.string().nullable().describe('Where the posted review stands.'),
  unplaced: z
    .array(z.looseObject({ index: z.int(), path: z.string(), ...line }))
    .describe('Findings that had no place in the diff and were posted in the body.'),
});

export const draftRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/rooms/{slug}/review/draft',
    id: 'getDraft',
    summary: "Shows the newest round's draft.",
    who: 'owner',
    params: inRoom,
    answers: { 200: wholeDraft },
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
    answers: { 200: wholeDraft },
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
    answers: { 202: wholeDraft },
    run: async ({ params, body }, call) => ({ status: 202, body: (await postDraft({ room: params.slug, ...body }, call)).draft }),
  }),
];

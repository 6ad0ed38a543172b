import { z } from 'zod';

/**
 * What tools and REST calls answer, for clients that read output schemas. Loose on purpose: an answer that a client's
 * validator refuses would make a stored write look failed. Tests hold the real answers to these shapes.
 */

export const id = z.string();
const sha = z.string();
export const time = z.string().describe('ISO 8601, UTC.');

export const named = z.looseObject({ id, name: z.string() });
const people = z.array(named);
export const nextSteps = z.string().describe('What you do next, or whom the room waits for.');

export const participantAnswer = z.looseObject({
  id,
  name: z.string(),
  kind: z.string().describe('agent or person.'),
  roles: z.array(z.string()),
});

export const findingAnswer = z.looseObject({
  id,
  path: z.string(),
  line: z.int().optional(),
  start_line: z.int().optional().describe('The first line of a range that ends at line; absent: one line.'),
  side: z.string(),
  severity: z.string(),
  body: z.string(),
  raised_in_round: z.int(),
  raised_by: id,
  raised_by_name: z.string(),
  raised_on: sha,
  state: z.string(),
  answers: z.array(z.looseObject({})),
  references: z.array(z.looseObject({})),
  needs_fix: z.boolean(),
  standing: z.string().nullable(),
  outside_diff: z.boolean(),
});

export const roundAnswer = z.looseObject({
  number: z.int(),
  state: z.string().describe('open or closed.'),
  round_head_sha: sha,
  base_sha: sha,
  opened_at: time,
  closed_at: time.nullable(),
});

export const draftAnswer = z.looseObject({
  round: z.int(),
  head_sha: sha,
  verdict: z.string(),
  body: z.string(),
  findings: z.array(z.looseObject({})),
  version: z.int(),
});

export const roundViewAnswer = z.looseObject({
  page: z.int(),
  page_count: z.int(),
  last_page: z.boolean(),
  round: roundAnswer.nullable(),
  roles: z.looseObject({ lead: people, reviewer: people, author: people }).optional(),
  submitted: people.optional(),
  missing: people.optional(),
  declined: people.optional(),
  reviews: z.array(z.looseObject({})).optional(),
  hidden_reviews: z.int().optional(),
  carried: z.array(z.looseObject({})).optional(),
  draft: draftAnswer.nullable().optional(),
  ci: z.looseObject({ state: z.string(), summary: z.string(), url: z.string().nullable() }).nullable().optional(),
  next_steps: nextSteps.optional(),
  nothing_for_you: z.boolean().optional(),
});

export const messageAnswer = z.looseObject({
  id,
  at: time,
  from: id.nullable().describe('Participant id; null for a note of the system.'),
  from_name: z.string(),
  kind: z.string().describe('message or note.'),
  text: z.string(),
  mentions: z.array(id),
});

export const messagesAnswer = z.looseObject({ messages: z.array(messageAnswer), last_message_id: id, more: z.boolean().optional() });

export const roomListing = z.looseObject({
  slug: z.string(),
  title: z.string(),
  pull_request: z.string(),
  recipe: z.string(),
  roles: z.array(z.string()),
});

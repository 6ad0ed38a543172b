import { Duration } from 'luxon';
import { z } from 'zod';
import { LIMITS, type Durations } from '../../workflows/room/state.js';
import { RECIPES, ROLES, SEVERITIES, SIDES, STANCES, VERDICTS } from '../../workflows/room/words.js';

/** The fields that tools and REST calls share: one spelling, one limit, one description. */

/** S6: a finding's body, and every other text a participant writes but a draft's. */
const TEXT_LIMIT = 10_000;
/** What a forge takes as one review, with room for what the room adds below it (D7). */
const DRAFT_LIMIT = 60_000;

/** Text that somebody wrote: never empty, no NUL (a database cannot hold one). */
export const text = (max: number, description: string) =>
  z
    .string()
    .max(max)
    .refine((value) => value.trim() !== '', 'must not be empty')
    .refine((value) => !value.includes('\0'), 'must not contain a NUL character')
    .describe(description);

export const bodyText = (description: string) => text(TEXT_LIMIT, description);
const draftText = (description: string) => text(DRAFT_LIMIT, description);

/** An id, slug or other handle; whether it exists is for the database to say. */
export const handle = (description: string, max = 100) => whole(text(max, description));

/** What is looked up or kept as it is must be characters: a text's broken one becomes U+FFFD instead. */
const whole = <S extends z.ZodString>(schema: S) =>
  schema.refine((value) => !/\p{Surrogate}/u.test(value), 'must not contain half a surrogate pair');

export const room = handle('The room, by its slug (see list_rooms).');

export const requestId = handle(
  'Your own id of this call. Send the same one when you repeat a call whose answer was lost: you get the first answer and nothing happens twice.',
).optional();

/** F4; the forge never sees a path that is not one inside the repository. */
export const repositoryPath = (description: string) =>
  whole(text(4_096, description)).refine(
    isRepositoryPath,
    'must be a path inside the repository: not absolute, no `..`, `.` or empty segments',
  );

function isRepositoryPath(path: string): boolean {
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

const HIGHEST_LINE = 100_000_000;
export const lineNumber = (description: string) => z.int().min(1).max(HIGHEST_LINE).describe(description);

export const page = z.int().min(1).max(100_000).optional().describe('Page to read, from 1 (the default).');
export const maxChars = z
  .int()
  .min(6_000)
  .max(48_000)
  .optional()
  .describe('Longest answer your client takes, in characters: 6000 to 48000 (the default). Keep it the same for all pages.');

export const verdict = z.enum(VERDICTS).describe('approve, comment or request_changes.');
export const recipe = z.enum(RECIPES).describe('panel (several reviewers) or build_duel (an author and a reviewer).');

const place = {
  path: repositoryPath('Path of the file in the repository.'),
  line: lineNumber('Line in the file, from 1: the last one of a range. Leave out for a remark about the whole file.').optional(),
  start_line: lineNumber('First line of a range that ends at line, on the same side. Leave out for one line.').optional(),
  side: z.enum(SIDES).optional().describe('new (the default): the line in the pull request; old: the line in its base.'),
  severity: z.enum(SEVERITIES).describe('blocker, major, minor or nit.'),
};

const newFinding = withRange(
  z.strictObject({
    ...place,
    body: bodyText('The remark itself: what is wrong, why, and what would be right. At most 10000 characters.'),
  }),
);

/** S6: said beside whatever else is wrong with the finding; a number that is none is refused as such already. */
function withRange<S extends z.ZodType<{ line?: number | undefined; start_line?: number | undefined }>>(schema: S): S {
  const startOf = (value: unknown) => (value ?? {}) as { line?: unknown; start_line?: unknown };
  const always = { path: ['start_line'], when: () => true };
  return schema
    .refine((value) => startOf(value).start_line === undefined || startOf(value).line !== undefined, {
      ...always,
      message: 'needs line, the last line of the range',
    })
    .refine(
      (value) => {
        const { line, start_line: start } = startOf(value);
        return typeof line !== 'number' || typeof start !== 'number' || start <= line;
      },
      { ...always, message: 'must not be after line, the last line of the range' },
    );
}

export const findings = z
  .array(newFinding)
  .max(LIMITS.findingsPerReview)
  .describe(`Your new findings, at most ${LIMITS.findingsPerReview}; an empty list when you have none.`);

export const references = z
  .array(
    z.strictObject({
      finding_id: handle('Id of a finding carried into this round.'),
      stance: z.enum(STANCES).describe('agree: it is still so; dispute: you do not think it is right.'),
      note: bodyText('Why, in a sentence or two.').optional(),
    }),
  )
  .max(LIMITS.referencesPerReview)
  .refine((list) => new Set(list.map((entry) => entry.finding_id)).size === list.length, 'names a finding more than once')
  .optional()
  .describe('What you say of findings carried into this round, each at most once. Use it instead of filing the same finding again.');

const participants = (description: string) => z.array(handle('A participant id.')).max(100).describe(description);

export const draftFinding = withRange(
  z.strictObject({
    ...place,
    body: draftText('The merged remark as the pull request will show it.'),
    raised_by: participants('Ids of the participants that raised it.').optional(),
    agreed_by: participants('Ids of the participants that agree.').optional(),
    disputed_by: participants('Ids of the participants that dispute it.').optional(),
    finding_ids: z
      .array(handle('A finding id.'))
      .max(LIMITS.findingsPerMerged)
      .optional()
      .describe(`Stored findings merged into this one, at most ${LIMITS.findingsPerMerged}, each under one merged finding only.`),
  }),
);

export const draftFields = {
  verdict,
  body: draftText('The review as a whole, in Markdown. The room adds the standing of every unsettled finding below it.'),
  findings: z.array(draftFinding).max(1_500).describe('The merged findings, each at its line.'),
};

export const roles = z
  .record(handle('A participant id.'), z.array(z.enum(ROLES)).max(ROLES.length))
  .refine((map) => Object.keys(map).length > 0, 'must name at least one participant')
  .describe('The roles each named participant holds from now on; who is not named keeps its own.');

const YEAR = 366 * 24 * 3_600_000;
const duration = (description: string) =>
  z
    .string()
    .max(40)
    .refine(isWholeSeconds, 'must be an ISO 8601 duration of whole seconds from PT1S up, e.g. PT30M')
    .optional()
    .describe(description);

function isWholeSeconds(value: string): boolean {
  const span = Duration.fromISO(value);
  const ms = span.isValid ? span.toMillis() : 0;
  return ms >= 1_000 && ms % 1_000 === 0 && ms <= YEAR;
}

export const durations = z
  .strictObject({
    working_window: duration('How long a review call counts as working (PT5M).'),
    remind_after: duration('Idle time before a missing reviewer is reminded (PT10M).'),
    idle_close: duration('Idle time after which the round closes without a reviewer (PT30M).'),
    round_cap: duration('Longest time a round stays open (PT90M).'),
    head_quiet: duration('How long the head must be quiet before a round opens (PT2M).'),
    uphold_window: duration('How long a rejected finding waits for its raiser (PT30M).'),
    verify_window: duration('How long an accepted finding waits to be marked (PT30M).'),
    lost_raiser_window: duration('The same, for a finding whose raiser is gone (PT10M).'),
    draft_reminder: duration('Time from the ask to the reminder (PT10M).'),
    draft_handoff: duration('Time from the ask to the hand-off (PT30M).'),
    fixes_not_pushed: duration('Time without a push before it is said (PT24H).'),
    head_poll: duration('How often the head is looked at (PT5M).'),
  })
  .describe("How long each of Barista's clocks runs, as ISO 8601 durations.");

/** Durations of the wire as the room keeps them, in milliseconds. */
export function toDurations(wire: z.output<typeof durations>): Partial<Durations> {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(wire).flatMap(([name, value]) => (value === undefined ? [] : [[camel(name), Duration.fromISO(value).toMillis()]])),
  );
}

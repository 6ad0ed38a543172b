import { z } from 'zod';
import type { ForgeTrouble } from '../../prisma/store.js';
import { iso } from './time.js';

const at = (what: string) => z.string().describe(`${what}: ISO 8601 in UTC.`);

/** What shuts a repository's forge out, wherever that is shown. */
export const troublesAnswer = z.array(
  z.looseObject({
    identity: z.string().describe('operator or reviewer: who is shut out.'),
    kind: z.string().describe('Who must act: refused (the owner or the operator of the server), unavailable (nobody: it passes).'),
    message: z.string().describe('What is wrong, with where to mend it.'),
    since: at('Since when'),
    until: at('When the forge is asked again').nullable(),
  }),
);

/** The troubles there are at `now` (epoch milliseconds). One with an end is over then; if it is not, the next call says so. */
export function wireTroubles(troubles: readonly ForgeTrouble[], now: number): z.output<typeof troublesAnswer> {
  const there = troubles.filter(({ until }) => until === null || until > now);
  // One permission may be wanting for several kinds of work: it is said once.
  const first = there.filter(
    (trouble, index) => there.findIndex((other) => other.identity === trouble.identity && other.message === trouble.message) === index,
  );
  return first.map(({ identity, kind, message, since, until }) => ({
    identity,
    kind,
    message,
    since: iso(since),
    until: until === null ? null : iso(until),
  }));
}

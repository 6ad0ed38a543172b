import { DateTime } from 'luxon';
import type { ClockName } from '../workflows/messages.js';
import type { Json } from './api.js';

/** A clock as the server answers it. */
interface WireClock {
  readonly name: ClockName;
  readonly what: string;
  readonly at: string;
}

/**
 * Each running clock as a line: what happens when, and what would keep it from happening. `round` is the latest round's
 * number (0: none), `now` epoch milliseconds.
 */
export function clockLines(clocks: readonly WireClock[], round: number, now: number): string[] {
  return clocks.map((clock) => {
    const at = timeOf(clock.at, now);
    // A newer server may have a clock that is not known here.
    return (SENTENCES[clock.name] ?? (({ what }) => `${what} at ${at}`))(clock, at, round);
  });
}

const SENTENCES: Readonly<Record<ClockName, (clock: WireClock, at: string, round: number) => string>> = {
  head_quiet: (_clock, at, round) => `round ${round + 1} opens at ${at} if nobody pushes`,
  remind_after: ({ what }, at) => `Barista is to ${what} at ${at}, later if a review call comes`,
  idle_close: ({ what }, at, round) =>
    what === 'close on idle'
      ? `round ${round} closes at ${at} with the reviews that are in, later if a review call comes`
      : `idle time runs out at ${at}, later if a review call comes; without a review the round stays open`,
  round_cap: ({ what }, at, round) =>
    what === 'close at the cap'
      ? `round ${round} closes at ${at} at the latest`
      : `the time of round ${round} is over at ${at}; without a review it stays open`,
  decline_until: ({ what }, at) => `${what} from ${at} on`,
  uphold_window: ({ what }, at) => `${what} until ${at}`,
  verify_window: ({ what }, at) => `${what} until ${at}`,
  lost_raiser_window: ({ what }, at) => `${what} until ${at}`,
  fixes_not_pushed: ({ what }, at) => `Barista is to ${what} at ${at} if no push comes`,
  draft_reminder: ({ what }, at) => `Barista is to ${what} at ${at} if there is no draft`,
  draft_handoff: ({ what }, at) => `Barista is to ${what} at ${at} if there is no draft`,
  room_end: (_clock, at) => `the room ends at ${at}`,
};

/** `16:22:08 UTC`, with the day where it is not today's. */
function timeOf(at: string, now: number): string {
  const time = DateTime.fromISO(at, { zone: 'utc' });
  const isToday = time.hasSame(DateTime.fromMillis(now, { zone: 'utc' }), 'day');
  return time.toFormat(isToday ? "HH:mm:ss 'UTC'" : "yyyy-MM-dd HH:mm:ss 'UTC'");
}

const SHOWN = 120;

/** The findings in dispute of a closed round, a line each: they are what its owner decides on (B15). */
export function disputeLines(review: Json): string[] {
  if (review?.round?.state !== 'closed') return [];
  const findings = [...(review.carried ?? []), ...(review.reviews ?? []).flatMap((one: Json) => one.findings)];
  return findings
    .filter(({ state }) => state === 'disputed')
    .map(({ id, severity, path, line, raised_by_name: by, body }) => {
      const place = line === undefined ? path : `${path}:${line}`;
      return `in dispute: ${id} (${severity}, ${place}) of @${by}: ${short(body)}`;
    });
}

/** The first line, without what a terminal would act on: it is others' text. */
function short(text: string): string {
  const line = text.trim().split('\n')[0]!.replace(/\p{C}/gu, '');
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}

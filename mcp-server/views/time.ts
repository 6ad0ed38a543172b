import { DateTime } from 'luxon';

/** ISO 8601 in UTC, of epoch milliseconds. */
export function iso(at: number): string {
  return DateTime.fromMillis(at, { zone: 'utc' }).toISO()!;
}

import { Duration } from 'luxon';

/** Milliseconds as a person says them: `2 minutes`, `1 hour, 30 minutes`, `45 seconds`. */
export function inWords(milliseconds: number): string {
  if (milliseconds < 1_000) return '0 seconds';
  return Duration.fromMillis(milliseconds, { locale: 'en' }).rescale().set({ milliseconds: 0 }).rescale().toHuman({ listStyle: 'narrow' });
}

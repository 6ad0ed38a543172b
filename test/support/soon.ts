import { expect } from 'vitest';
import { PATIENCE } from './patience.js';

/** Longer than a test waits: what looks or ends only then is not what a test has waited for. */
export const TOO_LATE_MS = 2 * PATIENCE.timeout;

/** What comes of it; fails where that takes longer than a test waits. */
export async function soon<T>(coming: Promise<T>): Promise<T> {
  let has = false;
  const come = () => (has = true);
  coming.then(come, come);
  await expect.poll(() => has).toBe(true);
  return coming;
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Heard } from '../../workflows/delivery/heard.js';

/** What is the same of every forge's deliveries. */

/** A delivery over HTTP. */
export interface ForgeWebhook {
  readonly headers: { get(name: string): string | null };
  /** As it came: what is signed is these bytes. */
  readonly body: Buffer;
}

/** Whether somebody has the secret, in constant time: digests are of one length, whatever was sent. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** The id that the forge gave it, the same however often it is sent; a digest of `otherwise` where that can be none. */
export function deliveryId(given: string, otherwise: string | Buffer): string {
  return /^[\w.-]{8,100}$/.test(given) ? given : `sha256-${createHash('sha256').update(otherwise).digest('hex')}`;
}

/** null: the body is no JSON. */
export function parsedBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** Of no use to a room, as a person reads it. */
export const ignored = (reason: string): Heard => ({ kind: 'ignored', reason });

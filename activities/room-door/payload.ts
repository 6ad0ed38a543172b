import type { Command } from '../../workflows/room/commands.js';
import { Refusal } from '../../workflows/room/refusal.js';

/**
 * Facts and ids of one command, in bytes of JSON. 200 findings and 200 references with long paths come to 90 000; a
 * history takes payloads of half a megabyte before it warns.
 */
const MAX_BYTES = 128 * 1024;

/** NUL and halves of surrogate pairs as JSON.stringify writes them, where the backslash is not itself escaped. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/**
 * What a room accepts it keeps for ever, so what cannot be kept must not get in: too much for a history, or
 * characters that the database refuses.
 * @throws Refusal `invalid`
 */
export function checkPayload(command: Command): void {
  const json = JSON.stringify(command);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_BYTES) {
    throw new Refusal(
      'invalid',
      `This is too much for one call: ${bytes} bytes of facts, and ${MAX_BYTES} are taken. Give fewer findings, or shorter paths.`,
    );
  }
  if (UNSTORABLE.test(json))
    throw new Refusal('invalid', 'A name, path or id holds a NUL character or half a surrogate pair. Take it out.');
}

/** Sizes are counted on the JSON text of an answer (C2): what a client is sent, escapes included. */

/** Characters of a value in compact JSON. */
export function jsonSize(value: unknown): number {
  return JSON.stringify(value).length;
}

/** Characters of a text inside its quotes. Additive over pieces that do not cut a surrogate pair. */
export function innerSize(text: string): number {
  return JSON.stringify(text).length - 2;
}

/** The longest start of `text` whose JSON takes at most `budget` characters inside its quotes; no pair is cut. */
export function startWithin(text: string, budget: number): string {
  if (text.length <= budget && innerSize(text) <= budget) return text;
  let fits = 0;
  let tooLong = Math.min(text.length, Math.max(0, budget)) + 1;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (innerSize(text.slice(0, middle)) <= budget) fits = middle;
    else tooLong = middle;
  }
  const last = text.charCodeAt(fits - 1);
  const cutsPair = fits > 0 && fits < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, cutsPair ? fits - 1 : fits);
}

/** `\n[cut: 1234567890 more characters]` */
const MARKER_SIZE = 40;

/** `text` within `budget` (at least {@link MARKER_SIZE}), cut with a marker that says how much was cut. */
export function cutText(text: string, budget: number): string {
  if (innerSize(text) <= budget) return text;
  const start = startWithin(text, budget - MARKER_SIZE);
  return `${start}\n[cut: ${text.length - start.length} more characters]`;
}

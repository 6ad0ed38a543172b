/** Something the person who starts Barista must put right; its message is the one line to print. */
export class StackError extends Error {
  override name = 'StackError';
}

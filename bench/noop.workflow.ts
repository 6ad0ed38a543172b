import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** What an Update costs when it does nothing: the measure of all others. */
export async function noop(): Promise<void> {
  setHandler(defineUpdate<number, [number]>('bare'), (value) => value);
  await condition(() => false);
}

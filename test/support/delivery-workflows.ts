import { condition, defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { HEAD_SIGNAL, SILENCE_SIGNAL, type ForgeSilence } from '../../workflows/messages.js';
import type { HeadSeen } from '../../workflows/room/events.js';

export { delivery } from '../../workflows/delivery.js';

/** Where a room would stand: keeps what it is told. */
export async function reviewRoom(): Promise<void> {
  const heard: (HeadSeen | ForgeSilence)[] = [];
  let ended = false;
  setHandler(defineSignal<[HeadSeen]>(HEAD_SIGNAL), (seen) => void heard.push(seen));
  setHandler(defineSignal<[ForgeSilence]>(SILENCE_SIGNAL), (silence) => void heard.push(silence));
  setHandler(defineSignal('end'), () => void (ended = true));
  setHandler(defineQuery('heard'), () => heard);
  await condition(() => ended);
}

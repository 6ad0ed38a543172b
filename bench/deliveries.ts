import { exampleOf, deliver, githubWebhook } from '../test/support/deliveries.js';
import { against, percentiles, timed, type Row, type Timing } from './measure.js';

export const WEBHOOK_SECRET = 'a-secret-of-the-benchmark';
/** Deliveries cluster: a push sets off as many runs of checks. */
const AT_ONCE = 50;

/** What a forge waits for: a delivery verified, kept and answered, alone and with others. */
export async function deliveryRows(url: string, bare: Timing, runs: number): Promise<Row[]> {
  const payload = exampleOf('pull_request', ({ action }) => action === 'synchronize');
  const send = async (): Promise<number> => {
    const began = performance.now();
    const answer = await deliver(url, 'github', githubWebhook('pull_request', payload, { secret: WEBHOOK_SECRET }));
    if (answer.status !== 202) throw new Error(`a delivery was answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    return performance.now() - began;
  };
  const alone = await timed(runs, send);
  const together = await Promise.all(Array.from({ length: AT_ONCE }, send));
  return [
    against(bare, 'a delivery of GitHub, kept and answered', alone),
    against(bare, `one of ${AT_ONCE} deliveries that come at once`, percentiles(together)),
  ];
}

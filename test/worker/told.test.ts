// The whole way, all of it real: what time brings in a room, its alert, and the POST that tells of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../support/world.js';
import { Receiver } from '../support/receiver.js';

let receiver: Receiver;
let world: World;
beforeAll(async () => {
  receiver = await Receiver.start();
  world = await startWorld({ notifyUrl: receiver.url });
});
afterAll(async () => {
  await world.stop();
  await receiver[Symbol.asyncDispose]();
});

test('B29: a round past B6 without a review, then its draft: each is one alert', async () => {
  const ana = await world.agent('ana');
  const durations = { head_quiet: 'PT1S', remind_after: 'PT1S', working_window: 'PT1S', idle_close: 'PT2S' };
  const room = await world.room({ barista: true, agents: [ana], durations });
  // One that is answered late comes again, under the same id.
  const told = () => {
    const alerts = receiver.got.map(({ body }) => JSON.parse(body)).filter((alert) => alert.room === room);
    return [...new Map(alerts.map((alert) => [alert.id, alert])).values()];
  };
  await expect.poll(told).toMatchObject([{ kind: 'no_review', round: 1, url: null }]);
  await world.ok(ana, 'submit_review', { room, verdict: 'approve', summary: 'fine', findings: [] });
  const draft = { room, verdict: 'approve', body: 'Fine.', findings: [] };
  await expect
    .poll(async () =>
      world.ok(ana, 'draft_review', draft).then(
        () => 'drafted',
        () => 'too soon',
      ),
    )
    .toBe('drafted');
  await expect
    .poll(told)
    .toMatchObject([
      { kind: 'no_review' },
      { kind: 'draft_ready', round: 1, text: '@ana drafted the review of round 1 (approve, 0 findings): edit and post it.' },
    ]);
});

// Many at once, through two servers: every call answers rightly, none is lost, none is doubled.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../../mcp-server/server.js';
import type { Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let other: RunningServer;
beforeAll(async () => {
  world = await startWorld();
  other = await world.anotherServer();
});
afterAll(() => world.stop());

const urlOf = (index: number) => (index % 2 === 0 ? world.server.url : other.url);

test('25 reviewers submit at once in one room while 25 others poll', async () => {
  const reviewers: Person[] = [];
  for (let i = 0; i < 25; i++) reviewers.push(await world.agent(`reviewer-${i}`));
  const pollers: Person[] = [];
  for (let i = 0; i < 25; i++) pollers.push(await world.agent(`poller-${i}`));
  const room = await world.room({ agents: [...reviewers, ...pollers] });
  await world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, { roles: Object.fromEntries(pollers.map(({ id }) => [id, []])) });
  await world.ok(reviewers[0]!, 'open_review_round', { room });

  let done = false;
  const polling = pollers.map(async (poller, index) => {
    let seen = 0;
    while (!done) {
      const view = await world.ok(poller, 'get_review_round', { room }, urlOf(index));
      // What was seen once stays, and every review is whole.
      expect(view.reviews.length).toBeGreaterThanOrEqual(seen);
      seen = view.reviews.length;
      for (const review of view.reviews) expect(review.findings).toHaveLength(2);
    }
  });
  const submitting = Promise.all(
    reviewers.map(async (reviewer, index) => {
      const args = {
        room,
        verdict: 'comment',
        summary: `By ${reviewer.name}.`,
        findings: [1, 2].map((line) => ({ path: 'src/a.ts', line, severity: 'minor', body: `${reviewer.name} on line ${line}` })),
      };
      // Each is sent twice at once, as after an answer that got lost.
      const [first, second] = await Promise.all([0, 1].map((server) => world.ok(reviewer, 'submit_review', args, urlOf(index + server))));
      expect(second.review).toEqual(first.review);
      // Whoever was answered reads what it wrote, on the other server too.
      const view = await world.ok(reviewer, 'get_review_round', { room, max_chars: 48_000 }, urlOf(index + 1));
      expect(view.reviews.map(({ by }: { by: string }) => by)).toContain(reviewer.id);
      return first.review.finding_ids as string[];
    }),
  ).finally(() => (done = true));
  const [answers] = await Promise.all([submitting, ...polling]);

  const ids = answers.flat();
  expect(new Set(ids).size).toBe(50);
  const state = (await world.store.rooms.state(room))!;
  expect(state.round!.reviews).toHaveLength(25);
  expect(state.findings.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const notes = (await world.ok(pollers[0]!, 'wait_for_messages', { room, after: '40', timeout_seconds: 0 })).messages;
  expect(notes.length).toBeGreaterThan(0);
});

test('V8: a replace and the first sight of another’s review have one order', async () => {
  const [one, two] = [await world.agent('racer-1'), await world.agent('racer-2')];
  for (let turn = 0; turn < 5; turn++) {
    const room = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room });
    const args = (summary: string) => ({ room, verdict: 'comment', summary, findings: [] });
    for (const agent of [one, two]) await world.ok(agent, 'submit_review', args('before'));
    const [view, replaced] = await Promise.all([
      world.ok(two, 'get_review_round', { room }, other.url),
      world.ok(two, 'submit_review', args('after')).catch((error: Error) => error),
    ]);
    const state = (await world.store.rooms.state(room))!;
    const mine = view.reviews.find(({ by }: { by: string }) => by === two.id);
    // Either the replace came first and is what was shown, or the sight did and the replace was refused.
    if (replaced instanceof Error) expect(replaced.message).toContain('frozen');
    expect(mine.summary).toBe(replaced instanceof Error ? 'before' : 'after');
    expect(state.round!.seen).toContain(two.id);
  }
});

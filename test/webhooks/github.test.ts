import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver, githubWebhook, pullRequestEvent } from '../support/deliveries.js';
import { startOnGitHub, type OnGitHub } from './world.js';

let world: OnGitHub;
beforeAll(async () => {
  world = await startOnGitHub();
}, 90_000);
afterAll(() => world?.stop());

test('P3: a push is told to every room of the pull request, and its workflow says so', async () => {
  const { github } = world;
  const one = await world.open(github.pullRequest);
  const two = await world.open(github.pullRequest, { another: true });
  const ana = await world.agent('ana');
  for (const room of [one, two]) {
    await world.ok(ana, 'join_room', { room });
    await world.ok(ana, 'open_review_round', { room });
  }
  github.world.push({ 'src/d.ts': 'three\n' }, 'Add d');
  const id = randomUUID();
  const answer = await deliver(world.server.url, 'github', githubWebhook('pull_request', pullRequestEvent(github, 'synchronize'), { id }));
  expect([answer.status, await answer.json()]).toEqual([202, { delivery: `delivery/github/${id}` }]);
  expect(await world.outcome(`delivery/github/${id}`)).toEqual({
    what: 'pull request pushed',
    rooms: { [one]: 'told', [two]: 'told' },
    opened: [],
  });
  for (const room of [one, two])
    await expect.poll(() => world.notes(room), { timeout: 10_000 }).toContainEqual(expect.stringMatching(/^head moved to/));
}, 60_000);

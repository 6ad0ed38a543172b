import { afterEach, expect, test } from 'vitest';
import { FakeGitHub, secondaryLimit } from '../support/fake-github/index.js';
import { startWorld } from '../support/world.js';

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

test('issue 5: an owner sees what shuts the forge out and how it ends; a reviewer App that is not there is named, and stood in for where that is allowed', async () => {
  const fake = await FakeGitHub.start();
  running.push(fake);
  const operator = fake.addApp(11, 'barista');
  const reviewer = fake.addApp(22, 'barista-review');
  reviewer.installed = false;
  fake.world.push({ 'src/c.ts': 'one\ntwo\n' }, 'Add c');
  const github = {
    apiUrl: fake.urls.api,
    app: { id: operator.id, privateKey: operator.privateKey },
    reviewer: { id: reviewer.id, privateKey: reviewer.privateKey },
  };
  const world = await startWorld({ forges: { github, gitlab: null } });
  running.push(world);
  const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: fake.pullRequest, barista: false });
  expect(opened.status, opened.text).toBe(201);
  expect(opened.json.forge).toEqual({ troubles: [] });
  const room: string = opened.json.slug;
  const page = async () => (await world.rest(world.owner, 'GET', `/rooms/${room}`)).json;
  const ana = await world.agent('ana');
  await world.ok(ana, 'join_room', { room });
  await world.ok(ana, 'open_review_round', { room });

  // Suspended: named on the page and where CI would stand, with where to lift it; and gone once it is lifted.
  operator.suspended = true;
  const settings = `${fake.urls.web}/organizations/octo-org/settings/installations/110`;
  const other = await world.anotherServer();
  const suspended = await world.ok(ana, 'get_review_round', { room }, other.url);
  expect(suspended.ci).toEqual({ state: 'unknown', summary: expect.stringContaining('is suspended for octo-org/hello'), url: settings });
  const refused = { identity: 'operator', kind: 'refused', message: expect.stringContaining('is suspended'), until: null };
  await expect.poll(async () => (await page()).forge.troubles).toEqual([{ ...refused, since: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  operator.suspended = false;
  await world.ok(ana, 'get_pr_context', { room });
  await expect.poll(async () => (await world.ok(ana, 'get_pr_context', { room }), (await page()).forge)).toEqual({ troubles: [] });

  // The reviewer App is not installed: named at once, with its repository, and for good.
  const finding = { path: 'src/c.ts', line: 2, severity: 'major', body: 'Two of what?' };
  await world.ok(ana, 'submit_review', { room, verdict: 'request_changes', summary: 'Not yet.', findings: [finding] });
  await world.ok(ana, 'close_review_round', { room });
  const merged = { ...finding, raised_by: [], agreed_by: [], disputed_by: [], finding_ids: ['f1'] };
  await world.ok(ana, 'draft_review', { room, verdict: 'request_changes', body: 'Please say more.', findings: [merged] });
  const draft = async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`)).json;
  const post = () => world.rest(world.owner, 'POST', `/rooms/${room}/review/draft/post`);
  expect((await post()).status).toBe(202);
  await expect.poll(async () => (await page()).chips).toContain('posting failed');
  expect(fake.count(/^POST .*\/reviews$/)).toBe(0);
  const named = 'The GitHub App barista-review is not installed on octo-org/hello.';
  expect(JSON.stringify(await draft())).toContain(named);
  await expect
    .poll(async () => (await page()).forge.troubles)
    .toMatchObject([{ identity: 'reviewer', kind: 'refused', message: expect.stringContaining(named) }]);

  // The owner allows the operator to stand in: the same draft is posted, as a comment that opens with the verdict.
  const repository = fake.pullRequest.replace(/\/pull\/\d+$/, '');
  const set = await world.rest(world.owner, 'PUT', '/repositories', { repository, comment_instead: true });
  expect(set.status, set.text).toBe(200);
  expect((await post()).status).toBe(202);
  await expect.poll(async () => (await draft()).status).toBe('posted');
  expect(fake.reviews).toMatchObject([
    { author: 'barista[bot]', state: 'COMMENTED', body: expect.stringMatching(/^\*\*Verdict: request changes\*\*/) as string },
  ]);
  expect(JSON.stringify([suspended, await page(), await draft()])).not.toMatch(/ghs_|PRIVATE KEY/);
});

test('V5: where GitHub wants to be left alone, a round says until when instead of its CI', async () => {
  const fake = await FakeGitHub.start();
  running.push(fake);
  const { id, privateKey } = fake.addApp(11, 'barista');
  fake.world.push({ 'a.ts': 'a\n' });
  const world = await startWorld({ forges: { github: { apiUrl: fake.urls.api, app: { id, privateKey }, reviewer: null }, gitlab: null } });
  running.push(world);
  const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: fake.pullRequest, barista: false });
  const room: string = opened.json.slug;
  const ana = await world.agent('ana');
  await world.ok(ana, 'join_room', { room });
  await world.ok(ana, 'open_review_round', { room });
  fake.faults.push(secondaryLimit(/./, 3_600, 1_000));
  const other = await world.anotherServer();
  const { ci } = await world.ok(ana, 'get_review_round', { room }, other.url);
  expect(ci).toEqual({ state: 'unknown', summary: expect.stringMatching(/^waiting for GitHub until \d\d:\d\d UTC/), url: null });
});

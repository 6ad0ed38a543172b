import { afterEach, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../support/world.js';
import { FakeGitHub } from '../support/fake-github/index.js';
import { github, gitlab } from './remotes.js';

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

describe.each([
  ['GitHub', github],
  ['GitLab', gitlab],
])('a pull request on %s', (_, start) => {
  test('C1, O1, D4: is opened by its address, read, reviewed and posted once', async () => {
    const remote = await start();
    running.push(remote);
    remote.git.push({ 'src/c.ts': 'one\ntwo\nthree\n' }, 'Add c');
    const world: World = await startWorld({ forges: remote.forges });
    running.push(world);
    const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: remote.pullRequest, barista: false });
    expect(opened.status, opened.text).toBe(201);
    const room: string = opened.json.slug;
    const ana = await world.agent('ana');
    await world.ok(ana, 'join_room', { room });
    await world.ok(ana, 'open_review_round', { room });
    const context = await world.ok(ana, 'get_pr_context', { room });
    expect(context.files.map((file: { path: string }) => file.path)).toContain('src/c.ts');
    const finding = { path: 'src/c.ts', line: 2, severity: 'major', body: 'Two of what?' };
    await world.ok(ana, 'submit_review', { room, verdict: 'request_changes', summary: 'Not yet.', findings: [finding] });
    await world.ok(ana, 'close_review_round', { room });
    await world.ok(ana, 'draft_review', {
      room,
      verdict: 'request_changes',
      body: 'Please say more.',
      findings: [{ ...finding, raised_by: [], agreed_by: [], disputed_by: [], finding_ids: ['f1'] }],
    });
    const posting = await world.rest(world.owner, 'POST', `/rooms/${room}/review/draft/post`);
    expect(posting.status).toBe(202);
    await expect
      .poll(async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`)).json)
      .toMatchObject({
        status: 'posted',
        unplaced: [],
        url: expect.stringContaining(remote.pullRequest.split('/').slice(0, 3).join('/')),
      });
    const after = await world.ok(ana, 'get_pr_context', { room });
    expect(after.comments.some((comment: { body: string }) => comment.body.includes('Two of what?'))).toBe(true);
  });
});

test('a forge that is not set up is refused with what to set', async () => {
  const world = await startWorld();
  running.push(world);
  for (const [pullRequest, name] of [
    ['https://github.com/owner/repository/pull/7', 'GITHUB_APP_ID'],
    ['https://gitlab.com/group/project/-/merge_requests/7', 'GITLAB_TOKEN'],
  ]) {
    const { status, json } = await world.rest(world.owner, 'POST', '/rooms', { pull_request: pullRequest });
    expect([status, json.code, json.field]).toEqual([400, 'invalid', 'pull_request']);
    expect(json.detail).toContain(name);
  }
});

test('W9: an App that is not installed is named with its repository, to whoever opens a room there', async () => {
  const fake = await FakeGitHub.start();
  running.push(fake);
  const app = fake.addApp(11, 'barista');
  app.installed = false;
  const github = { apiUrl: fake.urls.api, app: { id: app.id, privateKey: app.privateKey }, reviewer: null };
  const world = await startWorld({ forges: { github, gitlab: null } });
  running.push(world);
  const { status, json } = await world.rest(world.owner, 'POST', '/rooms', { pull_request: fake.pullRequest });
  expect([status, json.code, json.field]).toEqual([404, 'not_found', 'pull_request']);
  expect(json.detail).toMatch(/barista.*not installed.*acme|not installed/);
});

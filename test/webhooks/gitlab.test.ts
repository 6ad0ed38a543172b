import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { deliver, gitlabWebhook, mergeRequestEvent, type Webhook } from '../support/deliveries.js';
import { PATIENT, settings, silent } from '../support/edge.js';
import { countDeliveries, startOnGitLab, type OnGitLab } from './world.js';

let world: OnGitLab;
let room: string;
beforeAll(async () => {
  world = await startOnGitLab();
  room = await world.open(world.gitlab.pullRequest);
  const ana = await world.agent('ana');
  await world.ok(ana, 'join_room', { room });
  await world.ok(ana, 'open_review_round', { room });
});
afterAll(() => world?.stop());

const SIGNING_KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const send = (webhook: Webhook, to = world.server.url) => deliver(to, 'gitlab', webhook);

async function delivered(payload: unknown, id: string = randomUUID()) {
  const answer = await send(gitlabWebhook(payload, { id }));
  expect([answer.status, await answer.json()]).toEqual([202, expect.objectContaining({ delivery: `delivery/gitlab/${id}` })]);
  return world.outcome(`delivery/gitlab/${id}`);
}

test('V5: a pipeline of the merged result, which ran on a commit made for it, makes what was read of the head old', async () => {
  const { gitlab, project } = world;
  const { state } = gitlab;
  const ana = await world.agent('ben');
  await world.ok(ana, 'join_room', { room });
  const ci = async () => (await world.ok(ana, 'get_review_round', { room })).ci.state as string;
  const { headSha } = (await world.store.rooms.state(room))!.round!;
  const merged = project.git('commit-tree', '-p', project.base, '-p', headSha, '-m', 'Merged result', `${headSha}^{tree}`);
  state.headPipeline = { id: 41, sha: merged, status: 'success' };
  await delivered(pipelineEvent(headSha));
  expect(await ci()).toBe('success');
  state.headPipeline = { id: 42, sha: merged, status: 'failed' };
  expect(await ci()).toBe('success');
  await delivered(pipelineEvent(merged));
  expect(await ci()).toBe('failure');
});

test('P3: a push to the merge request is told to its room; one that comes again is done', async () => {
  const oldrev = world.gitlab.state.headSha;
  const head = world.project.push({ 'src/d.ts': 'three\n' }, 'Add d');
  const event = mergeRequestEvent(world.gitlab, 'update', { oldrev });
  const id = randomUUID();
  expect(await delivered(event, id)).toEqual({ what: 'pull request pushed', rooms: { [room]: 'told' }, opened: [] });
  await expect.poll(async () => (await world.store.rooms.state(room))!.head.sha).toBe(head);
  const again = await send(gitlabWebhook(event, { id }));
  expect([again.status, await again.json()]).toEqual([200, { delivery: `delivery/gitlab/${id}`, done: true }]);
});

test('R8: a project that moved is the same one', async () => {
  world.gitlab.state.formerPath = world.gitlab.state.projectPath;
  world.gitlab.state.projectPath = 'elsewhere/project';
  const oldrev = world.gitlab.state.headSha;
  world.project.push({ 'src/e.ts': 'four\n' }, 'Add e');
  expect(await delivered(mergeRequestEvent(world.gitlab, 'update', { oldrev }))).toMatchObject({ rooms: { [room]: 'told' } });
});

test('a merge request that opens with its label opens a room by itself, at once or once it leaves draft', async () => {
  const { state } = world.gitlab;
  const kim = await world.person('kim');
  const place = (await world.store.rooms.state(room))!.pullRequest;
  await world.store.accounts.linkRepository(kim.id, place.forge, place.repository);
  const automatic = { recipe: 'panel', crew: [], barista: false, label: 'review' } as const;
  await world.store.repositories.keep(kim.id, place, { automatic, postAs: null, commentInstead: false });
  const rooms = async () => (await world.rest(kim, 'GET', '/rooms')).json.rooms as { slug: string }[];
  expect((await delivered(mergeRequestEvent(world.gitlab, 'open'))).opened).toEqual([]);
  [state.labels, state.draft] = [['review'], true];
  expect((await delivered(mergeRequestEvent(world.gitlab, 'update'))).opened).toEqual([]);
  state.draft = false;
  const ready = { changes: { draft: { previous: true, current: false } } };
  const { opened } = await delivered(mergeRequestEvent(world.gitlab, 'update', ready));
  expect(opened).toEqual((await rooms()).map(({ slug }) => slug));
  expect(opened).toHaveLength(1);
});

test('V5: a pipeline makes what was read of its commit old', async () => {
  const sha = world.gitlab.state.headSha;
  const project = { id: world.gitlab.state.projectId };
  const event = { object_kind: 'pipeline', object_attributes: { id: 31, sha, status: 'success' }, project, merge_request: null };
  expect(await delivered(event)).toMatchObject({ what: 'CI' });
  const { repository } = (await world.store.rooms.state(room))!.pullRequest;
  expect(await world.store.deliveries.ciHeardAt(repository, sha)).not.toBeNull();
});

function pipelineEvent(sha: string) {
  const { projectId: id, iid } = world.gitlab.state;
  return {
    object_kind: 'pipeline',
    object_attributes: { id: 42, sha, status: 'failed' },
    project: { id },
    merge_request: { iid, target_project_id: id },
  };
}

test("P3: a system hook's merge request is told to its room like any other, and what is of no project is kept as ignored", async () => {
  const { gitlab } = world;
  const system = async (payload: object) => {
    const id = randomUUID();
    const { headers, body } = gitlabWebhook(payload, { id });
    const answer = await send({ headers: { ...headers, 'x-gitlab-event': 'System Hook' }, body });
    expect(answer.status).toBe(202);
    return world.outcome(`delivery/gitlab/${id}`);
  };
  const oldrev = gitlab.state.headSha;
  const head = world.project.push({ 'src/system.ts': 'five\n' }, 'Add system');
  const told = await system(mergeRequestEvent(gitlab, 'update', { oldrev }));
  expect(told).toMatchObject({ what: 'pull request pushed', rooms: { [room]: 'told' } });
  await expect.poll(async () => (await world.store.rooms.state(room))!.head.sha).toBe(head);
  const elsewhere = mergeRequestEvent(gitlab, 'open');
  const other = { ...elsewhere, object_attributes: { ...elsewhere.object_attributes, target_project_id: 99 } };
  expect(await system(other)).toMatchObject({ rooms: {}, opened: [] });
  for (const event of ['repository_update', 'project_rename', 'user_create'])
    expect((await system({ event_name: event, project_id: 4242 })).what).toBe(`ignored: nothing is done on ${event} events`);
  expect(gitlab.asked(/projects\/99/)).toEqual([]);
});

test('P4: a push to so many branches that GitLab sends no hook is found all the same', async () => {
  const head = world.project.push({ 'src/many.ts': 'six\n' }, 'Add many');
  await world.rest(world.owner, 'PATCH', `/rooms/${room}/review/barista`, { durations: { head_poll: 'PT1S' } });
  await expect.poll(async () => (await world.store.rooms.state(room))!.head.sha).toBe(head);
});

test.each([
  ['approved', 'nothing is done on approved of a merge request'],
  ['push', 'nothing is done on push events'],
])('%s is kept as ignored', async (kind, reason) => {
  const payload = kind === 'push' ? { object_kind: 'push' } : mergeRequestEvent(world.gitlab, kind);
  expect(await delivered(payload)).toEqual({ what: `ignored: ${reason}`, rooms: {}, opened: [] });
});

describe('what is not from the GitLab leaves nothing', () => {
  test('a wrong token, none, or one that only begins right', async () => {
    const before = await countDeliveries(world);
    const event = mergeRequestEvent(world.gitlab, 'update');
    for (const secret of ['', 'another', 'a-secret-of-the-hoo']) {
      const answer = await send(gitlabWebhook(event, { secret }));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    }
    expect(await countDeliveries(world)).toBe(before);
  });

  test('with a signing key only signatures count, and only fresh ones', async () => {
    const { gitlab } = world;
    const server = await startServer(
      {
        ...settings(world.databaseUrl),
        forges: {
          github: null,
          gitlab: { url: gitlab.url, token: gitlab.token },
          webhooks: { github: null, gitlab: { secretToken: 'a-secret-of-the-hook', signingKey: SIGNING_KEY } },
        },
      },
      silent,
      undefined,
      PATIENT,
    );
    const event = mergeRequestEvent(gitlab, 'approved');
    const now = Math.floor(Date.now() / 1_000);
    const statuses = [];
    for (const webhook of [gitlabWebhook(event), signed(event, now), signed(event, now - 3_600), signed(event, now, Buffer.alloc(32, 8))])
      statuses.push((await send(webhook, server.url)).status);
    expect(statuses).toEqual([401, 202, 401, 401]);
    await server.stop();
  });
});

function signed(payload: unknown, at: number, key = Buffer.alloc(32, 7)): Webhook {
  const body = JSON.stringify(payload);
  const id = randomUUID();
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}

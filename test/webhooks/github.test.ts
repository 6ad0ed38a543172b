import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deliver, exampleOf, examplesOf, githubWebhook, pullRequestEvent, type Payload } from '../support/deliveries.js';
import { startOnGitHub, type OnGitHub } from './world.js';

let world: OnGitHub;
beforeAll(async () => {
  world = await startOnGitHub();
});
afterAll(() => world?.stop());
/** No room of one test hears of the next one's deliveries. */
afterEach(async () => {
  for (const { slug, state } of await world.rooms())
    if (state === 'living') await world.rest(world.owner, 'POST', `/rooms/${slug}/archive`);
});

const repositoryId = () => `github:${new URL(world.github.urls.web).host}/${world.github.repo.id}`;

async function send(event: string, payload: Payload, { id = randomUUID(), to = world.server.url }: { id?: string; to?: string } = {}) {
  const answer = await deliver(to, 'github', githubWebhook(event, payload, { id }));
  return { status: answer.status, workflow: `delivery/github/${id}`, json: (await answer.json()) as Record<string, unknown> };
}

/** Sent, and gone to its end. */
async function delivered(event: string, payload: Payload, options: { id?: string } = {}) {
  const { status, workflow } = await send(event, payload, options);
  expect(status).toBe(202);
  return world.outcome(workflow);
}

async function reviewing(more: object = {}): Promise<string> {
  const room = await world.open(world.github.pullRequest, more);
  const agent = await world.agent(`agent-${randomUUID().slice(0, 8)}`);
  await world.ok(agent, 'join_room', { room });
  await world.ok(agent, 'open_review_round', { room });
  return room;
}

const movedNotes = async (room: string) => (await world.notes(room)).filter((note) => note.startsWith('head moved'));
const headOf = async (room: string) => (await world.store.rooms.state(room))!.head;

describe('P3: a push', () => {
  test('is told to every room of the pull request, and its workflow says so', async () => {
    const [one, two] = [await reviewing(), await reviewing({ another: true })];
    world.github.world.push({ 'src/d.ts': 'three\n' }, 'Add d');
    const id = randomUUID();
    const answer = await send('pull_request', pullRequestEvent(world.github, 'synchronize'), { id });
    expect([answer.status, answer.json]).toEqual([202, { delivery: `delivery/github/${id}` }]);
    expect(await world.outcome(answer.workflow)).toEqual({
      what: 'pull request pushed',
      rooms: { [one]: 'told', [two]: 'told' },
      opened: [],
    });
    for (const room of [one, two]) await expect.poll(() => movedNotes(room)).toHaveLength(1);
    expect(await world.store.deliveries.last('github')).toMatchObject({ id, what: 'pull request pushed' });
    const { typedSearchAttributes } = await world.temporal.workflow.getHandle(answer.workflow).describe();
    expect(typedSearchAttributes.getAll().map(({ value }) => value)).toEqual(
      expect.arrayContaining([repositoryId(), `${repositoryId()}#${world.github.pull.number}`]),
    );
  });

  test('P1: that comes again and again, on two servers at once, is one delivery and one note', async () => {
    const room = await reviewing();
    const other = await world.anotherServer();
    world.github.world.push({ 'src/e.ts': 'four\n' }, 'Add e');
    const event = pullRequestEvent(world.github, 'synchronize');
    const id = randomUUID();
    const answers = await Promise.all(
      [world.server.url, other.url, world.server.url, other.url].map((to) => send('pull_request', event, { id, to })),
    );
    expect(answers.every(({ status }) => status === 202 || status === 200)).toBe(true);
    await world.outcome(`delivery/github/${id}`);
    // Done before: answered well, and nothing runs again.
    expect(await send('pull_request', event, { id, to: other.url })).toMatchObject({ status: 200, json: { done: true } });
    // A delivery of its own that tells of the same.
    expect(await delivered('pull_request', event)).toMatchObject({ rooms: { [room]: expect.stringMatching(/told|knew/) as string } });
    await expect.poll(() => movedNotes(room)).toHaveLength(1);
  });

  test('P4: an older one that comes after it changes nothing', async () => {
    const old = world.github.headSha;
    const room = await reviewing();
    const head = world.github.world.push({ 'src/f.ts': 'five\n' }, 'Add f');
    await delivered('pull_request', pullRequestEvent(world.github, 'synchronize'));
    await expect.poll(async () => (await headOf(room)).sha).toBe(head);
    const before = await headOf(room);
    const { workflow } = await send('pull_request', pullRequestEvent(world.github, 'synchronize', { headSha: old }));
    const handle = world.temporal.workflow.getHandle(workflow);
    await expect.poll(() => detailsOf(workflow)).toMatch(/knew it already[^]*looks again/);
    await handle.terminate('the test goes on');
    expect(await headOf(room)).toEqual(before);
    expect(await movedNotes(room)).toHaveLength(1);
  });

  test('P4: one whose workflow died half way is taken again when it comes again', async () => {
    const room = await reviewing();
    const { github } = world;
    // Heard before the forge shows it: the commit is not yet the head.
    github.world.git('checkout', '-q', '-b', `later-${randomUUID()}`);
    const later = github.world.write('src/g.ts', 'six\n').commit('Add g');
    github.world.checkout(github.world.topic);
    const event = pullRequestEvent(github, 'synchronize', { headSha: later });
    const id = randomUUID();
    const { workflow } = await send('pull_request', event, { id });
    await expect.poll(() => detailsOf(workflow)).toMatch(/looks again/);
    await world.temporal.workflow.getHandle(workflow).terminate('as if it had died');
    github.world.git('merge', '-q', '--ff-only', later);
    expect(await delivered('pull_request', event, { id })).toMatchObject({ rooms: { [room]: 'told' } });
    await expect.poll(async () => (await headOf(room)).sha).toBe(later);
  });

  test("R8: rooms match by the forge's own id, whatever the repository is called and whose it is", async () => {
    const room = await reviewing();
    world.github.rename('other-org', 'greetings');
    world.github.world.push({ 'src/h.ts': 'seven\n' }, 'Add h');
    expect(await delivered('pull_request', pullRequestEvent(world.github, 'synchronize'))).toMatchObject({ rooms: { [room]: 'told' } });
  });

  test('B12: opens the next round long before the head would be looked at', async () => {
    const durations = { head_poll: 'PT1H', head_quiet: 'PT1S' };
    const room = await world.open(world.github.pullRequest, { barista: true, durations });
    const ana = await world.agent('ana');
    await world.ok(ana, 'join_room', { room });
    const rounds = async () => (await world.store.rooms.state(room))!.round?.number ?? 0;
    await expect.poll(rounds).toBe(1);
    await world.ok(ana, 'submit_review', { room, verdict: 'approve', summary: 'Fine.', findings: [] });
    await expect.poll(async () => (await world.store.rooms.state(room))!.round?.closed ?? null).not.toBeNull();
    world.github.world.push({ 'src/i.ts': 'eight\n' }, 'Add i');
    await delivered('pull_request', pullRequestEvent(world.github, 'synchronize'));
    await expect.poll(rounds).toBe(2);
  });
});

test('V5: what was heard of CI is read anew by every server at once', async () => {
  const room = await reviewing();
  const other = await world.anotherServer();
  const bo = await world.agent('bo');
  await world.ok(bo, 'join_room', { room });
  const ci = async (url: string) => (await world.ok(bo, 'get_review_round', { room }, url)).ci.state;
  for (const url of [world.server.url, other.url]) expect(await ci(url)).toBe('none');
  const sha = world.github.headSha;
  world.github.statuses.push({ context: 'tests', sha, state: 'success' });
  const { repository } = pullRequestEvent(world.github, 'synchronize');
  await delivered('status', { ...exampleOf('status'), sha, repository });
  for (const url of [world.server.url, other.url]) expect(await ci(url)).toBe('success');
});

describe('B29: what the App may reach', () => {
  const installation = (action: string, more: object = {}): Payload => {
    const example = exampleOf('installation', (payload) => payload.action === action) as { installation: object };
    const { repo, urls } = world.github;
    return {
      ...example,
      installation: {
        ...example.installation,
        account: { login: repo.owner },
        html_url: `${urls.web}/settings/installations/2`,
        app_id: 11,
      },
      ...more,
    };
  };

  test('suspended, rooms know it at once, and the owner where to mend it; given back, they go on', async () => {
    const room = await reviewing();
    const [app] = world.github.apps;
    app!.suspended = true;
    expect(await delivered('installation', installation('suspend'))).toEqual({
      what: 'access taken',
      rooms: { [room]: 'told' },
      opened: [],
    });
    await expect.poll(async () => (await headOf(room)).brokenSince).not.toBeNull();
    // Written down beside the work, which waits for none of it.
    await expect
      .poll(() => world.store.forgeStates.of('github', repositoryId()))
      .toMatchObject([{ identity: 'operator', kind: 'refused' }]);
    app!.suspended = false;
    expect(await delivered('installation', installation('unsuspend'))).toMatchObject({ rooms: { [room]: 'told' } });
    await expect.poll(async () => (await headOf(room)).brokenSince).toBeNull();
    await expect.poll(() => world.store.forgeStates.of('github', repositoryId())).toEqual([]);
  });

  test('P4: what was taken, heard after it was given back, breaks no room', async () => {
    const room = await reviewing();
    await delivered('installation', installation('suspend'));
    expect((await headOf(room)).brokenSince).toBeNull();
    await delivered('installation', installation('new_permissions_accepted'));
    await expect.poll(() => world.store.forgeStates.of('github', repositoryId())).toEqual([]);
  });

  test("the reviewer App's are not the operator's: no room is told", async () => {
    await reviewing();
    const payload = installation('suspend');
    const reviewer = { ...payload, installation: { ...(payload['installation'] as object), app_id: 22 } };
    expect(await delivered('installation', reviewer)).toMatchObject({ rooms: {} });
  });
});

describe('every example that GitHub publishes goes through the endpoint', () => {
  const EVENTS = ['pull_request', 'check_run', 'check_suite', 'status', 'installation', 'installation_repositories'];
  test.each(EVENTS)('%s', async (event) => {
    const all = examplesOf(event);
    expect(all.length).toBeGreaterThan(0);
    for (const payload of all) {
      const { status, workflow, json } = await send(event, payload);
      expect([status, json['delivery']]).toEqual([202, workflow]);
      const { what, rooms, opened } = await world.outcome(workflow);
      expect([rooms, opened]).toEqual([{}, []]);
      expect(what).toMatch(json['ignored'] === undefined ? /^(pull request|CI$|access) ?/ : /^ignored: ./);
      const sha = (payload['check_run'] ?? payload['check_suite'] ?? payload) as { head_sha?: string; sha?: string };
      const of = `github:${new URL(world.github.urls.web).host}/${(payload['repository'] as { id: number } | undefined)?.id}`;
      if (what === 'CI') expect(await world.store.deliveries.ciHeardAt(of, (sha.head_sha ?? sha.sha)!)).not.toBeNull();
    }
  });

  test('and what it publishes of other events is kept as ignored', async () => {
    for (const event of ['push', 'issues', 'ping', 'release']) {
      const { status, json, workflow } = await send(event, exampleOf(event));
      expect([status, json['ignored']]).toEqual([202, `nothing is done on ${event} events`]);
      expect(await world.outcome(workflow)).toMatchObject({ what: `ignored: nothing is done on ${event} events` });
    }
  });
});

async function detailsOf(workflow: string): Promise<string> {
  const handle = world.temporal.workflow.getHandle(workflow);
  return (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';
}

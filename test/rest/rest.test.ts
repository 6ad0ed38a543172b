import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../mcp-server/rest/routes.js';
import { addAgent, addPerson, type Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let other: Person;
beforeAll(async () => {
  world = await startWorld();
  other = await addPerson(world.store, 'oscar');
});
afterAll(() => world.stop());

/** Every answer is held to the schema that OpenAPI shows for it. */
async function rest(who: Person | string | undefined, method: string, path: string, body?: unknown) {
  const answer = await world.rest(who, method, path, body);
  const route = ROUTES.find(
    (known) =>
      known.method === method.toLowerCase() && new RegExp(`^${known.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0]!),
  );
  const schema = route?.answers[answer.status];
  if (schema) schema.parse(answer.json);
  return answer;
}

describe('rooms', () => {
  test('R8: opening is 201, opening again 200 and the same room, another: true a second one', async () => {
    const first = await rest(world.owner, 'POST', '/rooms', { pull_request: world.git.pullRequest });
    expect(first.status).toBe(201);
    expect(first.json).toMatchObject({
      recipe: 'panel',
      pull_request: world.git.pullRequest,
      state: 'living',
      barista: { enabled: true, durations: { idle_close: 'PT30M', round_cap: 'PT1H30M' } },
      round: 0,
      created: true,
    });
    expect(first.json.members).toMatchObject([{ id: world.owner.id, name: 'olga', kind: 'person', roles: [] }]);
    const again = await rest(world.owner, 'POST', '/rooms', { pull_request: world.git.pullRequest, recipe: 'build_duel' });
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ slug: first.json.slug, recipe: 'panel', created: false });
    const second = await rest(world.owner, 'POST', '/rooms', { pull_request: world.git.pullRequest, another: true });
    expect(second.status).toBe(201);
    expect(second.json.slug).not.toBe(first.json.slug);
    const { rooms } = (await rest(world.owner, 'GET', '/rooms')).json;
    expect(rooms.map(({ slug }: { slug: string }) => slug)).toEqual([second.json.slug, first.json.slug]);
  });

  test('R8: many opening the same pull request at once get one room', async () => {
    const third = await addPerson(world.store, 'trine');
    await world.store.accounts.linkRepository(
      third.id,
      'local',
      (await world.store.rooms.ofOwner(world.owner.id))[0]!.pullRequest.repository,
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => rest(third, 'POST', '/rooms', { pull_request: world.git.pullRequest })),
    );
    expect(new Set(answers.map(({ json }) => json.slug)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  });

  test.each([
    ['no such form', 'not a pull request', 400, 'invalid'],
    ['a forge that is not there yet', 'https://github.com/o/r/pull/1', 400, 'invalid'],
    ['a folder outside the allowed ones', 'local:/etc?base=main&head=topic', 404, 'not_found'],
    ['a relative path', 'local:../x?base=main&head=topic', 400, 'invalid'],
  ])('%s is refused, naming pull_request', async (_what, pull_request, status, code) => {
    expect(await rest(world.owner, 'POST', '/rooms', { pull_request })).toMatchObject({
      status,
      json: { code, field: 'pull_request', status },
    });
  });

  test('a branch that is not there is refused', async () => {
    expect(await rest(world.owner, 'POST', '/rooms', { pull_request: `local:${world.git.path}?base=main&head=nowhere` })).toMatchObject({
      status: 404,
      json: { code: 'not_found', field: 'pull_request' },
    });
  });

  test('R11: with several owners a repository must be linked', async () => {
    expect(await rest(other, 'POST', '/rooms', { pull_request: world.git.pullRequest })).toMatchObject({
      status: 404,
      json: { code: 'not_found' },
    });
  });

  test('R4, R2: an agent is added with its default role, a person without one', async () => {
    const slug = await world.room();
    const agent = await world.agent('added');
    expect((await rest(world.owner, 'POST', `/rooms/${slug}/agents`, { agent_id: agent.id })).json).toMatchObject({
      participant: { id: agent.id, roles: ['lead', 'reviewer'] },
    });
    expect((await rest(world.owner, 'POST', `/rooms/${slug}/agents`, { agent_id: agent.id })).status).toBe(200);
    expect((await rest(world.owner, 'POST', `/rooms/${slug}/people`, { user_id: other.id })).json).toMatchObject({
      participant: { id: other.id, kind: 'person', roles: [] },
    });
    expect((await rest(other, 'GET', `/rooms/${slug}`)).json.slug).toBe(slug);
    const stranger = await addAgent(world.store, other.id, 'stranger');
    expect(await rest(world.owner, 'POST', `/rooms/${slug}/agents`, { agent_id: stranger.id })).toMatchObject({
      status: 404,
      json: { code: 'not_found', field: 'agent_id' },
    });
    expect(await rest(world.owner, 'POST', `/rooms/${slug}/people`, { user_id: 'us_nobody' })).toMatchObject({
      status: 404,
      json: { field: 'user_id' },
    });
  });
});

describe('agents', () => {
  test('a key is shown once and works; a taken name is refused; a deleted agent is gone', async () => {
    const made = await rest(world.owner, 'POST', '/agents', { name: 'keyed' });
    expect(made.status).toBe(201);
    expect(made.json.key).toMatch(/^ba_/);
    expect(await rest(world.owner, 'POST', '/agents', { name: 'keyed' })).toMatchObject({
      status: 409,
      json: { code: 'conflict', field: 'name' },
    });
    const listed = await rest(world.owner, 'GET', '/agents');
    expect(listed.text).not.toContain(made.json.key);
    expect(listed.json.agents.map(({ name }: { name: string }) => name)).toContain('keyed');
    expect(await rest(other, 'DELETE', `/agents/${made.json.id}`)).toMatchObject({ status: 404 });
    expect((await rest(world.owner, 'DELETE', `/agents/${made.json.id}`)).json).toEqual({ deleted: true });
    expect(await rest(world.owner, 'DELETE', `/agents/${made.json.id}`)).toMatchObject({
      status: 404,
      json: { code: 'not_found', field: 'id' },
    });
  });

  test('R6: its reviews and findings leave its rooms, and the room goes on', async () => {
    const [one, two] = [await world.agent('stays'), await world.agent('goes')];
    const slug = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room: slug });
    const body = 'A remark that goes with its author.';
    await world.ok(two, 'submit_review', {
      room: slug,
      verdict: 'comment',
      summary: 's',
      findings: [{ path: 'src/a.ts', severity: 'nit', body }],
    });
    await rest(world.owner, 'DELETE', `/agents/${two.id}`);
    const view = await rest(world.owner, 'GET', `/rooms/${slug}/review/rounds/1`);
    expect(view.json).toMatchObject({ submitted: [], reviews: [] });
    expect(view.text).not.toContain(body);
    await world.ok(one, 'submit_review', { room: slug, verdict: 'approve', summary: 's', findings: [] });
  });
});

describe('the review', () => {
  test('R3: recipe, roles and Barista are the owner’s to change; each change of roles posts a note', async () => {
    const agent = await world.agent('governed');
    const slug = await world.room({ agents: [agent] });
    expect((await rest(world.owner, 'PATCH', `/rooms/${slug}/review/recipe`, { recipe: 'build_duel' })).json).toMatchObject({
      recipe: 'build_duel',
    });
    const roles = await rest(world.owner, 'PUT', `/rooms/${slug}/review/roles`, {
      roles: { [agent.id]: ['author'], [world.owner.id]: ['lead', 'reviewer'] },
    });
    expect(roles.json.members).toMatchObject([{ roles: ['lead', 'reviewer'] }, { id: agent.id, roles: ['author'] }]);
    expect(await rest(world.owner, 'PUT', `/rooms/${slug}/review/roles`, { roles: { ag_nobody: ['lead'] } })).toMatchObject({
      status: 404,
      json: { code: 'not_found', field: 'roles.ag_nobody' },
    });
    const barista = await rest(world.owner, 'PATCH', `/rooms/${slug}/review/barista`, {
      enabled: true,
      durations: { idle_close: 'PT2H', head_poll: 'PT2S' },
    });
    expect(barista.json.barista).toMatchObject({ enabled: true, durations: { idle_close: 'PT2H', head_poll: 'PT2S' } });
    const { messages } = (await rest(agent, 'GET', `/rooms/${slug}/messages`)).json;
    expect(messages.map(({ event }: { event?: string }) => event)).toContain('roles_changed');
  });

  test('V2: an owner who reviews sees no other review by any call before its own', async () => {
    const agent = await world.agent('hidden-one');
    const slug = await world.room({ agents: [agent] });
    await rest(world.owner, 'PUT', `/rooms/${slug}/review/roles`, { roles: { [world.owner.id]: ['reviewer'] } });
    await world.ok(agent, 'open_review_round', { room: slug });
    await world.ok(agent, 'submit_review', {
      room: slug,
      verdict: 'request_changes',
      summary: 'Verysecret summary.',
      findings: [{ path: 'src/a.ts', severity: 'blocker', body: 'Verysecret finding.' }],
    });
    for (const path of ['', '/review/rounds/1', '/review/rounds', '/messages', '/review/draft']) {
      expect((await rest(world.owner, 'GET', `/rooms/${slug}${path}`)).text, path).not.toContain('Verysecret');
    }
    expect((await rest(world.owner, 'GET', '/rooms')).text).not.toContain('Verysecret');
    expect((await world.ok(world.owner, 'get_pr_context', { room: slug })).files).toHaveLength(2);
    await world.ok(world.owner, 'submit_review', { room: slug, verdict: 'comment', summary: 's', findings: [] });
    const shown = await rest(world.owner, 'GET', `/rooms/${slug}/review/rounds/1`);
    expect(shown.text).toContain('Verysecret');
    // V9, V8: that page froze the owner's own.
    expect(await world.refused(world.owner, 'submit_review', { room: slug, verdict: 'approve', summary: 's', findings: [] })).toMatchObject(
      { code: 'frozen' },
    );
  });

  test('a round is paged and filtered like the tool; one that is not there is refused', async () => {
    const agent = await world.agent('pager');
    const slug = await world.room({ agents: [agent] });
    await world.ok(agent, 'open_review_round', { room: slug });
    expect((await rest(agent, 'GET', `/rooms/${slug}/review/rounds/1?findings=mine&page=1&max_chars=6000`)).json).toMatchObject({
      page: 1,
      round: { number: 1 },
    });
    expect((await rest(agent, 'GET', `/rooms/${slug}/review/rounds`)).json.rounds).toMatchObject([{ number: 1, state: 'open' }]);
    expect(await rest(agent, 'GET', `/rooms/${slug}/review/rounds/9`)).toMatchObject({
      status: 404,
      json: { code: 'not_found', field: 'round' },
    });
  });
});

describe('a key that was lost', () => {
  const renew = (who: Person | undefined, id: string) => rest(who, 'POST', `/agents/${id}/key`);
  const answers = async (key: string) => (await rest(key, 'GET', '/rooms')).status !== 401;

  test('a new one is shown once, and the old one stops', async () => {
    const { json: made } = await rest(world.owner, 'POST', '/agents', { name: 'forgetful' });
    const renewed = await renew(world.owner, made.id);
    expect(renewed).toMatchObject({ status: 201, json: { id: made.id, name: 'forgetful', created_at: made.created_at } });
    expect(renewed.json.key).toMatch(/^ba_/);
    expect([await answers(made.key), await answers(renewed.json.key)]).toEqual([false, true]);
    expect((await rest(world.owner, 'POST', '/agents', { name: 'forgetful' })).json).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('barista agent key forgetful'),
    });
  });

  test('of many that are made at once, one is left', async () => {
    const { json: made } = await rest(world.owner, 'POST', '/agents', { name: 'hasty' });
    const renewed = await Promise.all(Array.from({ length: 5 }, () => renew(world.owner, made.id)));
    const alive = await Promise.all([made.key, ...renewed.map(({ json }) => json.key)].map(answers));
    expect(alive.filter(Boolean)).toHaveLength(1);
  });

  test('nobody makes one of another owner’s agent, or of a deleted one', async () => {
    const { json: made } = await rest(world.owner, 'POST', '/agents', { name: 'gone' });
    const refused = { status: 404, json: { code: 'not_found', field: 'id' } };
    expect(await renew(other, made.id)).toMatchObject(refused);
    expect(await answers(made.key)).toBe(true);
    await rest(world.owner, 'DELETE', `/agents/${made.id}`);
    expect(await renew(world.owner, made.id)).toMatchObject(refused);
  });
});

describe('who may', () => {
  const calls = ROUTES.map((route) => ({ route, method: route.method.toUpperCase(), path: route.path }));
  const inRoom = (path: string, slug: string) => path.replace('{slug}', slug).replace('{n}', '1').replace('{id}', 'ag_x');
  /** A body that is right in form, so that it is the caller that is judged. */
  const bodies: Record<string, object> = {
    openRoom: { pull_request: 'local:/nowhere?base=main&head=topic' },
    addAgentToRoom: { agent_id: 'ag_x' },
    addPersonToRoom: { user_id: 'us_x' },
    addAgent: { name: 'x' },
    setRecipe: { recipe: 'panel' },
    setRoles: { roles: { us_x: ['lead'] } },
    setBarista: { enabled: true },
    editDraft: { verdict: 'comment', body: 'x', findings: [], version: 1 },
    postDraft: {},
    postMessage: { text: 'x' },
  };

  test.each(calls.filter(({ route }) => route.who !== 'member'))(
    'R3: an agent key gets 403 from $method $path',
    async ({ route, method, path }) => {
      const agent = (await world.store.accounts.agents(world.owner.id))[0]!;
      const key = await world.store.accounts.issueKey({ kind: 'agent', id: agent.id });
      const slug = (await world.store.rooms.ofOwner(world.owner.id))[0]!.slug;
      expect(await rest(key, method, inRoom(path, slug), bodies[route.id])).toMatchObject({ status: 403, json: { code: 'role_required' } });
    },
  );

  test.each(calls.filter(({ path }) => path.includes('{slug}')))(
    'another owner’s room is 404 from $method $path, with nothing of it',
    async ({ route, method, path }) => {
      const room = (await world.store.rooms.ofOwner(world.owner.id))[0]!;
      const seq = await world.store.rooms.seq(room.slug);
      const answer = await rest(other, method, inRoom(path, room.slug), bodies[route.id]);
      expect(answer).toMatchObject({ status: 404, json: { code: 'not_found', field: 'room' } });
      expect(answer.text).not.toContain(world.git.path);
      expect(await world.store.rooms.seq(room.slug)).toBe(seq);
    },
  );

  test.each(calls)('$method $path needs a key', async ({ route, method, path }) => {
    const answer = await rest(undefined, method, inRoom(path, 'x'), bodies[route.id]);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });
});

test('/openapi.json is served to anyone on the host', async () => {
  const response = await fetch(`${world.server.url}/openapi.json`);
  expect(response.status).toBe(200);
  expect(Object.keys(((await response.json()) as { paths: object }).paths).length).toBeGreaterThan(10);
});

test('D4, R7: an owner that has left its room still reads, edits and posts the draft, while another round is open too', async () => {
  const lead = await addAgent(world.store, world.owner.id, 'lead-of-a-left-room');
  const room = await world.room({ agents: [lead] });
  const review = { room, verdict: 'approve', summary: 'Fine.', findings: [] };
  await world.ok(lead, 'open_review_round', { room });
  await world.ok(lead, 'submit_review', review);
  await world.ok(lead, 'close_review_round', { room });
  await world.ok(lead, 'draft_review', { room, verdict: 'approve', body: 'All is well.', findings: [] });
  await world.ok(world.owner, 'leave_room', { room });
  await world.ok(lead, 'open_review_round', { room });
  await world.ok(lead, 'submit_review', review);
  const path = `/rooms/${room}/review/draft`;
  expect((await rest(world.owner, 'GET', path)).json).toMatchObject({ body: 'All is well.', version: 1 });
  const edit = { verdict: 'approve', body: 'Well done.', findings: [], version: 1 };
  expect((await rest(world.owner, 'PUT', path, edit)).json).toMatchObject({ body: 'Well done.', version: 2 });
  expect((await rest(world.owner, 'POST', `${path}/post`, { version: 2 })).status).toBe(202);
  expect((await rest(world.owner, 'GET', `/rooms/${room}/review/rounds`)).status).toBe(403);
});

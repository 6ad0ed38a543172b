// For every tool and every REST call: wrong input is refused with its code and field, and nothing is stored of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LISTED, TOOLS } from '../../mcp-server/registry.js';
import { ROUTES } from '../../mcp-server/rest/routes.js';
import type { Route } from '../../mcp-server/rest/route.js';
import { jsonSchemaOf, type JsonSchema } from '../../mcp-server/schema/check.js';
import { beside } from '../../mcp-server/schema/lenient.js';
import { addAgent, addPerson, call, type Person, type ToolAnswer } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let room: string;
let agent: Person;
let stranger: Person;
let foreigner: Person;

beforeAll(async () => {
  world = await startWorld();
  agent = await world.agent('ann');
  room = await world.room({ agents: [agent] });
  await world.ok(agent, 'open_review_round', { room });
  stranger = await world.agent('not-in-the-room');
  foreigner = await addAgent(world.store, (await addPerson(world.store, 'oscar')).id, 'of-another-owner');
});
afterAll(() => world.stop());

/** Arguments that are right, so that one of them at a time can be wrong. */
const RIGHT: Record<string, object> = {
  list_rooms: {},
  join_room: {},
  leave_room: {},
  post_message: { text: 'x' },
  wait_for_messages: { timeout_seconds: 0 },
  open_review_round: {},
  get_pr_context: { page: 1 },
  get_file: { path: 'src/a.ts' },
  submit_review: { verdict: 'comment', summary: 's', findings: [{ path: 'src/a.ts', severity: 'nit', body: 'b' }] },
  get_review_round: { page: 1 },
  decline_review: { reason: 'x' },
  rebut_finding: { finding_id: 'f1', answer: 'accept' },
  resolve_finding: { finding_id: 'f1', resolution: 'fixed' },
  next_round: {},
  close_review_round: {},
  draft_review: { verdict: 'comment', body: 'b', findings: [{ path: 'src/a.ts', severity: 'nit', body: 'b' }] },
};
const LEAK = /\bat .+\.(ts|js|mjs):\d+|node_modules|postgres|prisma|select |sql|stack|zod|ECONN/i;

/** What of the room could have changed. */
async function fingerprint() {
  const [seq, last, spans] = await Promise.all([
    world.store.rooms.seq(room),
    world.store.messages.lastId(room),
    world.store.rooms.state(room),
  ]);
  return JSON.stringify([seq, last, spans]);
}

async function refusedWith(answer: ToolAnswer, before: string) {
  expect(answer.isError, answer.text).toBe(true);
  expect(answer.structured).toBeUndefined();
  expect(answer.text.length).toBeLessThan(10_000);
  expect(answer.text).not.toMatch(LEAK);
  expect(await fingerprint()).toBe(before);
  return answer.json.error as { code: string; field?: string; message: string };
}

interface Wrong {
  readonly what: string;
  readonly field: string;
  readonly input: Record<string, unknown>;
}

/** Every wrong value of every field that a schema describes, one at a time. */
function wrongInputs(schema: JsonSchema, right: Record<string, unknown>): Wrong[] {
  const wrong: Wrong[] = [{ what: 'an unknown field', field: 'surprise', input: { ...right, surprise: 1 } }];
  for (const name of (schema['required'] as string[] | undefined) ?? []) {
    const { [name]: _, ...rest } = right;
    wrong.push({ what: `no ${name}`, field: name, input: rest }, { what: `${name} null`, field: name, input: { ...right, [name]: null } });
  }
  for (const [name, given] of Object.entries(schema.properties ?? {})) {
    const property = beside(given);
    if (property.properties !== undefined) {
      for (const inner of wrongInputs(property, (right[name] as Record<string, unknown> | undefined) ?? {}))
        wrong.push({ what: `${name}: ${inner.what}`, field: `${name}.${inner.field}`, input: { ...right, [name]: inner.input } });
    }
    for (const [what, value] of badValues(property, property.items?.type === 'string' ? 'x' : (right[name] as unknown[] | undefined)?.[0]))
      wrong.push({ what: `${name} ${what}`, field: name, input: { ...right, [name]: value } });
    if (property.type === 'array' && property.items?.type === 'object') {
      const [first] = (right[name] as Record<string, unknown>[] | undefined) ?? [];
      if (first === undefined) continue;
      for (const inner of wrongInputs(property.items, first))
        wrong.push({ what: `${name}[0] ${inner.what}`, field: `${name}[0].${inner.field}`, input: { ...right, [name]: [inner.input] } });
    }
  }
  return wrong;
}

function badValues({ type, enum: words, maxLength, maximum, minimum, maxItems }: JsonSchema, entry: unknown): [string, unknown][] {
  const values: [string, unknown][] = [];
  if (type !== 'object') values.push(['an object', { a: 1 }]);
  if (type !== 'array') values.push(['an array', [1]]);
  if (type !== 'boolean') values.push(['a boolean', true]);
  if (type !== 'string') values.push(['a string that is no JSON of it', 'certainly not']);
  else
    values.push(
      ['a number', 7],
      ...(words === undefined
        ? ([
            ['empty', ''],
            ['with a NUL', 'a\0b'],
          ] as [string, unknown][])
        : ([['another word', 'surely-not']] as [string, unknown][])),
    );
  if (typeof maxLength === 'number') values.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (typeof maximum === 'number') values.push(['too great', maximum + 1]);
  if (typeof minimum === 'number') values.push(['too small', minimum - 1]);
  if (typeof maxItems === 'number' && entry !== undefined) values.push(['too many', Array.from({ length: maxItems + 1 }, () => entry)]);
  return values;
}

describe.each(TOOLS)('$name', ({ name, input }) => {
  const schema = jsonSchemaOf(input);
  const right = () => ({ ...('room' in input.shape ? { room } : {}), ...RIGHT[name] });

  test('refuses every wrong field by name, and stores nothing', async () => {
    const before = await fingerprint();
    for (const { what, field, input: args } of wrongInputs(schema, right())) {
      const error = await refusedWith(await call(world.server.url, agent.key, name, args), before);
      expect(error, what).toMatchObject({ code: 'invalid' });
      expect(error.field, `${what}: ${error.message}`).toBe(field);
    }
  });
});

describe.each(TOOLS.filter(({ input }) => 'room' in input.shape))('$name', ({ name }) => {
  const right = () => ({ room, ...RIGHT[name] });

  test('a room that is not there, another owner’s, and one the caller is not in', async () => {
    const before = await fingerprint();
    const nowhere = await refusedWith(await call(world.server.url, agent.key, name, { ...right(), room: 'not-there' }), before);
    expect(nowhere).toMatchObject({ code: 'not_found', field: 'room' });
    const foreign = await refusedWith(await call(world.server.url, foreigner.key, name, right()), before);
    expect(foreign).toEqual({ ...nowhere, message: nowhere.message.replace('not-there', room) });
    if (name === 'join_room') return;
    expect(await refusedWith(await call(world.server.url, stranger.key, name, right()), before)).toMatchObject({ code: 'not_a_member' });
  });
});

test('the table knows every tool', () => {
  expect(Object.keys(RIGHT)).toEqual(LISTED.map(({ name }) => name));
});

describe('wrong ids', () => {
  const cases: [string, object, string, string][] = [
    ['rebut_finding', { finding_id: 'f99', answer: 'accept' }, 'role_required', ''],
    ['resolve_finding', { finding_id: 'f99', resolution: 'fixed' }, 'not_found', 'finding_id'],
    ['get_review_round', { round: 99 }, 'not_found', 'round'],
    ['get_pr_context', { since_round: 99 }, 'invalid', 'since_round'],
    ['get_file', { path: 'not/there.ts' }, 'not_found', 'path'],
    ['get_file', { path: '../../etc/passwd' }, 'invalid', 'path'],
    ['get_file', { path: '/etc/passwd' }, 'invalid', 'path'],
    ['get_file', { path: 'src/a.ts', ref: 'main' }, 'invalid', 'ref'],
    ['get_file', { path: 'src/a.ts', ref: '--output=/tmp/x' }, 'invalid', 'ref'],
    ['get_file', { path: 'src/a.ts', start_line: 5, end_line: 2 }, 'invalid', ''],
    [
      'submit_review',
      { verdict: 'comment', summary: 's', findings: [], references: [{ finding_id: 'f99', stance: 'agree' }] },
      'invalid',
      'references[0].finding_id',
    ],
    ['decline_review', { reason: 'x', until: 'tomorrow' }, 'invalid', 'until'],
  ];
  test.each(cases)('%s %j is refused as %s', async (name, args, code, field) => {
    const before = await fingerprint();
    const error = await refusedWith(await call(world.server.url, agent.key, name, { room, ...args }), before);
    expect(error.code, error.message).toBe(code);
    if (field !== '') expect(error.field).toBe(field);
  });
});

describe('REST', () => {
  const bodies: Record<string, Record<string, unknown>> = {
    openRoom: { pull_request: 'local:/nowhere?base=main&head=topic' },
    addAgentToRoom: { agent_id: 'ag_x' },
    addPersonToRoom: { user_id: 'us_x' },
    addAgent: { name: 'fine-name' },
    setRecipe: { recipe: 'panel' },
    setRoles: { roles: { us_x: ['lead'] } },
    setBarista: { enabled: false },
    editDraft: { verdict: 'comment', body: 'x', findings: [{ path: 'a', severity: 'nit', body: 'b' }], version: 1 },
    postDraft: {},
    postMessage: { text: 'x' },
    setRepository: { repository: 'local:/nowhere', automatic: { recipe: 'panel', crew: ['ag_x'], label: 'x' }, post_as: 'operator' },
  };
  const pathOf = ({ path }: Route) => path.replace('{slug}', room).replace('{n}', '1').replace('{id}', 'ag_x');

  describe.each(ROUTES.filter(({ body }) => body !== undefined))('$method $path', (route) => {
    test('refuses every wrong field by name, and stores nothing', async () => {
      const before = await fingerprint();
      const agents = (await world.store.accounts.agents(world.owner.id)).length;
      for (const { what, field, input } of wrongInputs(jsonSchemaOf(route.body!), bodies[route.id]!)) {
        const answer = await world.rest(world.owner, route.method.toUpperCase(), pathOf(route), input);
        expect(answer.status, `${what}: ${answer.text}`).toBe(400);
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(answer.json, what).toMatchObject({ status: 400, code: 'invalid', field });
        expect(answer.text).not.toMatch(LEAK);
      }
      expect(await fingerprint()).toBe(before);
      expect(await world.store.accounts.agents(world.owner.id)).toHaveLength(agents);
    });

    test.each(['{"a":', '[]', '"text"', 'null', '\u0000'])('a body %j is refused', async (body) => {
      const answer = await world.rest(world.owner, route.method.toUpperCase(), pathOf(route), body);
      expect(answer).toMatchObject({ status: 400, json: { code: 'invalid', field: 'body' } });
    });
  });

  test.each([
    ['rounds/none', 'n'],
    ['rounds/0', 'n'],
    ['rounds/1?page=0', 'page'],
    ['rounds/1?findings=some', 'findings'],
    ['rounds/1?max_chars=10', 'max_chars'],
    ['rounds/1?surprise=1', 'surprise'],
  ])('GET review/%s is refused, naming %s', async (path, field) => {
    expect(await world.rest(world.owner, 'GET', `/rooms/${room}/review/${path}`)).toMatchObject({
      status: 400,
      json: { code: 'invalid', field },
    });
  });

  test('Last-Event-ID that is no id, and an id in the path that is not decodable', async () => {
    const events = await fetch(`${world.server.url}/api/v1/rooms/${room}/events`, {
      headers: { authorization: `Bearer ${agent.key}`, 'last-event-id': 'abc' },
    });
    expect(events.status).toBe(400);
    expect(await events.json()).toMatchObject({ code: 'invalid', field: 'last-event-id' });
    for (const path of ['/rooms/%00', '/rooms/%ff', `/rooms/${'x'.repeat(200)}`]) {
      const answer = await world.rest(world.owner, 'GET', path);
      expect([400, 404], path).toContain(answer.status);
      expect(answer.text).not.toMatch(LEAK);
    }
  });

  test('a body over the limit is 413', async () => {
    const answer = await world.rest(world.owner, 'POST', `/rooms/${room}/messages`, { text: 'x'.repeat(17 * 1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, json: { status: 413, code: 'invalid' } });
  });
});

// Each test is a line of what was measured of real clients or said to bind a server, by raw HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { freePort } from '../../stack/ports.js';
import { PATIENT, call, post, request, rpc, settings, silent, startEdge, type Edge, type Rpc } from '../support/edge.js';
import { Gate } from '../support/gate.js';

let edge: Edge;
let url: string;
let key: string;

beforeAll(async () => {
  edge = await startEdge();
  url = edge.server.url;
  key = edge.owner.key;
});
afterAll(() => edge.stop());

const readiness = async (server: string) => {
  const answer = await fetch(`${server}/readyz`);
  return [answer.status, await answer.json()];
};

const initialize = (protocolVersion: string) =>
  request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

describe('protocol era', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('initialize asking %s is answered with it', async (version) => {
    const { result } = (await (await post(url, key, initialize(version))).json()) as Rpc;
    expect(result.protocolVersion).toBe(version);
    expect(result.serverInfo).toMatchObject({ name: 'barista' });
    expect(result.instructions.length).toBeLessThan(2_000);
  });

  test('initialize asking 2026-07-28 is answered with 2025-11-25', async () => {
    const { result } = (await (await post(url, key, initialize('2026-07-28'))).json()) as Rpc;
    expect(result.protocolVersion).toBe('2025-11-25');
  });

  test('a POST of the 2026-07-28 era gets a 400 in JSON, so that its client falls back to initialize', async () => {
    const response = await post(url, key, request('server/discover'), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as Rpc;
    expect(error).toMatchObject({ code: -32000 });
    expect(error!.message).toContain('Unsupported protocol version');
  });

  test.each(['server/discover', 'subscriptions/listen', 'resources/list', 'prompts/list'])(
    'the probe %s is answered at once with a JSON-RPC error',
    async (method) => {
      const response = await post(url, key, request(method));
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(((await response.json()) as Rpc).error).toMatchObject({ code: -32601 });
    },
  );

  test('ping is answered, and a notification is taken', async () => {
    expect((await rpc(url, key, 'ping')).result).toEqual({});
    expect((await post(url, key, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
  });
});

describe('the tool list', () => {
  test('is the same in the same order for everyone, on every server, before any initialize', async () => {
    const other = await startServer(settings(edge.databaseUrl), silent, undefined, PATIENT);
    try {
      const agent = await edge.store.accounts.addAgent(edge.owner.id, 'lister');
      const agentKey = await edge.store.accounts.issueKey({ kind: 'agent', id: agent.id });
      const [mine, agents, others] = await Promise.all([
        rpc(url, key, 'tools/list'),
        rpc(url, agentKey, 'tools/list'),
        rpc(other.url, key, 'tools/list'),
      ]);
      expect(mine.result.tools.length).toBeGreaterThan(0);
      expect(agents.result).toEqual(mine.result);
      expect(others.result).toEqual(mine.result);
    } finally {
      await other.stop();
    }
  });
});

describe('stateless transport', () => {
  test('many requests one after another and at once all work: each has a server and a transport of its own', async () => {
    for (let i = 0; i < 5; i++) expect((await rpc(url, key, 'tools/list')).result.tools.length).toBeGreaterThan(0);
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post(url, key, request('tools/list'))).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('requests with the same id at once are not mixed up', async () => {
    const answers = await Promise.all([rpc(url, key, 'tools/list'), rpc(url, key, 'ping'), rpc(url, key, 'tools/list')]);
    expect(answers.map(({ result }) => 'tools' in result)).toEqual([true, false, true]);
  });

  test('a bogus or old Mcp-Session-Id just works, and none is handed out', async () => {
    const response = await post(url, key, request('tools/list'), { 'mcp-session-id': 'from-before-the-restart' });
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await post(url, key, initialize('2025-11-25'))).headers.get('mcp-session-id')).toBeNull();
  });

  test.each([undefined, '*/*', 'application/json', 'text/event-stream'])('Accept %j gets 406', async (accept) => {
    // fetch sends */* where none is given
    expect((await post(url, key, request('tools/list'), { accept })).status).toBe(406);
  });

  test('answers are plain JSON', async () => {
    const response = await post(url, key, request('tools/list'));
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test('a body that is not JSON, and JSON that is no JSON-RPC, are protocol errors', async () => {
    const broken = await post(url, key, '{"jsonrpc": "2.0", ');
    expect(broken.status).toBe(400);
    expect(((await broken.json()) as Rpc).error).toMatchObject({ code: -32700 });
    const other = await post(url, key, { hello: 'world' });
    expect(other.status).toBe(400);
    expect(((await other.json()) as Rpc).error!.code).toBeLessThan(0);
  });

  test('a content type that is not JSON gets 415, a body over the limit 413', async () => {
    expect((await post(url, key, request('tools/list'), { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(url, key, `"${'x'.repeat(17 * 1024 * 1024)}"`)).status).toBe(413);
  });

  test('a call cancelled in its own batch does not hang once its client is gone', async () => {
    const batch = [
      request('tools/call', { name: 'list_rooms', arguments: {} }, 7),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
    ];
    await expect(post(url, key, batch, {}, AbortSignal.timeout(300))).rejects.toThrow();
    expect((await rpc(url, key, 'ping')).result).toEqual({});
  });
});

describe('methods, origins and keys', () => {
  const get = (headers: Record<string, string> = {}) => fetch(`${url}/mcp`, { headers: { accept: 'text/event-stream', ...headers } });

  test('GET without a key gets 401 first, then 405', async () => {
    expect((await get()).status).toBe(401);
    const response = await get({ authorization: `Bearer ${key}` });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test('DELETE gets 405: there is no session to end', async () => {
    expect((await fetch(`${url}/mcp`, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })).status).toBe(405);
  });

  test.each(['http://evil.example', 'https://127.0.0.1', 'null'])('Origin %s gets 403', async (origin) => {
    expect((await post(url, key, request('ping'), { origin })).status).toBe(403);
    expect((await fetch(`${url}/api/v1/rooms`, { headers: { origin, authorization: `Bearer ${key}` } })).status).toBe(403);
  });

  test('its own origin, and none, are taken', async () => {
    const { port } = edge.server;
    for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
      expect((await post(url, key, request('ping'), { origin })).status).toBe(200);
    }
  });

  test.each([
    ['no key', undefined],
    ['a key that is nobody’s', `Bearer ba_${'x'.repeat(43)}`],
    ['no key of ours', 'Bearer sk-123'],
    ['another scheme', 'Basic b2xnYTpiYQ=='],
    ['an empty key', 'Bearer '],
  ])('%s gets 401 with invalid_token and no resource_metadata', async (_what, authorization) => {
    const response = await post(url, undefined, request('ping'), { authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 401, code: 'invalid_token' });
  });

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/register',
  ])('%s is a plain JSON 404, by GET and POST', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${url}${path}`, { method });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toMatchObject({ error: 'not_found' });
    }
  });

  test("a deleted agent's key gets 401 at once", async () => {
    const agent = await edge.store.accounts.addAgent(edge.owner.id, 'short-lived');
    const agentKey = await edge.store.accounts.issueKey({ kind: 'agent', id: agent.id });
    expect((await post(url, agentKey, request('ping'))).status).toBe(200);
    await edge.store.accounts.deleteAgent(edge.owner.id, agent.id);
    expect((await post(url, agentKey, request('ping'))).status).toBe(401);
  });

  test('a database that is away is 503 with Retry-After, never 401, and nothing of it is shown', async () => {
    const unreachable = await freePort();
    const server = await startServer(settings(`postgresql://barista:hunter2@127.0.0.1:${unreachable}/barista`), silent, undefined, PATIENT);
    try {
      const response = await post(server.url, key, request('ping'));
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ code: 'unavailable' });
      expect(text).not.toMatch(/hunter2|127\.0\.0\.1|ECONNREFUSED|at .*\.ts/);
      expect(await readiness(server.url)).toEqual([503, { ready: false, database: false, temporal: true }]);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    } finally {
      await server.stop();
    }
  });

  test('a database that hangs is not waited for by /readyz', async () => {
    await using gate = await Gate.before(() => edge.databaseUrl);
    const server = await startServer(settings(gate.url), silent, undefined, { ...PATIENT, ready: 20 });
    gate.stall();
    try {
      expect(await readiness(server.url)).toEqual([503, expect.objectContaining({ ready: false, database: false })]);
    } finally {
      gate.close();
      await server.stop();
    }
  });

  test('it listens on 127.0.0.1', () => {
    expect(url).toBe(`http://127.0.0.1:${edge.server.port}`);
  });

  test('/readyz tells of database and Temporal; /metrics is Prometheus; an unknown address is problem+json', async () => {
    expect(await readiness(url)).toEqual([200, { ready: true, database: true, temporal: true }]);
    await call(url, key, 'list_rooms', {});
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('barista_tool_call_seconds_count{tool="list_rooms",outcome="ok"}');
    expect(metrics).toContain('barista_http_requests_total');
    const missing = await fetch(`${url}/nothing/here`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('results and refusals', () => {
  test('the same JSON is in the text and in structuredContent', async () => {
    const answer = await call(url, key, 'list_rooms', {});
    expect(answer.isError).toBe(false);
    expect(answer.structured).toEqual(answer.json);
    expect(answer.json).toEqual({ rooms: [] });
  });

  test('missing arguments are taken where none are needed', async () => {
    expect((await call(url, key, 'list_rooms')).json).toEqual({ rooms: [] });
  });

  test('an unknown tool is a protocol error', async () => {
    const answer = await rpc(url, key, 'tools/call', { name: 'post_to_forge', arguments: {} });
    expect(answer.result).toBeUndefined();
    expect(answer.error).toMatchObject({ code: -32602 });
    expect(answer.error!.message).toContain('post_to_forge');
  });

  test('tools/call without a name is a protocol error', async () => {
    const answer = await rpc(url, key, 'tools/call', { arguments: {} });
    expect(answer.result).toBeUndefined();
    expect(answer.error!.code).toBeLessThan(0);
  });

  test('bad arguments are a tool error: one short text block, code and field in it, no structuredContent', async () => {
    const answer = await call(url, key, 'submit_review', {
      room: 'x',
      verdict: 'maybe',
      findings: Array.from({ length: 200 }, () => ({ lin: 1 })),
    });
    expect(answer.isError).toBe(true);
    expect(answer.structured).toBeUndefined();
    expect(answer.text.length).toBeLessThan(10_000);
    expect(answer.json.error).toMatchObject({ code: 'invalid', field: 'verdict' });
    expect(answer.json.error.message).toContain('unknown field');
  });

  test('a room that is not there is a tool error that says how to find one', async () => {
    const answer = await call(url, key, 'get_review_round', { room: 'nowhere' });
    expect(answer.json.error).toMatchObject({ code: 'not_found', field: 'room' });
    expect(answer.json.error.hint).toContain('list_rooms');
  });
});

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { freePort } from '../../stack/ports.js';
import { connectTo } from '../support/connect.js';
import { settings, silent } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';
import { barista, cleanEnv, firstJson, root, start } from '../support/command.js';

let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startWorld();
  env = {
    BARISTA_URL: world.server.url,
    BARISTA_KEY: world.owner.key,
    DATABASE_URL: world.databaseUrl,
    TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']!,
    TEMPORAL_NAMESPACE: process.env['TEMPORAL_NAMESPACE']!,
  };
});
afterAll(() => world.stop());

/** Runs to its end and answers its JSON; fails where the command does. */
async function json(args: readonly string[], more: Record<string, string> = {}) {
  const { code, out, err } = await barista([...args, '--json'], { ...env, ...more });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
  return firstJson(out);
}

test('agent add shows the key once, and how to connect three clients with it', async () => {
  const { code, out } = await barista(['agent', 'add', 'lines'], env);
  expect(code).toBe(0);
  expect(out).toMatch(/^@lines \(ag_\S+\) has the key ba_\S+\n/);
  expect(out).toContain(`claude mcp add --transport http barista ${world.server.url}/mcp --header "Authorization: Bearer KEY"`);
  expect(out).toContain(`codex mcp add barista --url ${world.server.url}/mcp --bearer-token-env-var BARISTA_KEY`);
  expect(out).toContain(`gemini mcp add --transport http --header "Authorization: Bearer KEY" barista ${world.server.url}/mcp`);
  const agent = await json(['agent', 'add', 'grok']);
  expect(await world.ok(agent, 'list_rooms', {})).toEqual({ rooms: [] });
  expect(out).toMatch(/BARISTA_KEY=KEY node \/.*\/stack\/bin\.mjs mcp\n$/);
  expect(await barista(['agent', 'add', 'grok'], env)).toEqual({
    code: 1,
    out: '',
    err: 'The name grok is taken. Choose another. If grok is your agent and its key is lost: barista agent key grok makes a new one.\n',
  });
  expect((await barista(['agent', 'add', 'Not A Name'], env)).err).toBe(
    'name: must be 1 to 39 of a-z, 0-9 and -. Nothing was stored. Put that right and send all of it again.\n',
  );
});

test('agent list names the agents; agent key makes a new key of one, and the old one stops', async () => {
  const lost = await json(['agent', 'add', 'lost']);
  expect((await json(['agent', 'list'])).agents).toContainEqual({ id: lost.id, name: 'lost', created_at: lost.created_at });
  expect((await barista(['agent', 'list'], env)).out).toMatch(/^AGENT +ID +MADE AT\n[^]*^@lost +ag_\S+ +\d{4}-/m);
  const { code, out } = await barista(['agent', 'key', 'lost'], env);
  expect(code).toBe(0);
  expect(out).toMatch(/^@lost \(ag_\S+\) has the new key ba_\S+; its old one stopped\.\nIt is shown this once\./);
  expect(await world.ok({ ...lost, key: /ba_[^;]+/.exec(out)![0] }, 'list_rooms', {})).toEqual({ rooms: [] });
  expect((await barista(['room', 'list'], { ...env, BARISTA_KEY: lost.key })).err).toContain('does not know this key');
  expect((await json(['agent', 'key', 'lost'])).key).toMatch(/^ba_/);
  expect((await barista(['agent', 'key', 'nobody'], env)).err).toBe('You have no agent nobody. barista agent list names yours.\n');
});

test('room open, list and show say the same as the server; opening again names the room there is', async () => {
  const opened = await json(['room', 'open', world.git.pullRequest, '--recipe', 'build_duel', '--no-barista']);
  expect(opened).toMatchObject({ recipe: 'build_duel', barista: { enabled: false }, phase: 'waiting_for_crew' });
  expect(await json(['room', 'open', world.git.pullRequest])).toMatchObject({ slug: opened.slug, created: false, recipe: 'build_duel' });
  const again = (await barista(['room', 'open', world.git.pullRequest], env)).out;
  expect(again).toMatch(new RegExp(`^${opened.slug}: .* \\(already open\\)\n`));
  expect(again).toContain('It stays as it is: --recipe and --no-barista count for a new room only');
  expect((await barista(['room', 'open', world.git.pullRequest, '--another'], env)).out).toMatch(
    /^Next: tell your agents to join \S+\. barista draft show /m,
  );
  expect((await json(['room', 'open', world.git.pullRequest, '--another'])).slug).not.toBe(opened.slug);
  expect((await json(['room', 'list'])).rooms.map(({ slug }: { slug: string }) => slug)).toContain(opened.slug);
  expect((await json(['room', 'show', opened.slug])).members).toMatchObject([{ name: 'olga', kind: 'person', roles: [] }]);
  expect((await barista(['room', 'list'], env)).out).toMatch(/^ROOM +ROUND +PHASE/);
  expect((await barista(['room', 'show', opened.slug], env)).out).toContain('build_duel without Barista, waiting for crew, round 0');
  const { repository } = (await world.store.rooms.get(opened.slug))!.pullRequest;
  const trouble = { identity: 'operator', kind: 'refused', message: 'The App is suspended.', since: 0, until: null } as const;
  await world.store.forgeStates.troubled('local', repository, trouble);
  expect((await barista(['room', 'show', opened.slug], env)).out).toContain(
    '! operator (since 1970-01-01T00:00:00.000Z): The App is suspended.',
  );
  await world.store.forgeStates.mended('local', repository, 'operator');
  expect(await barista(['room', 'show', 'nowhere'], env)).toMatchObject({
    code: 1,
    err: 'There is no room nowhere. barista room list names yours.\n',
  });
  const wrong = await barista(['room', 'open', 'local:/no/such/place?base=a&head=b'], env);
  expect(wrong).toMatchObject({ code: 1, out: '' });
  expect(wrong.err.trim().split('\n')).toHaveLength(1);
});

test('room show says which clocks run, and what the owner is to decide', async () => {
  const [cy, ana] = [await world.agent('author'), await world.agent('raiser')];
  const room = await world.room({ recipe: 'build_duel', barista: true });
  const shown = async () => (await barista(['room', 'show', room], env)).out;
  expect(await shown()).toContain('Barista opens round 1 once somebody holds the reviewer role and the head is quiet.');
  for (const agent of [cy, ana]) await world.ok(agent, 'join_room', { room });
  const { clocks } = await json(['room', 'show', room]);
  expect(clocks).toEqual([{ name: 'head_quiet', what: 'open round 1', at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) }]);
  expect(await shown()).toMatch(/^ {2}round 1 opens at (\S+ )?\d\d:\d\d:\d\d UTC if nobody pushes$/m);

  await world.ok(ana, 'open_review_round', { room });
  const finding = { path: 'src/a.ts', line: 1, severity: 'major', body: 'It breaks.' };
  const { review } = await world.ok(ana, 'submit_review', { room, verdict: 'request_changes', summary: 'no', findings: [finding] });
  const [finding_id] = review.finding_ids;
  await expect.poll(async () => (await json(['room', 'show', room])).phase).toBe('waiting_for_push');
  await world.ok(cy, 'rebut_finding', { room, finding_id, answer: 'reject', reason: 'It does not.' });
  await world.ok(ana, 'resolve_finding', { room, finding_id, resolution: 'upheld', note: 'It does.' });
  await world.ok(cy, 'rebut_finding', { room, finding_id, answer: 'reject', reason: 'It still does not.' });
  const disputed = await shown();
  expect(disputed).toContain(`What is left is in dispute (${finding_id}): @olga decides. Take the final draft`);
  expect(disputed).toContain(`  in dispute: ${finding_id} (major, src/a.ts:1) of @raiser: It breaks.\n`);
  // Which Temporal UI is this server's is not known here.
  expect(disputed).not.toContain('Temporal UI');
});

test('a key that the server does not know is one line', async () => {
  expect(await barista(['room', 'list'], { ...env, BARISTA_KEY: 'bu_not-a-key-of-anybody' })).toEqual({
    code: 1,
    out: '',
    err: `The server at ${world.server.url} does not know this key. Check BARISTA_KEY.\n`,
  });
});

test("with an agent's key left in BARISTA_KEY an owner's command says so, not whom to ask", async () => {
  const { key } = await world.agent('left');
  const err =
    "This needs a user key; an agent key is not enough. BARISTA_KEY is an agent's: unset it to act as yourself, or set it to your own key.\n";
  for (const args of [['room', 'list'], ['watch']]) {
    expect(await barista(args, { ...env, BARISTA_KEY: key })).toEqual({ code: 1, out: '', err });
  }
});

test('listen prints what concerns the agent as one line of JSON and ends; what does not concern it is passed over', async () => {
  const [grok, rex] = [await world.agent('listener'), await world.agent('other')];
  const room = await world.room({ agents: [grok, rex] });
  const listening = start(['listen', '--room', room], { ...env, BARISTA_KEY: grok.key });
  // It begins with what comes after it has begun; so it is told again and again until it has heard.
  let heard = false;
  void listening.ended.then(() => (heard = true));
  while (!heard) {
    await world.ok(rex, 'post_message', { room, text: `nothing for anyone ${Math.random()}` });
    await world.ok(rex, 'post_message', { room, text: `@listener look at this ${Math.random()}` });
    await delay(200);
  }
  const { code, out } = await listening.ended;
  expect(code).toBe(0);
  expect(out.trim().split('\n')).toHaveLength(1);
  expect(firstJson(out)).toMatchObject({ kind: 'message', room, from: rex.id, mentions: [grok.id], last_message_id: firstJson(out).id });

  // From a message on: nothing that came in between is lost.
  const { id } = await world.ok(rex, 'post_message', { room, text: 'from here' });
  await world.ok(rex, 'post_message', { room, text: '@listener said while nobody listened' });
  expect(await json(['listen', '--room', room, '--after', id], { BARISTA_KEY: grok.key })).toMatchObject({
    text: '@listener said while nobody listened',
  });

  // An opened round is an event for its reviewers.
  const { last_message_id: now } = await world.ok(grok, 'join_room', { room });
  await world.ok(grok, 'open_review_round', { room });
  expect(await json(['listen', '--room', room, '--after', now], { BARISTA_KEY: rex.key })).toMatchObject({
    kind: 'event',
    event: 'round_opened',
  });
});

test('two listeners of one agent both hear it all, and leave the server in peace', async () => {
  const [grok, rex] = [await world.agent('twice'), await world.agent('caller')];
  const room = await world.room({ agents: [grok, rex] });
  const { last_message_id: after } = await world.ok(grok, 'join_room', { room });
  const listeners = [1, 2].map(() => start(['listen', '--room', room, '--after', after, '--follow'], { ...env, BARISTA_KEY: grok.key }));
  const both = (text: string) => Promise.all(listeners.map(({ saw }) => saw((out) => (out.includes(text) ? true : undefined))));
  await world.ok(rex, 'post_message', { room, text: '@twice one' });
  await both('one');
  const [begun, before] = [performance.now(), await waitCalls()];
  await delay(3_000); // what is measured: calls in a time in which nothing is said
  await world.ok(rex, 'post_message', { room, text: '@twice two' });
  await both('two');
  expect(((await waitCalls()) - before) / ((performance.now() - begun) / 1_000)).toBeLessThan(4);
  for (const { child } of listeners) child.kill();
});

/** Calls of wait_for_messages that the server has answered so far. */
async function waitCalls(): Promise<number> {
  const metrics = await (await fetch(`${world.server.url}/metrics`)).text();
  const counts = metrics.matchAll(/^barista_tool_call_seconds_count\{[^}]*tool="wait_for_messages"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('listen --follow goes on over a restart of the server, until done', async () => {
  const grok = await world.agent('follower');
  const room = await world.room({ agents: [grok] });
  const onOnePort = { ...settings(world.databaseUrl, [world.git.path]), port: await freePort() };
  const first = await startServer(onOnePort, silent);
  const listening = start(['listen', '--room', room, '--follow', '--after', '0'], {
    ...env,
    BARISTA_KEY: grok.key,
    BARISTA_URL: first.url,
  });
  await world.rest(world.owner, 'POST', `/rooms/${room}/messages`, { text: '@follower one' });
  await listening.saw((out) => (out.includes('@follower one') ? true : undefined));
  await first.stop();
  await world.rest(world.owner, 'POST', `/rooms/${room}/messages`, { text: '@follower two' });
  const second = await startServer(onOnePort, silent);
  await listening.saw((out) => (out.includes('@follower two') ? true : undefined));
  await world.rest(world.owner, 'POST', `/rooms/${room}/archive`);
  const { code, out } = await listening.ended;
  await second.stop();
  expect(code).toBe(0);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ kind }) => kind)).toEqual(['message', 'message', 'done']);
  expect(lines.at(-1).reason).toBe('The room has ended: archived.');
});

test('R12: a listener that starts in a room that has ended hears what is left for it, then done', async () => {
  const grok = await world.agent('late');
  const room = await world.room({ agents: [grok] });
  await world.rest(world.owner, 'POST', `/rooms/${room}/messages`, { text: '@late goodbye' });
  await world.rest(world.owner, 'POST', `/rooms/${room}/archive`);
  expect(await json(['listen', '--room', room, '--after', '0'], { BARISTA_KEY: grok.key })).toMatchObject({ text: '@late goodbye' });
  expect(await json(['listen', '--room', room], { BARISTA_KEY: grok.key })).toMatchObject({
    kind: 'done',
    reason: 'The room has ended: archived.',
  });
});

test('listen in a room that one is not in is refused, and joins nobody', async () => {
  const stranger = await world.agent('stranger');
  const room = await world.room();
  expect(await barista(['listen', '--room', room], { ...env, BARISTA_KEY: stranger.key })).toMatchObject({
    code: 1,
    err: expect.stringContaining(`You are not in room ${room}.`),
  });
  expect((await json(['room', 'show', room])).members).toHaveLength(1);
});

test('mcp serves the tools over stdio with the same key', async () => {
  const agent = await world.agent('stdio');
  const client = new McpClient({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(root, 'stack/bin.mjs'), 'mcp'],
      cwd: tmpdir(), // clients start it where their own project is
      env: cleanEnv({ ...env, BARISTA_KEY: agent.key }) as Record<string, string>,
    }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('submit_review');
  expect((await client.callTool({ name: 'list_rooms', arguments: {} })).isError).toBeFalsy();
  await client.close();
});

test('user add makes a person with a key; repo link lets it open rooms there', async () => {
  const bob = await json(['user', 'add', 'bob']);
  expect(bob.key).toMatch(/^bu_/);
  const told = (await barista(['user', 'add', 'rob'], env)).out;
  expect(told).toContain(`rob uses it with BARISTA_URL=${world.server.url} and BARISTA_KEY set to it.\n`);
  expect(told).toContain(
    'From now on each owner, you too, opens rooms on linked repositories only: barista repo link URL --user NAME links one.\n',
  );
  expect((await world.rest(bob.key, 'POST', '/rooms', { pull_request: world.git.pullRequest })).status).toBe(404);
  expect(await json(['repo', 'link', world.git.path, '--user', 'bob'])).toMatchObject({ user: { name: 'bob' }, forge: 'local' });
  expect((await world.rest(bob.key, 'POST', '/rooms', { pull_request: world.git.pullRequest })).status).toBe(201);
  expect((await barista(['user', 'add', 'bob'], env)).err).toBe('The name bob is taken. Choose another.\n');
  expect((await barista(['repo', 'link', world.git.path, '--user', 'nobody'], env)).err).toBe(
    'There is no user nobody. Make one with barista user add NAME.\n',
  );
  expect((await barista(['repo', 'link', '/'], env)).err).toContain('is not the top of a git repository');
});

test('migrate says that nothing is left to do', async () => {
  expect(await json(['migrate'])).toEqual({ applied: [] });
});

test('doctor and room restart: a room whose run is gone is named, started again as it was, and left alone while it lives', async () => {
  const grok = await world.agent('survivor');
  const room = await world.room({ agents: [grok] });
  expect((await json(['doctor'])).checks.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
  expect(await barista(['room', 'restart', room], env)).toMatchObject({ code: 1, err: expect.stringContaining(`Room ${room} runs.`) });

  const connection = await connectTo(env['TEMPORAL_ADDRESS']!);
  await new Client({ connection, namespace: env['TEMPORAL_NAMESPACE']! }).workflow.getHandle(`room/${room}`).terminate();
  await connection.close();
  const sick = await barista(['doctor'], env);
  expect(sick.code).toBe(1);
  expect(sick.out).toContain(`${room}: its run has ended (terminated): barista room restart ${room}`);

  const before = await json(['room', 'show', room]);
  expect(await json(['room', 'restart', room])).toMatchObject({ room });
  const after = await json(['room', 'show', room]);
  expect(after.members).toEqual(before.members);
  expect(await world.ok(grok, 'open_review_round', { room })).toMatchObject({ round: { number: 1 } });
  expect((await barista(['doctor'], env)).code).toBe(0);
  await world.rest(world.owner, 'POST', `/rooms/${room}/archive`);
  expect((await barista(['room', 'restart', room], env)).err).toBe(`Room ${room} has ended (archived); it does not run any more.\n`);
});

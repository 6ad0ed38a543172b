import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { WEBHOOK_BODY_LIMIT } from '../../mcp-server/webhooks/routes.js';
import { deliver, exampleOf, githubWebhook, gitlabWebhook, type Webhook } from '../support/deliveries.js';
import { PATIENT, settings, silent } from '../support/edge.js';
import { countDeliveries, startOnGitHub, type OnGitHub } from './world.js';

let world: OnGitHub;
beforeAll(async () => {
  world = await startOnGitHub();
});
afterAll(() => world?.stop());

const opened = exampleOf('pull_request', ({ action }) => action === 'opened');
const github = (webhook: Webhook) => deliver(world.server.url, 'github', webhook);

/** In chunks, with no length said before. */
function inChunks({ headers, body }: Webhook): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(`${world.server.url}/webhooks/github`, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    // Told that it is too much, the server listens no more.
    sending.on('error', reject);
    const bytes = Buffer.from(body);
    for (let at = 0; at < bytes.length; at += 1 << 20) sending.write(bytes.subarray(at, at + (1 << 20)));
    sending.end();
  });
}

describe('what is not from the forge leaves nothing', () => {
  let before: number;
  beforeEach(async () => {
    before = await countDeliveries(world);
  });

  test.each<[string, (webhook: Webhook) => Webhook]>([
    ['no signature', ({ headers, body }) => ({ headers: { ...headers, 'x-hub-signature-256': '' }, body })],
    ['the old signature alone', ({ headers, body }) => ({ headers: { ...headers, 'x-hub-signature-256': 'sha1=abc' }, body })],
    ['another secret', () => githubWebhook('pull_request', opened, { secret: 'another' })],
    ['an empty secret', () => githubWebhook('pull_request', opened, { secret: '' })],
    ['another body', ({ headers, body }) => ({ headers, body: `${String(body)} ` })],
    ['an empty body', ({ headers }) => ({ headers, body: '' })],
    ["GitLab's token", () => gitlabWebhook(opened)],
  ])('%s: 401, and nothing is kept', async (_, forge) => {
    const answer = await github(forge(githubWebhook('pull_request', opened)));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect(await answer.json()).toMatchObject({ code: 'invalid', detail: 'The signature of the delivery is missing or wrong.' });
    expect(await countDeliveries(world)).toBe(before);
    expect(await world.store.deliveries.last('github')).toBeNull();
  });

  test('a forge that is not set up is told which setting is missing', async () => {
    const answer = await deliver(world.server.url, 'gitlab', gitlabWebhook({ object_kind: 'pipeline' }));
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({ detail: 'This server takes no deliveries of this forge: GITLAB_TOKEN is not set.' }),
    ]);
    const bare = await startServer(settings(world.databaseUrl), silent);
    for (const [forge, webhook, setting] of [
      ['github', githubWebhook('ping', {}), 'GITHUB_WEBHOOK_SECRET'],
      ['gitlab', gitlabWebhook({}), 'GITLAB_WEBHOOK_SECRET'],
    ] as const)
      expect(await (await deliver(bare.url, forge, webhook)).json()).toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining(setting) as string,
      });
    await bare.stop();
  });

  test('more than 25 MB is not taken, whether or not its length is said before', async () => {
    const large = githubWebhook('pull_request', Buffer.alloc(WEBHOOK_BODY_LIMIT + 1, ' '));
    expect((await github(large)).status).toBe(413);
    expect(await inChunks(large)).toBe(413);
    expect(await countDeliveries(world)).toBe(before);
  });
});

describe('what is from the forge is taken, whatever it is', () => {
  const outcome = async (answer: Response) => {
    expect(answer.status).toBe(202);
    const { delivery, ignored } = (await answer.json()) as { delivery: string; ignored?: string };
    expect((await world.outcome(delivery)).what).toBe(`ignored: ${ignored}`);
    return ignored;
  };

  test('an empty body, broken JSON and an unknown event are kept as ignored', async () => {
    expect(await outcome(await github(githubWebhook('pull_request', '')))).toMatch(/not as GitHub sends it/);
    expect(await outcome(await github(githubWebhook('pull_request', '{"action": ')))).toMatch(/not as GitHub sends it/);
    expect(await outcome(await github(githubWebhook('pull_request', Buffer.from([0xff, 0xfe, 0x00]))))).toMatch(/not as GitHub sends it/);
    expect(await outcome(await github(githubWebhook('something_new', {})))).toBe('nothing is done on something_new events');
  });

  test('from a page of another origin, or in chunks, or nearly 25 MB of it', async () => {
    const { headers, body } = githubWebhook('ping', { zen: 'Keep it logically awesome.' });
    expect((await github({ headers: { ...headers, origin: 'https://github.com' }, body })).status).toBe(202);
    expect(await inChunks(githubWebhook('ping', { zen: 'x'.repeat(3 << 20) }))).toBe(202);
    expect((await github(githubWebhook('ping', { zen: 'x'.repeat(WEBHOOK_BODY_LIMIT - 100) }))).status).toBe(202);
  });

  test('no word of others and no secret lies in its history', async () => {
    const answer = await github(githubWebhook('pull_request', { ...opened, secret: 'A text of theirs' }));
    const { delivery } = (await answer.json()) as { delivery: string };
    await world.outcome(delivery);
    const raw = JSON.stringify(await world.temporal.workflow.getHandle(delivery).fetchHistory());
    const history = raw.replaceAll(/"data":"([^"]*)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
    expect(history).toContain('pull request opened');
    expect(history).not.toMatch(/A text of theirs|Update the README|a-secret-of-the-app|"body"/);
  });
});

test('deliveries are counted by forge and by what they told of', async () => {
  await github(githubWebhook('pull_request', opened));
  await github(githubWebhook('pull_request', opened, { secret: 'another' }));
  const metrics = await (await fetch(`${world.server.url}/metrics`)).text();
  expect(metrics).toMatch(/barista_deliveries_total\{forge="github",what="pull_request_opened"\} \d/);
  expect(metrics).toMatch(/barista_deliveries_total\{forge="github",what="refused"\} \d/);
  expect(metrics).not.toMatch(/what="[^"]*(Hello-World|Codertocat)/);
});

test('where it cannot be kept in time it is sent back, to be sent again', async () => {
  const address = process.env.TEMPORAL_ADDRESS;
  process.env.TEMPORAL_ADDRESS = '127.0.0.1:1';
  const { github: fake } = world;
  const [app] = fake.apps;
  const alone = await startServer(
    {
      ...settings(world.databaseUrl),
      forges: {
        github: { apiUrl: fake.urls.api, app: { id: app!.id, privateKey: app!.privateKey }, reviewer: null },
        gitlab: null,
        webhooks: { github: 'a-secret-of-the-app', gitlab: { secretToken: null, signingKey: null } },
      },
    },
    silent,
    undefined,
    { ...PATIENT, delivery: 200 },
  );
  process.env.TEMPORAL_ADDRESS = address;
  const answer = await deliver(alone.url, 'github', githubWebhook('pull_request', opened));
  expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('content-type')]).toEqual([
    503,
    '30',
    'application/problem+json',
  ]);
  await alone.stop();
});

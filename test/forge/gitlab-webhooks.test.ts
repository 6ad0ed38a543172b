import type { WebhookMergeRequestEventSchema, WebhookPipelineEventSchema } from '@gitbeaker/core';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { isFromGitLab, readGitLabDelivery } from '../../activities/forge/gitlab/webhooks.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';

const BASE = 'https://git.example.com/gitlab';
const NOW = Date.UTC(2030, 0, 7, 12);
const HEAD = 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7';
const OLD = 'b6568db1bc1dcd7f8b4d5a946b0b91f9dacd7327';

type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: DeepPartial<T[K]> } : T;
type MergeRequestHook = DeepPartial<WebhookMergeRequestEventSchema> & { object_attributes: { oldrev?: string } };

const mergeRequest = (attributes: MergeRequestHook['object_attributes'], more: Partial<MergeRequestHook> = {}): MergeRequestHook => ({
  object_kind: 'merge_request',
  event_type: 'merge_request',
  object_attributes: {
    iid: 7,
    target_project_id: 14,
    source_project_id: 99,
    draft: false,
    title: 'MS-Viewport',
    state: 'opened',
    target: { path_with_namespace: 'Group/Sub/project' },
    last_commit: { id: HEAD, message: 'fixed' },
    ...attributes,
  },
  labels: [],
  changes: {},
  ...more,
});
const webhook = (body: unknown, headers: Record<string, string> = {}) => ({
  headers: new Headers(headers),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const heard = (body: unknown) => readGitLabDelivery(webhook(body), BASE).heard;

describe('P3: merge request hooks in our own words', () => {
  test.each([
    [{ action: 'open' }, {}, 'opened'],
    [{ action: 'close' }, {}, 'closed'],
    [{ action: 'merge' }, {}, 'merged'],
    [{ action: 'reopen' }, {}, 'reopened'],
    [{ action: 'update', oldrev: OLD }, {}, 'pushed'],
    [{ action: 'update' }, { changes: {} }, 'edited'],
    [{ action: 'update' }, { changes: { target_branch: { previous: 'main', current: 'next' } } }, 'edited'],
    [{ action: 'update', oldrev: OLD }, { changes: { draft: { previous: true, current: false } } }, 'ready'],
    [{ action: 'update', draft: true }, { changes: { draft: { previous: false, current: true } } }, 'drafted'],
  ] as const)('%o %o is %s', (attributes, more, what) => {
    expect(heard(mergeRequest(attributes, more))).toMatchObject({ kind: 'pull_request', what, headSha: HEAD, draft: what === 'drafted' });
  });

  test("R8: the pull request is named as the forge resolves it, by the target's id", () => {
    const event = heard(mergeRequest({ action: 'open' }, { labels: [{ title: 'review me' }] as never }));
    expect(event).toEqual({
      kind: 'pull_request',
      what: 'opened',
      repository: 'gitlab:git.example.com#14',
      key: 'gitlab:git.example.com#14!7',
      url: 'https://git.example.com/gitlab/Group/Sub/project/-/merge_requests/7',
      headSha: HEAD,
      draft: false,
      labels: ['review me'],
    });
    expect(parsePullRequest((event as { url: string }).url)).toMatchObject({ forge: 'gitlab', iid: 7 });
  });

  test.each(['approved', 'unapproved', 'approval', 'unapproval', 'something_new'])('%s is ignored, with its reason', (action) => {
    expect(heard(mergeRequest({ action }))).toEqual({ kind: 'ignored', reason: `nothing is done on ${action} of a merge request` });
  });

  test('no words of others lie in the event', () => {
    expect(JSON.stringify(heard(mergeRequest({ action: 'open', title: 'A secret title', description: 'and text' })))).not.toMatch(
      /secret|and text|fixed/,
    );
  });
});

describe('V5: pipeline hooks', () => {
  const pipeline = (more: DeepPartial<WebhookPipelineEventSchema> = {}): DeepPartial<WebhookPipelineEventSchema> => ({
    object_kind: 'pipeline',
    object_attributes: { id: 31, sha: HEAD, status: 'success' },
    project: { id: 14 },
    merge_request: null,
    ...more,
  });
  test('of a branch, and of a merge request from a fork', () => {
    expect(heard(pipeline())).toEqual({ kind: 'ci', repository: 'gitlab:git.example.com#14', headSha: HEAD, key: null });
    expect(heard(pipeline({ project: { id: 99 }, merge_request: { iid: 7, target_project_id: 14 } }))).toEqual({
      kind: 'ci',
      repository: 'gitlab:git.example.com#14',
      headSha: HEAD,
      key: 'gitlab:git.example.com#14!7',
    });
  });
});

test.each([
  ['not json', 'it names no event'],
  ['null', 'it names no event'],
  [{ event_name: 'user_create' }, 'nothing is done on user_create events'],
  [{ object_kind: 'push' }, 'nothing is done on push events'],
  [{ object_kind: 'merge_request' }, "it is not in GitLab's form (object_attributes)"],
  [
    mergeRequest({ action: 'open', last_commit: { id: '--upload-pack=x' } }),
    "it is not in GitLab's form (object_attributes.last_commit.id)",
  ],
  [{ object_kind: 'pipeline', object_attributes: {} }, "it is not in GitLab's form (object_attributes.sha)"],
])('a hook answered with errors is turned off: %o is ignored instead', (body, reason) => {
  expect(heard(body)).toEqual({ kind: 'ignored', reason });
});

describe('P4: a delivery that comes again has the same id', () => {
  const id = (headers: Record<string, string>, body: unknown = { object_kind: 'push' }) =>
    readGitLabDelivery(webhook(body, headers), BASE).id;
  test("GitLab's Idempotency-Key; never the id of the hook or of a chain of hooks", () => {
    expect(id({ 'Idempotency-Key': '0a1b2c3d-aaaa', 'X-Gitlab-Event-UUID': 'u1' })).toBe('0a1b2c3d-aaaa');
    expect(id({ 'webhook-id': '0a1b2c3d-bbbb' })).toBe('0a1b2c3d-bbbb');
    expect(id({ 'X-Gitlab-Event-UUID': 'u1', 'X-Gitlab-Webhook-UUID': 'h1' }, 'one')).not.toBe(
      id({ 'X-Gitlab-Event-UUID': 'u1', 'X-Gitlab-Webhook-UUID': 'h1' }, 'two'),
    );
    expect(id({ 'X-Gitlab-Event-UUID': 'u1' }, 'one')).toBe(id({ 'X-Gitlab-Event-UUID': 'u2' }, 'one'));
  });
  test('whatever is sent, it fits into the name of a workflow', () => {
    for (const odd of ['', '../../x', 'a/b c', 'x'.repeat(5_000)]) expect(id({ 'Idempotency-Key': odd })).toMatch(/^[\w.-]{8,100}$/);
    expect(id({ 'Idempotency-Key': 'a/b c' })).not.toBe(id({ 'Idempotency-Key': 'a/b d' }));
  });
});

describe('issue 5: only deliveries of our own GitLab', () => {
  const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const token = { secretToken: 'a shared secret', signingKey: null };
  const signed = { secretToken: 'a shared secret', signingKey: KEY };
  const body = '{"object_kind":"push","text":"ü"}';
  const sign = (text = body, at = NOW, key = KEY) => {
    const signature = new Webhook(key).sign('msg_1', new Date(at), text);
    return { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(at / 1_000)), 'webhook-signature': signature };
  };
  const accepts = (
    headers: Record<string, string>,
    secrets: typeof token | typeof signed | { secretToken: null; signingKey: null },
    sent = body,
    now = NOW,
  ) => isFromGitLab(webhook(sent, headers), secrets, now);

  test('by the secret token', () => {
    expect(accepts({ 'X-Gitlab-Token': 'a shared secret' }, token)).toBe(true);
    for (const wrong of ['a shared secre', 'a shared secret!', 'another', ''])
      expect(accepts({ 'X-Gitlab-Token': wrong }, token)).toBe(false);
    expect(accepts({}, token)).toBe(false);
    expect(accepts({ 'X-Gitlab-Token': '' }, { secretToken: '', signingKey: null })).toBe(false);
    expect(accepts({}, { secretToken: null, signingKey: null })).toBe(false);
  });

  test('by a signature over the raw body, as the Standard Webhooks library makes it', () => {
    expect(accepts(sign(), signed)).toBe(true);
    const { 'webhook-signature': right, ...rest } = sign();
    expect(accepts({ ...rest, 'webhook-signature': `v1,AAAA v1a,x ${right}` }, signed)).toBe(true);
    expect(accepts(sign(), signed, `${body} `)).toBe(false);
    expect(accepts({ ...sign(), 'webhook-id': 'msg_2' }, signed)).toBe(false);
    expect(accepts({ ...sign(), 'webhook-timestamp': String(NOW / 1_000 + 1) }, signed)).toBe(false);
    expect(accepts(sign(body, NOW, `whsec_${Buffer.alloc(32, 8).toString('base64')}`), signed)).toBe(false);
    expect(accepts({ ...rest, 'webhook-signature': '' }, signed)).toBe(false);
  });

  test('with a signing key the token alone no longer opens the door; an old signature does not either', () => {
    expect(accepts({ 'X-Gitlab-Token': 'a shared secret' }, signed)).toBe(false);
    expect(accepts(sign(body, NOW - 299_000), signed)).toBe(true);
    expect(accepts(sign(body, NOW - 301_000), signed)).toBe(false);
    expect(accepts(sign(body, NOW + 301_000), signed)).toBe(false);
  });
});

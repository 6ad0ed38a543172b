import { createHmac } from 'node:crypto';
import examples from '@octokit/webhooks-examples';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readGitHubDelivery, verifySignature } from '../../activities/forge/github/webhooks.js';
import type { Heard } from '../../workflows/delivery/heard.js';
import { githubRef } from '../../activities/forge/pull-request.js';

const READING = { webUrl: 'https://github.com', ownApps: new Set([777]), reviewerApp: 778 };
const GUID = '72d3162e-cc78-11e3-81ab-4c9367dc0958';

function delivered(event: string, payload: unknown, reading = READING) {
  const headers = new Headers({ 'x-github-event': event, 'x-github-delivery': GUID });
  return readGitHubDelivery({ headers, body: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)) }, reading);
}
const heard = (event: string, payload: unknown, reading = READING): Heard => delivered(event, payload, reading).heard;

type Payload = Readonly<Record<string, unknown>>;
const examplesOf = (name: string) =>
  (examples as unknown as { name: string; examples: Payload[] }[]).find((event) => event.name === name)?.examples ?? [];

describe('P: deliveries are verified on the raw body', () => {
  const secret = "It's a Secret to Everybody";
  const body = Buffer.from('Hello, World!');
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

  test("GitHub's own example passes; another body, secret, form or length does not", () => {
    expect(verifySignature(body, signature, secret)).toBe(true);
    expect(verifySignature(Buffer.from('Hello, World! '), signature, secret)).toBe(false);
    expect(verifySignature(body, signature, 'other')).toBe(false);
    for (const header of [
      null,
      '',
      'sha256=',
      signature.slice(7),
      signature.slice(0, -1),
      `${signature}0`,
      signature.replace('sha256', 'sha1'),
      signature.toUpperCase(),
    ]) {
      expect(verifySignature(body, header, secret)).toBe(false);
    }
  });

  test('without a secret nothing passes, not even what was signed with none', () => {
    expect(verifySignature(body, `sha256=${createHmac('sha256', '').update(body).digest('hex')}`, '')).toBe(false);
  });

  test('what counts are the bytes, not their reading: bytes that are no text are signed as they are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), (bytes, key) => {
        const header = `sha256=${createHmac('sha256', key).update(bytes).digest('hex')}`;
        return verifySignature(Buffer.from(bytes), header, key) && !verifySignature(Buffer.concat([bytes, Buffer.from([0])]), header, key);
      }),
    );
  });
});

describe('P3: every example GitHub publishes gives the right event, or is ignored with its reason', () => {
  const WHAT: Readonly<Record<string, string>> = {
    opened: 'opened',
    synchronize: 'pushed',
    closed: 'closed',
    reopened: 'reopened',
    edited: 'edited',
    labeled: 'edited',
    unlabeled: 'edited',
    ready_for_review: 'ready',
    converted_to_draft: 'drafted',
  };
  const ref = githubRef('https://github.com', 'Codertocat', 'Hello-World', 2, 186853002);

  test('pull_request', () => {
    const all = examplesOf('pull_request');
    expect(all.length).toBeGreaterThan(20);
    for (const payload of all) {
      const { head, draft, labels } = payload['pull_request'] as { head: { sha: string }; draft: boolean; labels: { name: string }[] };
      const what = WHAT[String(payload.action)];
      if (what === undefined)
        expect(heard('pull_request', payload)).toEqual({
          kind: 'ignored',
          reason: `nothing is done on ${String(payload.action)} of pull_request`,
        });
      else {
        const { repository, key } = ref;
        expect(heard('pull_request', payload)).toMatchObject({
          kind: 'pull_request',
          what,
          repository,
          key,
          headSha: head.sha,
          draft,
          labels: labels.map((label) => label.name),
        });
      }
    }
    expect(new Set(all.map((payload) => WHAT[String(payload.action)]).filter((what) => what !== undefined))).toEqual(
      new Set(['opened', 'pushed', 'closed', 'reopened', 'edited', 'ready', 'drafted']),
    );
  });

  test('check_run, check_suite and status', () => {
    for (const payload of examplesOf('check_run')) {
      const { head_sha } = payload['check_run'] as { head_sha: string };
      const right = ['created', 'completed'].includes(String(payload.action))
        ? { kind: 'ci', repository: ref.repository, headSha: head_sha, key: null }
        : { kind: 'ignored' };
      expect(heard('check_run', payload)).toMatchObject(right);
    }
    for (const payload of examplesOf('check_suite')) {
      const { head_sha } = payload['check_suite'] as { head_sha: string };
      expect(heard('check_suite', payload)).toMatchObject(
        payload.action === 'completed' ? { kind: 'ci', headSha: head_sha } : { kind: 'ignored' },
      );
    }
    for (const payload of examplesOf('status'))
      expect(heard('status', payload)).toEqual({ kind: 'ci', repository: ref.repository, headSha: payload['sha'], key: null });
    expect(examplesOf('check_run').length + examplesOf('check_suite').length + examplesOf('status').length).toBeGreaterThan(20);
  });

  test('installation and installation_repositories', () => {
    const what: Readonly<Record<string, string>> = {
      created: 'given',
      unsuspend: 'given',
      deleted: 'taken',
      suspend: 'taken',
      new_permissions_accepted: 'changed',
    };
    const all = examplesOf('installation');
    for (const payload of all)
      expect(heard('installation', payload)).toMatchObject({
        kind: 'access',
        what: what[String(payload.action)],
        account: expect.any(String) as string,
      });
    expect(heard('installation', all[0])).toMatchObject({ what: 'taken', repositories: ['github:github.com/1296269'] });
    for (const payload of examplesOf('installation_repositories')) {
      const changed = payload[payload.action === 'added' ? 'repositories_added' : 'repositories_removed'] as { id: number }[];
      expect(heard('installation_repositories', payload)).toMatchObject({
        kind: 'access',
        what: payload.action === 'added' ? 'given' : 'taken',
        repositories: changed.map((one) => `github:github.com/${one.id}`),
      });
    }
    expect(all.length + examplesOf('installation_repositories').length).toBe(10);
  });

  test('which App, whose account, and where it is mended', () => {
    const deleted = examplesOf('installation').find(({ action }) => action === 'deleted')!;
    const app = { ...(deleted['installation'] as object), app_id: 778, app_slug: 'barista-review' };
    expect(heard('installation', { ...deleted, installation: app })).toMatchObject({
      identity: 'reviewer',
      account: 'octocat',
      place: 'https://github.com',
      url: 'https://github.com/apps/barista-review/installations/new',
    });
    expect(heard('installation', { ...deleted, action: 'suspend', installation: app })).toMatchObject({
      url: 'https://github.com/settings/installations/2',
    });
    const elsewhere = { ...app, app_id: 777, html_url: 'https://example.com/phish' };
    expect(heard('installation', { ...deleted, action: 'suspend', installation: elsewhere })).toMatchObject({
      identity: 'operator',
      url: null,
    });
  });

  test('thousands of repositories are not named one by one', () => {
    const many = Array.from({ length: 2_001 }, (_, at) => ({ id: at + 1 }));
    const removed = examplesOf('installation_repositories').find(({ action }) => action === 'removed')!;
    expect(heard('installation_repositories', { ...removed, repositories_removed: many })).toMatchObject({
      what: 'changed',
      repositories: null,
    });
  });

  test('every other event GitHub has an example of is ignored by its name', () => {
    const used = new Set(['pull_request', 'check_run', 'check_suite', 'status', 'installation', 'installation_repositories']);
    for (const { name, examples: all } of examples as unknown as { name: string; examples: Payload[] }[]) {
      if (used.has(name)) continue;
      for (const payload of all) expect(heard(name, payload)).toEqual({ kind: 'ignored', reason: `nothing is done on ${name} events` });
    }
  });
});

describe('what the examples do not show', () => {
  const opened = examplesOf('pull_request').find((payload) => payload.action === 'synchronize') as Payload;
  const merged = { ...opened, action: 'closed', pull_request: { ...(opened['pull_request'] as object), merged: true } };

  test('P5: merged is more than closed; P3: a base that changed comes as edited', () => {
    expect(heard('pull_request', merged)).toMatchObject({ what: 'merged' });
    expect(heard('pull_request', { ...opened, action: 'edited', changes: { base: { ref: { from: 'main' } } } })).toMatchObject({
      what: 'edited',
    });
  });

  test('P: rooms match by the id of the repository: a rename changes its name and address alone', () => {
    const renamed = { ...opened, repository: { ...(opened['repository'] as object), name: 'Other', owner: { login: 'new-org' } } };
    const [before, after] = [heard('pull_request', opened), heard('pull_request', renamed)];
    if (before.kind !== 'pull_request' || after.kind !== 'pull_request') throw new Error('no pull request was heard');
    expect([after.key, after.repository]).toEqual([before.key, before.repository]);
    expect(after.url).toBe('https://github.com/new-org/Other/pull/2');
  });

  test('removed from all to selected names no repository: every one is to be looked at again', () => {
    const removed = examplesOf('installation_repositories').find((payload) => payload.action === 'removed') as Payload;
    expect(heard('installation_repositories', { ...removed, repositories_removed: [] })).toMatchObject({
      kind: 'access',
      what: 'changed',
      repositories: null,
    });
  });

  test('our own check runs are not heard, a run without pull requests (of a fork) is', () => {
    const run = examplesOf('check_run')[0] as Payload;
    const of = (app: number) => ({ ...run, check_run: { ...(run['check_run'] as object), app: { id: app }, pull_requests: [] } });
    expect(heard('check_run', of(777))).toEqual({ kind: 'ignored', reason: 'it is of our own App' });
    expect(heard('check_run', of(778))).toMatchObject({ kind: 'ci', key: null });
  });

  test('an Enterprise Server has keys of its own', () => {
    expect(heard('pull_request', opened, { ...READING, webUrl: 'https://ghe.example.com' })).toMatchObject({
      key: 'github:ghe.example.com/186853002#2',
    });
  });

  test('sent again it has the same id; without one the body is told apart', () => {
    expect(delivered('pull_request', opened)).toEqual(delivered('pull_request', opened));
    expect(delivered('pull_request', opened)).toMatchObject({ forge: 'github', id: GUID });
    const bare = (body: string) =>
      readGitHubDelivery({ headers: new Headers({ 'x-github-event': 'ping' }), body: Buffer.from(body) }, READING).id;
    expect(bare('{}')).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(bare('{}')).not.toBe(bare('{ }'));
  });

  test('whatever is sent under a name we know is heard or ignored, never an error', () => {
    const event = fc.constantFrom('pull_request', 'check_run', 'check_suite', 'status', 'installation', 'installation_repositories', '');
    fc.assert(
      fc.property(event, fc.oneof(fc.json(), fc.string()), (name, body) =>
        ['ignored', 'ci', 'pull_request', 'access'].includes(heard(name, body).kind),
      ),
    );
    for (const name of ['pull_request', 'check_run', 'status', 'installation'])
      expect(heard(name, '{"action":"opened"}')).toMatchObject({
        kind: 'ignored',
        reason: expect.stringMatching(/^it is not as GitHub sends it/) as string,
      });
    expect(heard('pull_request', 'not json')).toMatchObject({ kind: 'ignored' });
    expect(
      heard('pull_request', { ...opened, pull_request: { ...(opened['pull_request'] as object), head: { sha: '--output=x' } } }),
    ).toMatchObject({ kind: 'ignored' });
  });
});

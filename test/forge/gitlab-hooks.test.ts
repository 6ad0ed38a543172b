import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitLabForge } from '../../activities/forge/gitlab/index.js';
import type { HookSettings } from '../../activities/forge/gitlab/hooks.js';
import type { Forge, RepositoryRef } from '../../activities/forge/port.js';
import { parseRepository } from '../../activities/forge/repository-ref.js';
import { GitLabWorld, NOW } from './gitlab-world.js';

const PUBLIC_URL = 'https://barista.example.com';
const HOOK_URL = `${PUBLIC_URL}/webhooks/gitlab`;
const SETTINGS: HookSettings = { publicUrl: PUBLIC_URL, secretToken: 'a-long-random-text', signed: false };
const AS_WANTED = {
  url: HOOK_URL,
  token: 'a-long-random-text',
  merge_requests_events: true,
  pipeline_events: true,
  push_events: false,
  enable_ssl_verification: true,
};

let world: GitLabWorld;
let ref: RepositoryRef;
beforeEach(async () => {
  world = await new GitLabWorld().start();
  const { url, state } = world.gitlab;
  ref = await forge().repository(parseRepository(`${url}/${state.projectPath}`, { github: null, gitlab: url }));
});
afterEach(() => world.stop());

function forge(settings: Partial<HookSettings> = {}): Forge {
  const { url, token } = world.gitlab;
  return createGitLabForge({ url, token: () => Promise.resolve(token), hook: { ...SETTINGS, ...settings }, now: () => NOW });
}
const hooks = () => world.gitlab.state.hooks;

describe('P3: the merge request hook exists only while it is wanted', () => {
  test('it is made once, however often it is asked for, and removed with what was made twice', async () => {
    hooks().add('https://ci.example.com/hook');
    for (let times = 0; times < 3; times++) await forge().hook?.(ref, true);
    expect(hooks().list.filter(({ url }) => url === HOOK_URL)).toMatchObject([AS_WANTED]);
    hooks().add(HOOK_URL);
    await forge().hook?.(ref, true);
    expect(hooks().list).toHaveLength(2);
    hooks().add(HOOK_URL);
    for (let times = 0; times < 2; times++) await forge().hook?.(ref, false);
    expect(hooks().list).toMatchObject([{ url: 'https://ci.example.com/hook' }]);
  });

  test('two at once leave one', async () => {
    await Promise.all([forge().hook?.(ref, true), forge().hook?.(ref, true), forge().hook?.(ref, true)]);
    expect(hooks().list).toMatchObject([AS_WANTED]);
  });

  test('one that somebody changed, or whose secret is old, is set right', async () => {
    hooks().add(HOOK_URL, 'an-old-secret');
    await forge().hook?.(ref, true);
    expect(hooks().list).toMatchObject([AS_WANTED]);
    await forge({ secretToken: 'a-new-secret' }).hook?.(ref, true);
    expect(hooks().list).toMatchObject([{ ...AS_WANTED, token: 'a-new-secret' }]);
  });

  test('one that is removed while it is set right is made again', async () => {
    hooks().add(HOOK_URL);
    const answer = hooks().answer.bind(hooks());
    hooks().answer = (method, ...asked) => {
      if (method === 'PUT') hooks().list.splice(0);
      return answer(method, ...asked);
    };
    await forge().hook?.(ref, true);
    expect(hooks().list).toMatchObject([AS_WANTED]);
  });

  test('a lost answer is healed by the same call again', async () => {
    world.gitlab.failures.push({ on: /^POST .*hooks/, status: 502, done: true });
    await expect(forge().hook?.(ref, true)).rejects.toMatchObject({ kind: 'unavailable' });
    await forge().hook?.(ref, true);
    expect(hooks().list).toMatchObject([AS_WANTED]);
    world.gitlab.failures.push({ on: /^DELETE .*hooks/, status: 502, done: true });
    await expect(forge().hook?.(ref, false)).rejects.toMatchObject({ kind: 'unavailable' });
    await forge().hook?.(ref, false);
    expect(hooks().list).toEqual([]);
  });

  test('the hooks of a project that is gone are gone', async () => {
    await forge().hook?.({ ...ref, repository: `${ref.repository}9` }, false);
    await expect(forge().hook?.({ ...ref, repository: `${ref.repository}9` }, true)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

test.each([
  [{ publicUrl: null }, 'invalid', 'PUBLIC_URL is not set'],
  [{ publicUrl: 'http://127.0.0.1:7337' }, 'invalid', 'PUBLIC_URL (http://127.0.0.1:7337) is this machine alone'],
  [{ publicUrl: 'http://localhost' }, 'invalid', 'PUBLIC_URL'],
  [{ publicUrl: 'http://[::1]:7337' }, 'invalid', 'PUBLIC_URL'],
  [{ secretToken: null }, 'invalid', 'GITLAB_WEBHOOK_SECRET'],
] as const)('P3: without what a hook needs it is refused with what to set: %j', async (settings, kind, says) => {
  await expect(forge(settings).hook?.(ref, true)).rejects.toMatchObject({ kind, message: expect.stringContaining(says) });
  expect(world.gitlab.asked(/hooks/)).toEqual([]);
  await forge(settings).hook?.(ref, false);
});

test('P3: a token without the right is told the role it needs, and no secret is in any message', async () => {
  hooks().allowed = false;
  for (const wanted of [true, false]) {
    const asked = forge().hook?.(ref, wanted);
    await expect(asked).rejects.toMatchObject({ kind: 'refused', message: expect.stringMatching(/the role Maintainer .* the scope api/) });
    await expect(asked).rejects.not.toThrow(/a-long-random-text/);
  }
});

test('P3: where only signed deliveries are taken the hook is made by hand, and left to that hand', async () => {
  const signed = forge({ secretToken: null, signed: true });
  await expect(signed.hook?.(ref, true)).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining(`add ${HOOK_URL} at ${ref.url}/-/hooks`),
  });
  hooks().add(HOOK_URL);
  await signed.hook?.(ref, true);
  await signed.hook?.(ref, false);
  expect(hooks().list).toMatchObject([{ url: HOOK_URL, token: null }]);
});

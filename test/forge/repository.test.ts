import { afterEach, expect, test } from 'vitest';
import { createGitHubForge } from '../../activities/forge/github/index.js';
import { createGitLabForge } from '../../activities/forge/gitlab/index.js';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { createForges } from '../../activities/forge/forges.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { parseRepository } from '../../activities/forge/repository-ref.js';
import { FakeGitHub } from '../support/fake-github/index.js';
import { GitWorld } from '../support/git-world.js';
import { GitLabWorld, NOW } from './gitlab-world.js';

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const now = () => NOW;

async function github() {
  const fake = await FakeGitHub.start();
  running.push(fake);
  const app = fake.addApp(11, 'barista');
  const forge = createGitHubForge({
    apiUrl: fake.urls.api,
    app: { id: app.id, privateKey: app.privateKey },
    reviewer: null,
    dataDir: fake.world.path,
    now,
  });
  const named = (name: string) => parseRepository(`${fake.urls.web}/${name}`, { github: fake.urls.web, gitlab: null });
  return { fake, app, forge, named };
}

test('R11: a repository on GitHub is the one of its pull requests, also by the name it had before', async () => {
  const { fake, forge, named } = await github();
  fake.world.push({ 'a.ts': 'a\n' });
  const ref = await forge.repository(named(`${fake.repo.owner}/${fake.repo.name}`));
  expect(ref).toMatchObject({ forge: 'github', url: `${fake.urls.web}/${fake.repo.owner}/${fake.repo.name}` });
  expect(ref.repository).toBe((await forge.resolve(parsePullRequest(fake.pullRequest))).repository);
  fake.formerNames.push('acme/before');
  expect(await forge.repository(named('acme/before'))).toEqual(ref);
});

test('W9: an App that is not installed is named with the repository', async () => {
  const { fake, app, forge, named } = await github();
  app.installed = false;
  const asked = forge.repository(named(`${fake.repo.owner}/${fake.repo.name}`));
  await expect(asked).rejects.toMatchObject({ kind: 'refused', message: expect.stringMatching(/barista.* is not installed on/) });
  await expect(asked).rejects.toThrow(`${fake.repo.owner}/${fake.repo.name}`);
});

test('another GitHub than the one of this server is refused', async () => {
  const { forge } = await github();
  const elsewhere = parseRepository('https://github.com/acme/shop', { github: null, gitlab: null });
  await expect(forge.repository(elsewhere)).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('GITHUB_API_URL') });
});

test.each(['', '/gitlab'])(
  'R11: a project on GitLab is the one of its merge requests, also by the path it had before (%s)',
  async (prefix) => {
    const world = await new GitLabWorld().start({}, prefix);
    running.push(world);
    const { url, state } = world.gitlab;
    const forge = createGitLabForge({ url: `${url}/`, token: () => Promise.resolve(world.gitlab.token), now });
    world.git.push({ 'a.ts': 'a\n' });
    const named = (path: string) => parseRepository(`${url}/${path}`, { github: null, gitlab: url });
    const ref = await forge.repository(named('GROUP/sub-group/project'));
    expect(ref.url).toBe(`${url}/group/sub-group/project`);
    expect(ref.repository).toBe((await forge.resolve(world.ref)).repository);
    state.formerPath = 'group/before';
    expect(await forge.repository(named('group/before'))).toEqual(ref);
    await expect(forge.repository(named('group/other'))).rejects.toMatchObject({ kind: 'not_found' });
    const elsewhere = parseRepository('https://gitlab.com/group/project', { github: null, gitlab: null });
    await expect(forge.repository(elsewhere)).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('GITLAB_URL') });
  },
);

test('R11: a local repository is its git folder, from any work tree of it, and only below the folders that may be opened', async () => {
  const git = new GitWorld();
  running.push({ stop: () => git.dispose() });
  git.push({ 'a.ts': 'a\n' });
  const forge = createForges({ local: createLocalForge({ allowedRoots: [git.path], now }) });
  const ref = parseRepository(`local:${git.path}/`, { github: null, gitlab: null });
  const found = await forge.repository(ref);
  expect(found.repository).toBe((await forge.resolve(parsePullRequest(git.pullRequest))).repository);
  // Nothing is set up for one local repository.
  await forge.hook?.(found, true);
  await expect(forge.repository({ ...ref, path: '/etc' } as typeof ref)).rejects.toMatchObject({ kind: 'refused' });
  await expect(forge.repository(parseRepository('https://github.com/a/b', { github: null, gitlab: null }))).rejects.toThrow(
    'GITHUB_APP_ID',
  );
});

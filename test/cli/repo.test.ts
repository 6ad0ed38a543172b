import { afterAll, beforeAll, expect, test } from 'vitest';
import { barista, firstJson } from '../support/command.js';
import { addAgent, addPerson, type Person } from '../support/edge.js';
import { FakeGitHub, type FakeApp } from '../support/fake-github/index.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import { GitWorld } from '../support/git-world.js';
import { startWorld, type World } from '../support/world.js';

const PUBLIC_URL = 'https://barista.example.com';

let github: FakeGitHub;
let app: FakeApp;
let git: GitWorld;
let gitlab: FakeGitLab;
let world: World;
let adam: Person;
let operatorEnv: Record<string, string>;
beforeAll(async () => {
  github = await FakeGitHub.start();
  app = github.addApp(11, 'barista');
  const reviewer = github.addApp(12, 'barista-review');
  git = new GitWorld();
  gitlab = await FakeGitLab.start(git);
  const secrets = { github: 'secret of GitHub', gitlab: { secretToken: 'secret of GitLab', signingKey: null } };
  const keyed = ({ id, privateKey }: FakeApp) => ({ id, privateKey });
  world = await startWorld({
    publicUrl: PUBLIC_URL,
    forges: {
      github: { apiUrl: github.urls.api, app: keyed(app), reviewer: keyed(reviewer) },
      gitlab: { url: gitlab.url, token: gitlab.token },
      webhooks: secrets,
    },
  });
  adam = await addPerson(world.store, 'adam');
  operatorEnv = {
    DATABASE_URL: world.databaseUrl,
    PUBLIC_URL,
    GITHUB_API_URL: github.urls.api,
    GITHUB_APP_ID: String(app.id),
    GITHUB_APP_PRIVATE_KEY: app.privateKey,
    GITLAB_URL: gitlab.url,
    GITLAB_TOKEN: gitlab.token,
    GITLAB_WEBHOOK_SECRET: secrets.gitlab.secretToken,
  };
});
afterAll(async () => {
  await world.stop();
  github.stop();
  await gitlab.stop();
  git.dispose();
});

const as = (who: Person) => ({ BARISTA_URL: world.server.url, BARISTA_KEY: who.key });

/** Runs to its end and answers its JSON; fails where the command does. */
async function json(args: readonly string[], env: Record<string, string>) {
  const { code, out, err } = await barista([...args, '--json'], env);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
  return firstJson(out);
}

test('R11: repo link lets a person open rooms on GitHub and GitLab, repo unlink takes it back', async () => {
  github.world.push({ 'a.ts': 'a\n' });
  git.push({ 'a.ts': 'a\n' });
  const onGitHub = `${github.urls.web}/${github.repo.owner}/${github.repo.name}`;
  const onGitLab = `${gitlab.url}/${gitlab.state.projectPath}`;
  const opens = async (pullRequest: string) => (await world.rest(adam, 'POST', '/rooms', { pull_request: pullRequest })).status;
  expect([await opens(github.pullRequest), await opens(gitlab.pullRequest)]).toEqual([404, 404]);
  expect(await json(['repo', 'link', `${onGitHub}/pulls`, '--user', 'adam'], operatorEnv)).toEqual({
    user: { id: adam.id, name: 'adam' },
    forge: 'github',
    repository: `github:${new URL(github.urls.web).host}/${github.repo.id}`,
    url: onGitHub,
  });
  for (const times of [1, 2])
    expect(await barista(['repo', 'link', onGitLab, '--user', 'adam'], operatorEnv), String(times)).toEqual({
      code: 0,
      out: `@adam may open rooms on ${onGitLab}\n`,
      err: '',
    });
  expect([await opens(github.pullRequest), await opens(gitlab.pullRequest)]).toEqual([201, 201]);

  await addAgent(world.store, adam.id, 'grok');
  const set = await barista(
    [
      'repo',
      'set',
      onGitLab,
      '--automatic',
      '--crew',
      'grok',
      '--recipe',
      'build_duel',
      '--label',
      'review',
      '--no-barista',
      '--comment-instead',
    ],
    as(adam),
  );
  expect(set).toEqual({
    code: 0,
    out: `${onGitLab}\n  automatic rooms: build_duel, @grok, without Barista, label review\n  posts as: default, else a comment\n`,
    err: '',
  });
  expect(await json(['repo', 'set', onGitLab, '--any-label', '--barista'], as(adam))).toMatchObject({
    automatic: { recipe: 'build_duel', crew: [{ name: 'grok' }], barista: true, label: null },
    comment_instead: true,
  });
  expect(await json(['repo', 'set', onGitHub, '--post-as', 'operator', '--comment-instead'], as(adam))).toMatchObject({
    automatic: null,
    post_as: 'operator',
    comment_instead: true,
  });
  expect(await json(['repo', 'set', onGitHub, '--no-automatic', '--no-comment-instead'], as(adam))).toMatchObject({
    automatic: null,
    comment_instead: false,
  });
  expect(await json(['repo', 'set', onGitHub, '--post-as', 'default'], as(adam))).toMatchObject({ post_as: null });
  const listed = await barista(['repo', 'list'], as(adam));
  expect(listed.out).toMatch(/^REPOSITORY +AUTOMATIC ROOMS +POSTS AS\n/);
  expect(listed.out).toMatch(new RegExp(`^${onGitHub} +off +default$`, 'm'));
  expect(listed.out).toMatch(new RegExp(`^${onGitLab} +build_duel, @grok +default, else a comment$`, 'm'));
  expect(gitlab.state.hooks.list).toMatchObject([{ url: `${PUBLIC_URL}/webhooks/gitlab` }]);

  expect(await json(['repo', 'unlink', onGitLab, '--user', 'adam'], operatorEnv)).toMatchObject({ url: onGitLab, unlinked: true });
  expect(gitlab.state.hooks.list).toEqual([]);
  expect((await barista(['repo', 'unlink', onGitLab, '--user', 'adam'], operatorEnv)).out).toBe(`@adam was not linked to ${onGitLab}\n`);
  const { repositories } = await json(['repo', 'list'], as(adam));
  const row = (wanted: string) => repositories.find(({ url }: { url: string }) => url === wanted);
  expect(row(onGitHub)).toMatchObject({ linked: true });
  expect(row(onGitLab)).toMatchObject({ linked: false, automatic: null, comment_instead: true });
  expect((await world.rest(adam, 'PUT', '/repositories', { repository: onGitLab, automatic: { crew: [] } })).status).toBe(404);
});

test('R11: what a forge shows no more can be unlinked all the same', async () => {
  const onGitHub = `${github.urls.web}/${github.repo.owner}/${github.repo.name}`;
  await json(['repo', 'link', onGitHub], operatorEnv);
  app.installed = false;
  try {
    expect(await json(['repo', 'unlink', onGitHub], operatorEnv)).toMatchObject({ user: { name: 'olga' }, url: onGitHub, unlinked: true });
  } finally {
    app.installed = true;
  }
});

test('a refusal is one line with what to do', async () => {
  const refused = async (args: readonly string[], env: Record<string, string>) => {
    const { code, out, err } = await barista(args, env);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trim().split('\n')).toHaveLength(1);
    return err;
  };
  const onGitHub = `${github.urls.web}/${github.repo.owner}/${github.repo.name}`;
  expect(await refused(['repo', 'link', 'https://example.com/a/b'], operatorEnv)).toContain('is on no forge of this server');
  expect(await refused(['repo', 'link', 'https://github.com/a/b'], { DATABASE_URL: world.databaseUrl })).toContain('set GITHUB_APP_ID');
  expect(await refused(['repo', 'set', onGitHub, '--automatic', '--crew', 'nobody'], as(world.owner))).toContain(
    'you may not open rooms on it',
  );
  app.installed = false;
  expect(await refused(['repo', 'link', onGitHub], operatorEnv)).toContain(`is not installed on ${github.repo.owner}/${github.repo.name}`);
  app.installed = true;
  expect(await refused(['repo', 'unlink', `${github.urls.web}/no/such`], operatorEnv)).toContain('is not installed on no/such');
});

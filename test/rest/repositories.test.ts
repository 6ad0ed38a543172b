import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ForgeSettings } from '../../config/forge-settings.js';
import { startServer } from '../../mcp-server/server.js';
import { repositoryAnswer } from '../../mcp-server/views/repository.js';
import { PATIENT, settings, silent, type Person } from '../support/edge.js';
import { FakeGitHub, type FakeApp } from '../support/fake-github/index.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import { GitWorld } from '../support/git-world.js';
import { startWorld, type World } from '../support/world.js';

const PUBLIC_URL = 'https://barista.example.com';
const HOOK_URL = `${PUBLIC_URL}/webhooks/gitlab`;

let github: FakeGitHub;
let reviewer: FakeApp;
let operator: FakeApp;
let git: GitWorld;
let gitlab: FakeGitLab;
let world: World;
let olga: Person;
let adam: Person;
let forges: ForgeSettings;
beforeAll(async () => {
  github = await FakeGitHub.start();
  operator = github.addApp(11, 'barista');
  reviewer = github.addApp(12, 'barista-review');
  git = new GitWorld();
  gitlab = await FakeGitLab.start(git);
  forges = {
    github: {
      apiUrl: github.urls.api,
      app: { id: operator.id, privateKey: operator.privateKey },
      reviewer: { id: reviewer.id, privateKey: reviewer.privateKey },
    },
    gitlab: { url: gitlab.url, token: gitlab.token },
    webhooks: { github: 'secret of GitHub', gitlab: { secretToken: 'secret of GitLab', signingKey: null } },
  };
  world = await startWorld({ forges, publicUrl: PUBLIC_URL });
  olga = world.owner;
  adam = await world.person('adam');
});
afterAll(async () => {
  await world.stop();
  github.stop();
  await gitlab.stop();
  git.dispose();
});

const onGitHub = () => `${github.urls.web}/${github.repo.owner}/${github.repo.name}`;
const onGitLab = () => `${gitlab.url}/${gitlab.state.projectPath}`;
const githubKey = () => `github:${new URL(github.urls.web).host}/${github.repo.id}`;
const gitlabKey = () => `gitlab:${new URL(gitlab.url).host}#${gitlab.state.projectId}`;
const link = async (...people: Person[]) => {
  for (const { id } of people) {
    for (const place of [
      { forge: 'github', repository: githubKey(), url: onGitHub() },
      { forge: 'gitlab', repository: gitlabKey(), url: onGitLab() },
    ] as const) {
      await world.store.repositories.keep(id, place, {});
      await world.store.accounts.linkRepository(id, place.forge, place.repository);
    }
  }
};
const put = (who: Person, body: object) => world.rest(who, 'PUT', '/repositories', body);
/** What is set now; fails where it is refused. */
const set = async (who: Person, body: object) => {
  const { status, json, text } = await put(who, body);
  expect(status, text).toBe(200);
  return repositoryAnswer.parse(json);
};
const listed = async (who: Person) => (await world.rest(who, 'GET', '/repositories')).json.repositories;
const hooks = () => gitlab.state.hooks;

afterEach(async () => {
  for (const person of [olga, adam]) {
    for (const [forge, repository] of [
      ['github', githubKey()],
      ['gitlab', gitlabKey()],
    ] as const) {
      await world.store.repositories.keep(
        person.id,
        { forge, repository, url: 'x' },
        { automatic: null, postAs: null, commentInstead: false },
      );
      await world.store.accounts.unlinkRepository(person.id, forge, repository);
    }
  }
  hooks().list.splice(0);
  hooks().allowed = true;
  operator.installed = true;
});

describe('R11: an owner sets up the repositories that it may open rooms on', () => {
  test('the whole is answered, what is left out stays, and each owner has its own', async () => {
    await link(olga, adam);
    const [grok, rex] = [await world.agent('grok'), await world.agent('rex')];
    const first = await set(olga, { repository: onGitHub(), automatic: { crew: [rex.id, '@grok'] }, post_as: 'operator' });
    expect(first).toEqual({
      url: onGitHub(),
      forge: 'github',
      linked: true,
      automatic: {
        recipe: 'panel',
        crew: [
          { id: rex.id, name: 'rex' },
          { id: grok.id, name: 'grok' },
        ],
        barista: true,
        label: null,
      },
      post_as: 'operator',
      comment_instead: false,
      troubles: [],
    });
    const second = await set(olga, {
      repository: `${onGitHub()}/pull/7`,
      automatic: { label: 'review', recipe: 'build_duel' },
      comment_instead: true,
    });
    expect(second).toEqual({
      ...first,
      automatic: { ...first.automatic, label: 'review', recipe: 'build_duel' },
      comment_instead: true,
    });
    expect(await set(olga, { repository: onGitHub(), automatic: { label: null }, post_as: null })).toMatchObject({
      automatic: { recipe: 'build_duel', label: null },
      post_as: null,
      comment_instead: true,
    });
    expect(await set(olga, { repository: onGitHub() })).toMatchObject({ automatic: { recipe: 'build_duel' }, comment_instead: true });
    expect(await set(adam, { repository: onGitHub(), post_as: 'reviewer' })).toMatchObject({ automatic: null, post_as: 'reviewer' });
    expect(await set(olga, { repository: onGitHub(), automatic: null })).toMatchObject({ automatic: null, comment_instead: true });
    expect((await listed(adam)).map(({ url, post_as }: { url: string; post_as: string }) => [url, post_as])).toContainEqual([
      onGitHub(),
      'reviewer',
    ]);
  });

  test('another repository is not found, whether it is there or not, and its troubles are not shown', async () => {
    const { status, json } = await put(adam, { repository: onGitHub(), comment_instead: true });
    expect([status, json.code, json.field]).toEqual([404, 'not_found', 'repository']);
    const local = await put(adam, { repository: `local:${world.git.path}`, comment_instead: true });
    expect([local.status, local.json.detail]).toEqual([404, json.detail]);
    expect((await put(adam, { repository: 'local:/etc', comment_instead: true })).json.detail).toBe(json.detail);
    for (const address of [onGitLab(), `${gitlab.url}/no/such`, `${github.urls.web}/${github.repo.owner}/no-such`])
      expect((await put(adam, { repository: address })).json).toEqual(json);
    operator.installed = false;
    expect((await put(adam, { repository: onGitHub() })).json).toEqual(json);
    operator.installed = true;
    const rooms = async (pull_request: string) => (await world.rest(adam, 'POST', '/rooms', { pull_request })).json;
    const room = await rooms(github.pullRequest);
    expect([room.code, room.field]).toEqual(['not_found', 'pull_request']);
    for (const address of [
      `${onGitHub()}/pull/999`,
      `${github.urls.web}/acme/no-such/pull/1`,
      gitlab.pullRequest,
      `${onGitLab()}x/-/merge_requests/7`,
    ])
      expect(await rooms(address)).toEqual(room);
    await world.store.repositories.keep(adam.id, { forge: 'github', repository: githubKey(), url: onGitHub() }, { commentInstead: true });
    await world.store.forgeStates.troubled('github', githubKey(), {
      identity: 'operator',
      kind: 'refused',
      message: 'The App is suspended.',
      since: 1_893_456_000_000,
      until: null,
    });
    const row = async (who: Person) => (await listed(who)).find(({ url }: { url: string }) => url === onGitHub());
    expect(await row(adam)).toMatchObject({ linked: false, troubles: [] });
    await link(adam);
    expect(await row(adam)).toMatchObject({
      linked: true,
      troubles: [
        { identity: 'operator', kind: 'refused', message: 'The App is suspended.', since: '2030-01-01T00:00:00.000Z', until: null },
      ],
    });
    await world.store.forgeStates.mended('github', githubKey(), 'operator');
  });

  test('an agent key is not enough', async () => {
    const grok = await world.agent('keyed');
    expect((await world.rest(grok, 'GET', '/repositories')).status).toBe(403);
    expect((await put(grok, { repository: onGitHub() })).status).toBe(403);
  });

  test('W9: an App that is not installed is named with the repository', async () => {
    await link(olga);
    operator.installed = false;
    const { status, json } = await put(olga, { repository: onGitHub(), automatic: { crew: [] } });
    expect([status, json.code, json.field]).toEqual([404, 'not_found', 'repository']);
    expect(json.detail).toContain(`is not installed on ${github.repo.owner}/${github.repo.name}`);
  });

  test('what is wrong is named by its field, and nothing is stored', async () => {
    await link(olga);
    const [ana] = [await world.agent('ana')];
    const rob = await world.store.accounts.addAgent(adam.id, 'rob');
    const wrong = async (body: object) => {
      const { status, json } = await put(olga, { repository: onGitHub(), comment_instead: true, ...body });
      return [status, json.field, json.detail];
    };
    expect(await wrong({ automatic: { crew: ['ana', 'nobody', rob.id, ana.id] } })).toEqual([
      400,
      'automatic.crew[1]',
      expect.stringMatching(/"nobody" is none of your agents.*crew\[2\].*none of your agents.*crew\[3\].*is named before/),
    ]);
    expect(await wrong({ automatic: {} })).toEqual([400, 'automatic.crew', expect.stringContaining('is required')]);
    expect(await wrong({ automatic: { crew: Array(21).fill('ana') } })).toEqual([400, 'automatic.crew', expect.stringContaining('20')]);
    expect(await wrong({ automatic: { crew: [], lable: 'x' } })).toEqual([
      400,
      'automatic.lable',
      'automatic.lable: unknown field; known are: recipe, crew, barista, label.',
    ]);
    expect(await wrong({ automatic: { crew: [], recipe: 'soup' } })).toEqual([400, 'automatic.recipe', expect.stringContaining('panel')]);
    expect(await wrong({ automatic: 'yes' })).toEqual([400, 'automatic', 'automatic: must be an object, not a string.']);
    expect(await wrong({ post_as: 'me' })).toEqual([400, 'post_as', expect.stringContaining('operator, reviewer')]);
    expect(await wrong({ repository: 'shop' })).toEqual([
      400,
      'repository',
      expect.stringContaining('https://github.com/owner/repository'),
    ]);
    expect(await wrong({ repository: onGitLab(), post_as: 'reviewer' })).toEqual([400, 'post_as', expect.stringContaining('one identity')]);
    expect(await wrong({ repository: `local:${world.git.path}`, automatic: { crew: [] } })).toEqual([
      400,
      'automatic',
      expect.stringContaining('open its rooms yourself'),
    ]);
    expect((await world.store.repositories.settings(olga.id, 'github', githubKey())).commentInstead).toBe(false);
  });

  test('R6: a deleted agent leaves the crew, and does not come back with its name', async () => {
    await link(olga);
    const [gone, stays] = [await world.agent('gone'), await world.agent('stays')];
    await set(olga, { repository: onGitHub(), automatic: { crew: ['gone', 'stays'] } });
    await world.rest(olga, 'DELETE', `/agents/${gone.id}`);
    const crew = [{ id: stays.id, name: 'stays' }];
    expect((await listed(olga)).find(({ url }: { url: string }) => url === onGitHub()).automatic.crew).toEqual(crew);
    await world.agent('gone');
    expect((await set(olga, { repository: onGitHub(), automatic: { barista: false } })).automatic).toMatchObject({ crew, barista: false });
    expect((await world.store.repositories.settings(olga.id, 'github', githubKey())).automatic?.crew).toEqual([stays.id]);
  });

  test('a repository that was renamed keeps its settings, and is shown at its address of today', async () => {
    await link(olga);
    const before = onGitHub();
    await set(olga, { repository: before, automatic: { crew: [] }, comment_instead: true });
    const name = github.repo.name;
    github.formerNames.push(`${github.repo.owner}/${name}`);
    Object.assign(github.repo, { name: 'renamed' });
    try {
      expect(await set(olga, { repository: before, post_as: 'operator' })).toMatchObject({
        url: onGitHub(),
        automatic: { recipe: 'panel' },
        post_as: 'operator',
        comment_instead: true,
      });
      expect((await listed(olga)).filter(({ forge }: { forge: string }) => forge === 'github')).toMatchObject([{ url: onGitHub() }]);
    } finally {
      Object.assign(github.repo, { name });
      github.formerNames.pop();
    }
  });

  test('what a forge shows no more can be turned off all the same', async () => {
    await link(olga);
    await set(olga, { repository: onGitHub(), automatic: { crew: [] } });
    operator.installed = false;
    expect((await put(olga, { repository: onGitHub(), automatic: { crew: [] } })).status).toBe(404);
    expect(await set(olga, { repository: onGitHub(), automatic: null })).toMatchObject({ url: onGitHub(), automatic: null });
    expect((await put(adam, { repository: onGitHub(), automatic: null })).status).toBe(404);
  });

  test('two calls at once on different fields keep both', async () => {
    await link(olga);
    await Promise.all([
      set(olga, { repository: onGitHub(), comment_instead: true }),
      set(olga, { repository: onGitHub(), automatic: { crew: [] } }),
      set(olga, { repository: onGitHub(), post_as: 'operator' }),
    ]);
    expect(await set(olga, { repository: onGitHub() })).toMatchObject({ automatic: {}, comment_instead: true, post_as: 'operator' });
  });

  test('a repository that is linked and has no settings is listed with the defaults', async () => {
    await world.store.accounts.linkRepository(adam.id, 'local', 'local:/srv/repo/.git');
    expect((await listed(adam)).find(({ forge }: { forge: string }) => forge === 'local')).toEqual({
      url: 'local:/srv/repo/.git',
      forge: 'local',
      linked: true,
      automatic: null,
      post_as: null,
      comment_instead: false,
      troubles: [],
    });
    await world.store.accounts.unlinkRepository(adam.id, 'local', 'local:/srv/repo/.git');
  });
});

describe("P3: GitLab's hook exists only while automatic rooms are on", () => {
  const on = (who: Person) => put(who, { repository: onGitLab(), automatic: { crew: [] } });
  const off = (who: Person) => put(who, { repository: onGitLab(), automatic: null });
  const isOn = async (who: Person) => (await world.store.repositories.settings(who.id, 'gitlab', gitlabKey())).automatic !== null;
  const asWanted = [{ url: HOOK_URL, token: 'secret of GitLab', merge_requests_events: true, pipeline_events: true, push_events: false }];

  test('it comes with the first owner and goes with the last', async () => {
    await link(olga, adam);
    expect((await put(olga, { repository: onGitLab(), comment_instead: true })).status).toBe(200);
    expect(hooks().list).toEqual([]);
    for (const who of [olga, adam, olga]) expect((await on(who)).status).toBe(200);
    expect(hooks().list).toMatchObject(asWanted);
    expect((await off(olga)).json.automatic).toBeNull();
    expect(hooks().list).toMatchObject(asWanted);
    expect((await off(adam)).status).toBe(200);
    expect(hooks().list).toEqual([]);
  });

  test('a hook that was made and settings that were not kept, and the other way, are healed by the same call', async () => {
    await link(olga);
    gitlab.failures.push({ on: /^POST .*hooks/, status: 502, done: true });
    expect((await on(olga)).json.code).toBe('forge_unavailable');
    expect([await isOn(olga), hooks().list.length]).toEqual([false, 1]);
    expect((await on(olga)).status).toBe(200);
    expect(hooks().list).toMatchObject(asWanted);

    hooks().list.splice(0);
    gitlab.failures.push({ on: /^PUT .*hooks/, status: 503 });
    // Made before the settings, set right after them: here the second is what fails.
    expect((await on(olga)).json.code).toBe('forge_unavailable');
    expect([await isOn(olga), hooks().list.length]).toEqual([true, 1]);
    expect((await on(olga)).status).toBe(200);

    gitlab.failures.push({ on: /^DELETE .*hooks/, status: 502 });
    const { status, json } = await off(olga);
    expect([status, json.detail]).toEqual([
      502,
      expect.stringMatching(/^Automatic rooms are off, but .* The same call again tries it again\.$/),
    ]);
    expect([await isOn(olga), hooks().list.length]).toEqual([false, 1]);
    expect((await off(olga)).status).toBe(200);
    expect(hooks().list).toEqual([]);
  });

  test('one owner turns it on while the last other one turns it off: it is there', async () => {
    await link(olga, adam);
    for (let times = 0; times < 4; times++) {
      await on(olga);
      await Promise.all([off(olga), on(adam)]);
      expect(hooks().list).toMatchObject(asWanted);
      await off(adam);
      expect(hooks().list).toEqual([]);
    }
  });

  test('a token without the right is told the role it needs, and nothing is turned on', async () => {
    await link(olga);
    hooks().allowed = false;
    const { status, json } = await on(olga);
    expect([status, json.code]).toEqual([502, 'forge_unavailable']);
    expect(json.detail).toContain('the role Maintainer');
    expect(await isOn(olga)).toBe(false);
  });
});

test('what this server lacks for a choice is named with what to set', async () => {
  await link(olga);
  const bare: ForgeSettings = {
    github: { ...forges.github!, reviewer: null },
    gitlab: forges.gitlab,
    webhooks: { github: null, gitlab: { secretToken: null, signingKey: null } },
  };
  const server = await startServer({ ...settings(world.databaseUrl), forges: bare, publicUrl: PUBLIC_URL }, silent, undefined, PATIENT);
  const local = await startServer({ ...settings(world.databaseUrl), forges }, silent, undefined, PATIENT);
  const wrong = async (url: string, body: object) => {
    const response = await fetch(`${url}/api/v1/repositories`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${olga.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const json = (await response.json()) as { field: string; detail: string };
    return [response.status, json.field, json.detail];
  };
  try {
    const crew: string[] = [];
    expect(await wrong(server.url, { repository: onGitHub(), post_as: 'reviewer' })).toEqual([
      400,
      'post_as',
      expect.stringContaining('REVIEWER_APP_ID'),
    ]);
    expect(await wrong(server.url, { repository: onGitHub(), automatic: { crew } })).toEqual([
      400,
      'automatic',
      expect.stringContaining('GITHUB_WEBHOOK_SECRET'),
    ]);
    expect(await wrong(server.url, { repository: onGitLab(), automatic: { crew } })).toEqual([
      400,
      'automatic',
      expect.stringContaining('GITLAB_WEBHOOK_SECRET'),
    ]);
    expect(await wrong(local.url, { repository: onGitLab(), automatic: { crew } })).toEqual([
      400,
      'automatic',
      expect.stringContaining('PUBLIC_URL'),
    ]);
    // A sole field of a sort that needs nothing goes through.
    expect((await wrong(server.url, { repository: onGitHub(), post_as: 'operator' }))[0]).toBe(200);
  } finally {
    await server.stop();
    await local.stop();
  }
});

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventsOf } from '../../activities/forge/github/app-needs.js';
import { checkGitHub } from '../../cli/doctor/github.js';
import { checkGitLab } from '../../cli/doctor/gitlab.js';
import type { Finding } from '../../cli/doctor/finding.js';
import type { ReadLast } from '../../cli/doctor/deliveries.js';
import { readForgeSettings, type ForgeSettings } from '../../config/forge-settings.js';
import { keptAppFile, keptAppsFolder } from '../../config/kept-app.js';
import { startEdge, type Edge } from '../support/edge.js';
import { barista, firstJson } from '../support/command.js';
import { badGateway, FakeGitHub, primaryLimit, type FakeApp } from '../support/fake-github/index.js';
import type { FakeHook } from '../support/fake-gitlab/hooks.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import { GitWorld } from '../support/git-world.js';

const PUBLIC = 'https://barista.example.com';
const HOOK = `${PUBLIC}/webhooks/github`;
const NOW = Date.UTC(2030, 0, 7, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const now = () => NOW;
const NONE: ReadLast = async () => null;
const NO_FORGES = readForgeSettings({});
const sentence = ({ ok, what, says, do: todo }: Finding): string =>
  `${ok ? 'ok' : 'FAIL'} ${what}: ${says}${todo === undefined ? '' : ` | ${todo}`}`;

describe('GitHub', () => {
  let github: FakeGitHub;
  let app: FakeApp;
  let nextId = 401;
  beforeAll(async () => {
    github = await FakeGitHub.start();
  });
  afterAll(() => github.stop());
  /** An App in order, with its webhook. */
  beforeEach(() => {
    app = github.addApp(nextId++, 'barista-1');
    const { desk } = github;
    desk.events.set(app.id, eventsOf('operator'));
    desk.hooks.set(app.id, { url: HOOK, content_type: 'json', secret: '********', insecure_ssl: '0' });
    desk.alsoInstalledFor.length = 0;
    github.faults.length = 0;
  });

  const settingsPage = () => `${github.urls.web}/organizations/octo-org/settings/apps/barista-1`;

  interface Given {
    readonly publicUrl?: string | null;
    readonly secret?: string | null;
    readonly reviewer?: NonNullable<ForgeSettings['github']>['reviewer'];
    readonly last?: ReadLast | null;
    readonly privateKey?: string;
    readonly apiUrl?: string;
  }

  async function said(given: Given = {}) {
    const {
      publicUrl = PUBLIC,
      secret = 'hook',
      reviewer = null,
      last = NONE,
      privateKey = app.privateKey,
      apiUrl = github.urls.api,
    } = given;
    const forges: ForgeSettings = {
      ...NO_FORGES,
      github: { apiUrl, app: { id: app.id, privateKey }, reviewer },
      webhooks: { ...NO_FORGES.webhooks, github: secret },
    };
    return (await checkGitHub({ publicUrl, forges }, last, now)).map(sentence);
  }

  const sent = (minutesAgo: number, status: number, says: string, event = 'pull_request') => ({
    id: minutesAgo,
    guid: `guid-${minutesAgo}`,
    delivered_at: new Date(NOW - minutesAgo * MINUTE).toISOString(),
    redelivery: false,
    duration: 0.2,
    status: says,
    status_code: status,
    event,
    action: 'synchronize',
    installation_id: app.installationId,
    repository_id: 4_242,
  });

  test('not set up: one line that is ok, with the command', async () => {
    const lines = await checkGitHub({ publicUrl: null, forges: NO_FORGES }, NONE, now);
    expect(lines.map(sentence)).toEqual(['ok GitHub: not set up (npx barista github setup does it)']);
  });

  test('where no database can be asked, nothing is said of what came', async () => {
    expect((await said({ last: null })).filter((line) => line.includes('last delivery'))).toEqual([]);
  });

  test('everything in order, with a delivery that came', async () => {
    github.desk.deliveries.set(app.id, [sent(3, 202, 'OK'), sent(5, 502, 'failed to connect to host'), sent(9, 202, 'OK')]);
    expect(await said({ last: async () => ({ what: 'pushed', at: NOW - 3 * MINUTE }) })).toEqual([
      `ok GitHub App: barista-1 (${app.id}, of octo-org), named by the environment; GitHub takes its key`,
      'ok GitHub App: permissions: all that are needed',
      'ok GitHub App: events: all that are needed',
      'ok GitHub App: installations: 1 (octo-org)',
      `ok GitHub webhook: GitHub sends to ${HOOK}, and its secret is known here`,
      'ok deliveries that GitHub sent: the last was taken (pull_request, 3 minutes ago, 202 OK); 1 of the last 3 were not',
      'ok last delivery from GitHub: 3 minutes ago: pushed',
    ]);
  });

  test('without an address that GitHub reaches: that is in order, and how to be told at once', async () => {
    for (const publicUrl of [null, 'http://localhost:7337']) {
      expect((await said({ publicUrl, secret: null })).slice(2)).toEqual([
        'ok GitHub App: installations: 1 (octo-org)',
        'ok GitHub webhook: none: pushes are found by looking every 5 minutes; to be told at once, set PUBLIC_URL to an address that GitHub reaches',
        'ok last delivery from GitHub: none has come yet',
      ]);
    }
  });

  test('a key that GitHub does not take ends the checks of this App, and says what to do', async () => {
    const lines = await said({ privateKey: github.addApp(400, 'other').privateKey });
    expect(lines).toEqual([
      `FAIL GitHub App: GitHub does not take this key for App ${app.id}: it was revoked, or it belongs to another App. | Make a new private key on the App's page if it was revoked, and name its file by GITHUB_APP_PRIVATE_KEY_FILE.`,
      'ok last delivery from GitHub: none has come yet',
    ]);
  });

  test('a GitHub that fails, cannot be reached, or takes no more calls: each with what to do', async () => {
    const check = 'Check the network from this machine, whether the forge is up, and GITHUB_API_URL.';
    github.faults.push(badGateway(/GET \/app$/));
    expect((await said())[0]).toBe(`FAIL GitHub App: GitHub answers 502 at ${github.urls.api}. | ${check}`);
    github.faults.push(badGateway(/GET \/app\/installations/));
    expect((await said())[1]).toBe(`FAIL GitHub App: installations: GitHub answers 502 at ${github.urls.api}. | ${check}`);
    expect((await said({ apiUrl: 'http://127.0.0.1:9' }))[0]).toMatch(/^FAIL GitHub App: .*127\.0\.0\.1:9.* \| Check the network /);
    github.faults.push(primaryLimit(/GET \/app$/, (NOW + 40 * MINUTE) / 1_000));
    expect((await said())[0]).toBe(
      'FAIL GitHub App: GitHub takes no more calls until 12:41 UTC (its rate limit). | Wait: Barista goes on by itself then.',
    );
  });

  test('a permission that the App lacks, and one that an installation has not accepted', async () => {
    Object.assign(app.permissions, { pull_requests: 'read', checks: undefined });
    expect((await said())[1]).toBe(
      `FAIL GitHub App: permissions: it lacks pull_requests (write): pull requests cannot be read and reviews cannot be posted; checks (read): check runs are unknown | Give them at ${settingsPage()}/permissions, then accept them where it is installed.`,
    );
    Object.assign(app.permissions, { pull_requests: 'write', checks: 'read' });
    github.desk.accepted.set(app.id, { ...app.permissions, statuses: undefined } as FakeApp['permissions']);
    expect((await said())[1]).toBe(
      `FAIL GitHub App: permissions: octo-org has not accepted statuses (read): commit statuses are unknown | Accept them at ${github.urls.web}/organizations/octo-org/settings/installations/${app.installationId}.`,
    );
  });

  test('events that it is not told of', async () => {
    github.desk.events.set(app.id, ['pull_request', 'push']);
    expect((await said())[2]).toBe(
      `FAIL GitHub App: events: it is not told of check_run, check_suite, status | Subscribe it at ${settingsPage()}/permissions.`,
    );
  });

  test('installations: none, a suspended one, and more than one page of them', async () => {
    app.installed = false;
    expect((await said())[3]).toBe(
      `FAIL GitHub App: installations: installed nowhere | Install it at ${github.urls.web}/apps/barista-1/installations/new`,
    );
    app.installed = true;
    app.suspended = true;
    expect((await said())[3]).toBe(
      `FAIL GitHub App: installations: suspended for octo-org | Lift it at ${github.urls.web}/organizations/octo-org/settings/installations/${app.installationId}.`,
    );
    app.suspended = false;
    github.desk.alsoInstalledFor.push(...Array.from({ length: 100 }, (_, index) => `org-${index}`));
    expect((await said())[3]).toBe('ok GitHub App: installations: 101 (octo-org, org-0, org-1, org-2, org-3 and 96 more)');
  });

  test('a webhook that is not active', async () => {
    github.desk.hooks.delete(app.id);
    const lines = await said();
    expect(lines[4]).toBe(
      `FAIL GitHub webhook: the App has no active webhook, so that pushes are found by looking every 5 minutes | Set ${HOOK} and a secret at ${settingsPage()} to be told at once.`,
    );
    expect(lines[5]).toBe('ok last delivery from GitHub: none has come yet');
  });

  test('a webhook that goes elsewhere, as a form, and without a secret on either side', async () => {
    github.desk.hooks.set(app.id, { url: 'https://old.example.com/hook', content_type: 'form', insecure_ssl: '0' });
    expect((await said({ secret: null }))[4]).toBe(
      `FAIL GitHub webhook: GitHub sends to https://old.example.com/hook, not to ${HOOK}; GitHub sends it as a form; it has no secret at GitHub; no secret is known here, so that no delivery is taken` +
        ` | Change it at ${settingsPage()}, or set PUBLIC_URL. Choose application/json at ${settingsPage()}. Set one at ${settingsPage()}. Name the file that holds it by GITHUB_WEBHOOK_SECRET_FILE.`,
    );
  });

  test.each([
    [401, 'Unauthorized', '401 Unauthorized', "The secret here is another than the App's"],
    [404, 'Not Found', '404 Not Found', `Nothing takes deliveries at ${HOOK}`],
    [0, 'timed out', 'timed out', `GitHub must reach ${HOOK}`],
    [502, 'Bad Gateway', '502 Bad Gateway', `GitHub must reach ${HOOK}`],
  ])('deliveries that were not taken (%d): why, and where to send them again', async (status, says, shown, why) => {
    github.desk.deliveries.set(app.id, [sent(2, status, says), sent(4, status, says), sent(6, 202, 'OK')]);
    const line = (await said())[5];
    expect(line).toContain(
      `FAIL deliveries that GitHub sent: the last was not taken (pull_request, 2 minutes ago, ${shown}), nor 1 of the 2 before it | ${why}`,
    );
    expect(line).toContain(`GitHub does not send them again by itself: ${settingsPage()}/advanced does.`);
  });

  test('a webhook through which nothing was sent yet', async () => {
    expect((await said())[5]).toBe('ok deliveries that GitHub sent: none yet');
  });

  test('a reviewer App is checked by its own needs, without a webhook', async () => {
    const { id, privateKey } = github.addApp(nextId++, 'reviews', { metadata: 'read', pull_requests: 'write' });
    const reviewer = { id, privateKey, keptIn: '/data/github/reviewer.json' };
    expect((await said({ reviewer })).slice(6, 9)).toEqual([
      `ok reviewer App: reviews (${id}, of octo-org), kept in /data/github/reviewer.json; GitHub takes its key`,
      'ok reviewer App: permissions: all that are needed',
      'ok reviewer App: installations: 1 (octo-org)',
    ]);
    const lines = await said({ reviewer: { ...reviewer, privateKey: app.privateKey } });
    expect(lines[6]).toMatch(/^FAIL reviewer App: .* then run barista github setup --reviewer --app-id \d+ --private-key-file FILE\.$/);
  });

  test('no line holds a key', async () => {
    const lines = await said({ secret: 'the-hook-secret' });
    expect(lines.join('\n')).not.toMatch(/PRIVATE KEY|the-hook-secret/);
  });
});

describe('GitLab', () => {
  let git: GitWorld;
  let gitlab: FakeGitLab;
  beforeEach(async () => {
    git = new GitWorld();
    gitlab = await FakeGitLab.start(git);
    return async () => {
      await gitlab.stop();
      git.dispose();
    };
  });

  interface Given {
    readonly publicUrl?: string | null;
    readonly token?: string;
    readonly gitlabHook?: ForgeSettings['webhooks']['gitlab'];
    /** Where rooms open by themselves. */
    readonly hooked?: readonly string[];
  }

  async function said(more: Given = {}) {
    const { publicUrl = PUBLIC, token = gitlab.token, gitlabHook = { secretToken: 'hook', signingKey: null }, hooked = [] } = more;
    const forges: ForgeSettings = {
      ...NO_FORGES,
      gitlab: { url: gitlab.url, token },
      webhooks: { ...NO_FORGES.webhooks, gitlab: gitlabHook },
    };
    const last: ReadLast = async () => ({ what: 'pushed', at: NOW - MINUTE });
    return (await checkGitLab({ publicUrl, forges }, last, async () => hooked, now)).map(sentence);
  }

  const fresh = () =>
    `Make one with the scope api at ${gitlab.url}/-/user_settings/personal_access_tokens and put it where GITLAB_TOKEN or GITLAB_TOKEN_FILE has the old one.`;

  test('not set up: one line that is ok, with the setting', async () => {
    expect((await checkGitLab({ publicUrl: null, forges: NO_FORGES }, NONE, null, now)).map(sentence)).toEqual([
      'ok GitLab: not set up (GITLAB_TOKEN_FILE names the file of an access token with the scope api)',
    ]);
  });

  test('everything in order', async () => {
    expect(await said()).toEqual([
      `ok GitLab token: GitLab at ${gitlab.url} takes barista, which has the scope api`,
      `ok GitLab webhook: taken at ${PUBLIC}/webhooks/gitlab, by their secret token`,
      'ok last delivery from GitLab: 1 minute ago: pushed',
    ]);
    const signingKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect((await said({ gitlabHook: { secretToken: null, signingKey } }))[1]).toContain('by their signature');
  });

  test.each([
    ['2030-01-21', 'but only until 2030-01-21'],
    ['2030-01-08', 'but only until 2030-01-08'],
  ])('a token that ends soon (%s) is told, with where to make another', async (until, says) => {
    gitlab.tokenFacts.expires_at = until;
    expect((await said())[0]).toBe(`ok GitLab token: GitLab at ${gitlab.url} takes barista, which has the scope api, ${says} | ${fresh()}`);
  });

  test('a token that ends later is in order', async () => {
    gitlab.tokenFacts.expires_at = '2030-01-22';
    expect((await said())[0]).toBe(`ok GitLab token: GitLab at ${gitlab.url} takes barista, which has the scope api, until 2030-01-22`);
  });

  test('a token with too little scope, one that is refused, and a GitLab that fails', async () => {
    gitlab.tokenFacts.scopes = ['read_api', 'read_user'];
    expect((await said())[0]).toBe(`FAIL GitLab token: barista has the scopes read_api, read_user, not api | ${fresh()}`);
    const refused = (await said({ token: 'glpat-hunter2' }))[0];
    expect(refused).toMatch(/^FAIL GitLab token: GitLab refuses the token \(401\)/);
    expect(refused).toContain(fresh());
    expect(refused).not.toContain('hunter2');
    gitlab.failures.push({ on: /personal_access_tokens/, status: 503 });
    expect((await said())[0]).toBe(
      'FAIL GitLab token: GitLab failed at personal_access_tokens/self (503). | Check the network from this machine, whether the forge is up, and GITLAB_URL.',
    );
  });

  test('without an address that GitLab reaches, or without a secret: looking is in order, and how to be told at once', async () => {
    expect((await said({ publicUrl: null }))[1]).toBe(
      'ok GitLab webhook: none: pushes are found by looking every 5 minutes; to be told at once, set PUBLIC_URL to an address that GitLab reaches',
    );
    expect((await said({ gitlabHook: { secretToken: null, signingKey: null } }))[1]).toBe(
      `ok GitLab webhook: none: pushes are found by looking every 5 minutes; to be told at once, set GITLAB_WEBHOOK_SECRET_FILE, and a webhook of the project to ${PUBLIC}/webhooks/gitlab`,
    );
  });

  describe("a GitLab project's webhook, where rooms open by themselves", () => {
    const ADDRESS = `${PUBLIC}/webhooks/gitlab`;
    const project = () => `${gitlab.url}/${gitlab.state.projectPath}`;
    const page = () => `${project()}/-/hooks`;
    const hook = (more: Partial<FakeHook> = {}) =>
      Object.assign(gitlab.state.hooks.add(ADDRESS), { merge_requests_events: true, pipeline_events: true, ...more });

    /** What stands between what is said of GitLab itself and of its last delivery. */
    const saidOf = async (hooked: readonly string[] = [project()]) => (await said({ hooked })).slice(2, -1);

    test('in order, also where an older one beside it is not; that of another GitLab is not asked for', async () => {
      hook({ alert_status: 'disabled' });
      hook();
      expect(await saidOf([project(), 'https://gitlab.elsewhere.example/group/project'])).toEqual([
        `ok GitLab webhooks: GitLab sends to ${ADDRESS} from group/sub-group/project`,
      ]);
      expect(await saidOf([])).toEqual([]);
    });

    test('missing, or to another address, of which no more than the host is told', async () => {
      gitlab.state.hooks.add('https://ci.example.com/hook');
      expect(await saidOf()).toEqual([
        `FAIL GitLab webhook of group/sub-group/project: there is none to ${ADDRESS}, so that pushes are found by looking every 5 minutes | Run barista repo set ${project()} --automatic again, or add it at ${page()}.`,
      ]);
      gitlab.state.hooks.add('https://old.example.com/hunter2/webhooks/gitlab');
      expect(await saidOf()).toEqual([
        `FAIL GitLab webhook of group/sub-group/project: GitLab sends to https://old.example.com, not to ${ADDRESS} | Change it at ${page()}, or set PUBLIC_URL.`,
      ]);
    });

    test('turned off by GitLab for good, or for a time', async () => {
      const again = `Let GitLab reach ${ADDRESS} (its answers are at ${page()}, Edit, Recent events); a test from there turns it on again.`;
      const made = hook({ alert_status: 'disabled' });
      expect(await saidOf()).toEqual([
        `FAIL GitLab webhook of group/sub-group/project: GitLab has turned it off, for its deliveries failed too often; pushes are found by looking every 5 minutes | ${again}`,
      ]);
      Object.assign(made, { alert_status: 'temporarily_disabled', disabled_until: '2030-01-07T12:30:00.000Z' });
      expect(await saidOf()).toEqual([
        `FAIL GitLab webhook of group/sub-group/project: GitLab sends nothing until 2030-01-07T12:30:00.000Z, for its last deliveries failed | ${again}`,
      ]);
    });

    test('without an event that is needed', async () => {
      hook({ merge_requests_events: false, pipeline_events: false });
      expect(await saidOf()).toEqual([
        `FAIL GitLab webhook of group/sub-group/project: it is not told of merge requests and pipelines | Choose them at ${page()}.`,
      ]);
    });

    test('a token that may not read them says so and finds no fault; a project that it may not see is one', async () => {
      gitlab.state.hooks.allowed = false;
      expect(await saidOf()).toEqual([
        'ok GitLab webhooks: not shown to the token, which needs the role Maintainer for it: those of group/sub-group/project',
      ]);
      expect(await saidOf([`${gitlab.url}/group/gone`])).toEqual([
        expect.stringMatching(/^FAIL GitLab webhook of group\/gone: GitLab has no .* \(404\)/),
      ]);
    });
  });
});

describe('as the command says it', () => {
  let edge: Edge;
  const dataDir = mkdtempSync(join(tmpdir(), 'barista-doctor-forges-'));
  beforeAll(async () => {
    edge = await startEdge();
  });
  afterAll(async () => {
    await edge.stop();
    rmSync(dataDir, { recursive: true });
  });
  const checks = async (env: Record<string, string>): Promise<{ code: number | null; all: Finding[]; out: string }> => {
    const { code, out } = await barista(['doctor', '--json'], {
      DATABASE_URL: edge.databaseUrl,
      BARISTA_URL: edge.server.url,
      BARISTA_DATA_DIR: dataDir,
      ...env,
    });
    return { code, all: firstJson(out).checks, out };
  };

  test('what came last is read from the database, and a kept App is the one that is checked', async () => {
    const github = await FakeGitHub.start();
    const { id, privateKey } = github.addApp(451, 'kept-one');
    mkdirSync(keptAppsFolder(dataDir));
    const kept = {
      id,
      name: 'kept-one',
      html_url: 'x',
      api_url: github.urls.api,
      private_key: privateKey,
      webhook_secret: 'the-hook-secret',
    };
    writeFileSync(keptAppFile(dataDir, 'operator'), JSON.stringify(kept), { mode: 0o600 });
    await edge.store.deliveries.came('github', { id: 'a-delivery', what: 'pushed', at: Date.now() - 3 * HOUR });
    const { all, out } = await checks({ LOG_LEVEL: 'info' });
    github.stop();
    const lines = all.map(sentence);
    expect(lines).toContain(
      `ok GitHub App: kept-one (${id}, of octo-org), kept in ${keptAppFile(dataDir, 'operator')}; GitHub takes its key`,
    );
    expect(lines).toContainEqual(expect.stringMatching(/^ok last delivery from GitHub: 3 hours ago: pushed$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ok GitLab: not set up/));
    expect(out).not.toMatch(/PRIVATE KEY|the-hook-secret/);
  });

  test('the webhooks of the projects where some owner has automatic rooms are looked at, each once', async () => {
    const git = new GitWorld();
    const gitlab = await FakeGitLab.start(git);
    const url = `${gitlab.url}/${gitlab.state.projectPath}`;
    const place = { forge: 'gitlab', repository: 'gitlab:a#4242', url } as const;
    const automatic = { recipe: 'panel', crew: [], barista: true, label: null } as const;
    for (const name of ['mara', 'nils']) {
      const { id } = await edge.store.accounts.addUser(name);
      await edge.store.repositories.keep(id, place, { automatic });
      await edge.store.repositories.keep(id, { ...place, repository: 'gitlab:a#1', url: `${url}-by-hand` }, { automatic: null });
    }
    const { all } = await checks({
      GITLAB_URL: gitlab.url,
      GITLAB_TOKEN: gitlab.token,
      GITLAB_WEBHOOK_SECRET: 'a-secret-of-the-hook',
      PUBLIC_URL: PUBLIC,
    });
    await gitlab.stop();
    git.dispose();
    const found = all.filter(({ what }) => what.startsWith('GitLab webhook of'));
    expect(found).toMatchObject([{ what: 'GitLab webhook of group/sub-group/project', ok: false }]);
  });

  test('a wrong setting is a line of its own, and a key file that others can read is named', async () => {
    const token = join(dataDir, 'gitlab-token');
    writeFileSync(token, 'glpat-hunter2\n', { mode: 0o600 });
    chmodSync(token, 0o644);
    chmodSync(keptAppFile(dataDir, 'operator'), 0o644);
    const { code, all, out } = await checks({ GITLAB_TOKEN_FILE: token, GITLAB_TOKEN: 'glpat-hunter2' });
    expect(code).toBe(1);
    const lines = all.map(sentence);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^FAIL settings: GITLAB_TOKEN and GITLAB_TOKEN_FILE are both set: keep one of them.* \| Change it in the environment or in \.env\.$/,
      ),
    );
    const files = lines.find((line) => line.includes('key files'));
    expect(files).toContain('FAIL key files: others can read a key');
    for (const file of [token, keptAppFile(dataDir, 'operator')])
      expect(files).toContain(`Others can read ${file}: run chmod 600 ${file}.`);
    expect(out).not.toContain('hunter2');
  });
});

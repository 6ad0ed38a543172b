import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Interrupted } from '../../cli/interrupted.js';
import { takeKeptApps } from '../../cli/github/keep.js';
import { receiveApp } from '../../cli/github/pages.js';
import { makeApp, takeApp, type MakeOptions, type SetUp } from '../../cli/github/setup.js';
import { readForgeSettings } from '../../config/forge-settings.js';
import { keptAppFile, keptAppsFolder, readKeptApp, type KeptApp } from '../../config/kept-app.js';
import { lockDataDir } from '../../stack/lock.js';
import { announce } from '../../stack/running.js';
import { formAt, postForm, sayYes } from '../support/browser.js';
import { barista, firstJson, start } from '../support/command.js';
import { badGateway, FakeGitHub, type FakeApp } from '../support/fake-github/index.js';

let github: FakeGitHub;
let dataDir: string;
const folder = mkdtempSync(join(tmpdir(), 'barista-github-setup-'));
beforeAll(async () => {
  github = await FakeGitHub.start();
});
beforeEach(() => {
  dataDir = mkdtempSync(join(folder, 'data-'));
});
afterAll(() => {
  github.stop();
  rmSync(folder, { recursive: true });
});

const PUBLIC = 'https://barista.example.com';
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function fileWith(text: string): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'held');
  writeFileSync(path, text);
  return path;
}

/** `barista github setup`, and the link it shows. */
async function startSetup(args: readonly string[], env: Record<string, string> = {}) {
  const running = start(['github', 'setup', '--github', github.urls.web, ...args, '--json'], { BARISTA_DATA_DIR: dataDir, ...env });
  const link = await running.saw((out) => firstJson(out)?.open as string | undefined);
  const done = running.ended.then(({ code, out, err }) => ({ code, out, err, json: JSON.parse(out.trim().split('\n').at(-1)!) }));
  return { ...running, link, done };
}

interface Begun {
  readonly link: string;
  readonly warnings: string[];
  readonly ended: Promise<SetUp>;
}

/** The same within this process. */
async function begin(options: Partial<MakeOptions> = {}): Promise<Begun> {
  const warnings: string[] = [];
  let opened: (link: string) => void = () => undefined;
  const link = new Promise<string>((resolve) => (opened = resolve));
  const ended = makeApp({
    ...TAKING(),
    org: undefined,
    name: undefined,
    publicUrl: PUBLIC,
    opened,
    warn: (line) => warnings.push(line),
    signal: new AbortController().signal,
    ...options,
  });
  ended.catch(() => undefined);
  return { link: await Promise.race([link, ended.then(() => link)]), warnings, ended };
}

const TAKING = () => ({
  dataDir,
  role: 'operator' as const,
  webUrl: github.urls.web,
  apiUrl: null,
  operatorNamed: false,
  now: () => Date.now(),
  webhookSecretFile: undefined,
});

const take = ({ id, privateKey }: { id: number; privateKey: string }, more: { webhookSecretFile?: string } = {}): Promise<SetUp> =>
  takeApp({ ...TAKING(), id, privateKeyFile: fileWith(privateKey), ...more });

describe('making an App', () => {
  test('as a browser does it: the form, GitHub, and back; what is kept is used by the settings, and readable by its user alone', async () => {
    const { link, done } = await startSetup(['--org', 'octo-org', '--name', 'Our barista', '--url', `${PUBLIC}/`]);
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/);
    const { action, manifest } = await formAt(link);
    expect(action).toMatch(new RegExp(`^${github.urls.web}/organizations/octo-org/settings/apps/new\\?state=[\\w-]{43}$`));
    expect(JSON.parse(manifest)).toEqual({
      name: 'Our barista',
      url: PUBLIC,
      hook_attributes: { url: `${PUBLIC}/webhooks/github`, active: true },
      redirect_url: `${new URL(link).origin}/callback`,
      public: false,
      default_permissions: {
        metadata: 'read',
        contents: 'read',
        pull_requests: 'write',
        issues: 'read',
        checks: 'read',
        statuses: 'read',
      },
      default_events: ['pull_request', 'check_run', 'check_suite', 'status'],
    });
    const { status, html } = await sayYes(link);
    const app = github.apps.at(-1) as FakeApp;
    const install = `${github.urls.web}/apps/our-barista/installations/new`;
    expect({ status, html }).toEqual({ status: 200, html: expect.stringContaining(install) });
    const { code, out, err, json } = await done;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const file = keptAppFile(dataDir, 'operator');
    expect(json).toEqual({
      app: {
        id: app.id,
        name: 'our-barista',
        owner: 'octo-org',
        role: 'operator',
        url: `${github.urls.web}/apps/our-barista`,
        settings_url: `${github.urls.web}/organizations/octo-org/settings/apps/our-barista`,
        install_url: install,
      },
      kept_in: file,
      notes: [`Set PUBLIC_URL=${PUBLIC} where Barista starts.`, 'The next npm start on this data folder uses it.'],
    });
    expect([modeOf(keptAppsFolder(dataDir)), modeOf(file)]).toEqual(['700', '600']);
    expect(readdirSync(keptAppsFolder(dataDir))).toEqual(['app.json']);
    const read = readForgeSettings({}, dataDir);
    expect(read.github).toMatchObject({ apiUrl: github.urls.api, app: { id: app.id, keptIn: file }, reviewer: null });
    const pkcs8 = createPrivateKey(String(read.github?.app.privateKey)).export({ type: 'pkcs8', format: 'pem' });
    expect(pkcs8).toBe(app.privateKey);
    expect(read.webhooks.github).toMatch(/^[0-9a-f]{40}$/);
    for (const text of [out, html]) expect(text).not.toMatch(new RegExp(`PRIVATE KEY|${read.webhooks.github}`));
  });

  test('without an address that GitHub reaches it has no webhook, and so no events; one that runs is to be started again', async () => {
    const release = lockDataDir(dataDir);
    announce(dataDir, { pid: process.pid, url: '', databaseUrl: '', temporalAddress: '', temporalNamespace: '', temporalUi: null });
    const running = start(['github', 'setup', '--github', github.urls.web], {
      BARISTA_DATA_DIR: dataDir,
      PUBLIC_URL: 'http://localhost:7337',
    });
    const link = await running.saw((out) => /^Open this in your browser, on this machine: (\S+)\n/.exec(out)?.[1]);
    await sayYes(link);
    const { code, out, err } = await running.ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { name } = readKeptApp(dataDir, 'operator') as KeptApp;
    expect(name).toMatch(/^barista-[0-9a-f]{6}$/);
    const manifest = github.desk.manifests.at(-1);
    expect(manifest).toMatchObject({ name, url: github.urls.web });
    expect(Object.keys(manifest ?? {}).sort()).toEqual(['default_permissions', 'name', 'public', 'redirect_url', 'url']);
    const { id } = github.apps.at(-1) as FakeApp;
    expect(out.split('\n').slice(2)).toEqual([
      `The GitHub App ${name} (${id}, of robin) is kept in ${keptAppFile(dataDir, 'operator')}, readable by you alone.`,
      `Install it on the repositories that it is for: ${github.urls.web}/apps/${name}/installations/new`,
      'Pushes are found by looking every 5 minutes: PUBLIC_URL is not set to an address that GitHub reaches.',
      `Barista runs on this data folder (process ${process.pid}): end it with Ctrl-C and start it again to use it.`,
      '',
    ]);
    expect(readForgeSettings({}, dataDir).webhooks.github).toBeNull();
    release();
  });

  test('a reviewer App comes after the operator App, on the same GitHub, and may do less', async () => {
    const alone = await makeAppFails({ role: 'reviewer' });
    expect(alone).toBe('A reviewer App posts beside an operator App: run barista github setup without --reviewer first.');
    await take(github.addApp(301, 'the-operator'));
    const elsewhere = await makeAppFails({ role: 'reviewer', webUrl: 'https://github.example.com' });
    expect(elsewhere).toBe(
      `--github names https://github.example.com, but the operator App is for ${github.urls.api}: give the same GitHub, or change that first.`,
    );
    const { link, ended } = await begin({ role: 'reviewer', webUrl: null });
    await sayYes(link);
    const { app, keptIn } = await ended;
    expect(github.desk.manifests.at(-1)).toMatchObject({ default_permissions: { metadata: 'read', pull_requests: 'write' } });
    expect(github.desk.manifests.at(-1)).not.toHaveProperty('hook_attributes');
    expect(keptIn).toBe(keptAppFile(dataDir, 'reviewer'));
    expect(readForgeSettings({}, dataDir).github).toMatchObject({ app: { id: 301 }, reviewer: { id: app.id } });
  });

  test('a new one takes the place of the old, which is named', async () => {
    const first = await begin({ name: 'first-one' });
    await sayYes(first.link);
    const { app: old } = await first.ended;
    const second = await begin({ name: 'second-one' });
    await sayYes(second.link);
    expect((await second.ended).replaced).toMatchObject({ id: old.id, name: 'first-one' });
    expect(readForgeSettings({}, dataDir).github?.app.id).toBe((await second.ended).app.id);
  });

  test('the environment wins, and setup says so', async () => {
    const { privateKey } = github.addApp(302, 'taken');
    const env = { BARISTA_DATA_DIR: dataDir, GITHUB_APP_ID: '12', PUBLIC_URL: PUBLIC };
    const args = ['github', 'setup', '--github', github.urls.web, '--app-id', '302', '--private-key-file', fileWith(privateKey), '--json'];
    const { code, out } = await barista(args, env);
    expect(code).toBe(0);
    expect(firstJson(out).notes).toContain(
      'GITHUB_APP_ID is set and wins over it: unset it and GITHUB_APP_PRIVATE_KEY (or …_FILE) to use this one.',
    );
  });
});

async function makeAppFails(options: Partial<MakeOptions>): Promise<string> {
  return begin(options).then(
    () => 'it did not fail',
    (error: Error) => error.message,
  );
}

/** Why it ended, as it is printed. */
async function failureOf({ ended }: Pick<Begun, 'ended'>): Promise<string> {
  return ended.then(
    () => 'it did not fail',
    (error: Error) => error.message,
  );
}

const notKept = () => `If ${github.urls.web}/settings/apps shows the App all the same, delete it there and run barista github setup again.`;

describe('what can go wrong while an App is made', () => {
  test('a call with another state, or without a code, is told and not taken; the right one still is', async () => {
    const { link, warnings, ended } = await begin();
    const { goTo } = await postForm(await formAt(link));
    const back = new URL(String(goTo));
    for (const [name, value] of [
      ['state', 'another'],
      ['state', ''],
      ['code', ''],
    ] as const) {
      const wrong = new URL(back);
      wrong.searchParams.set(name, value);
      expect((await fetch(wrong)).status).toBe(400);
    }
    expect(warnings).toEqual([
      'A call with another state was not taken: begin at the link that the command shows.',
      'A call with another state was not taken: begin at the link that the command shows.',
      'GitHub came back without a code: begin again at the link that the command shows.',
    ]);
    expect(readKeptApp(dataDir, 'operator')).toBeNull();
    expect((await fetch(back)).status).toBe(200);
    expect((await ended).app.id).toBe(github.apps.at(-1)?.id);
  });

  test('only whoever has the link gets the form, under the name of this machine', async () => {
    const stop = new AbortController();
    const { link, ended } = await begin({ signal: stop.signal });
    const { origin, port, pathname } = new URL(link);
    expect((await fetch(`${origin}/`)).status).toBe(404);
    expect((await fetch(link)).headers.get('referrer-policy')).toBe('no-referrer');
    const { request } = await import('node:http');
    const status = await new Promise((resolve) =>
      request({ host: '127.0.0.1', port, path: pathname, headers: { host: 'evil.example.com' } }, (response) =>
        resolve(response.statusCode),
      ).end(),
    );
    expect(status).toBe(404);
    stop.abort(new Interrupted());
    await failureOf({ ended });
  });

  test('a second callback is told, and only the first is taken', async () => {
    let taken: (app: string) => void = () => undefined;
    const codes: string[] = [];
    const warnings: string[] = [];
    let state = '';
    let opened: (link: string) => void = () => undefined;
    const link = new Promise<string>((resolve) => (opened = resolve));
    const received = receiveApp<string>({
      postTo: (given) => `https://github.example.com/?state=${(state = given)}`,
      manifest: () => ({}),
      take: (code) => {
        codes.push(code);
        return new Promise((resolve) => (taken = resolve));
      },
      done: (text) => ({ text, next: 'https://github.example.com/next' }),
      opened,
      warn: (line) => warnings.push(line),
      signal: new AbortController().signal,
    });
    const { origin } = new URL(await link);
    await formAt(await link);
    const first = fetch(`${origin}/callback?state=${state}&code=one`);
    await expect.poll(() => codes).toEqual(['one']);
    expect((await fetch(`${origin}/callback?state=${state}&code=two`)).status).toBe(409);
    taken('the App');
    expect(await (await first).text()).toContain('the App');
    expect(await received).toBe('the App');
    expect(codes).toEqual(['one']);
    expect(warnings).toEqual(['GitHub came back a second time: only the first time counts.']);
  });

  test('a code that GitHub does not know, or that was used', async () => {
    const unknown = await begin();
    const { action } = await formAt(unknown.link);
    const state = new URL(action).searchParams.get('state');
    const made = await fetch(`${new URL(unknown.link).origin}/callback?state=${state}&code=made-up`);
    const line = `GitHub does not know the code: it is good once, and for an hour. ${notKept()}`;
    expect(made.status).toBe(502);
    expect(await failureOf(unknown)).toBe(line);

    const used = await begin();
    const { goTo } = await postForm(await formAt(used.link));
    const code = new URL(String(goTo)).searchParams.get('code');
    expect((await fetch(`${github.urls.api}/app-manifests/${code}/conversions`, { method: 'POST' })).status).toBe(201);
    await fetch(String(goTo));
    expect(await failureOf(used)).toBe(line);
    expect(readKeptApp(dataDir, 'operator')).toBeNull();
  });

  test('a GitHub that fails or is away when the code is to be exchanged is asked once, for a code works once', async () => {
    github.faults.push(badGateway(/conversions/));
    const before = github.count(/conversions/);
    const failing = await begin();
    await sayYes(failing.link);
    expect(await failureOf(failing)).toBe(`GitHub answers 502 at ${github.urls.api}. ${notKept()}`);
    expect(github.count(/conversions/) - before).toBe(1);
  });

  test('Ctrl-C ends it with one line, and nothing is kept', async () => {
    const { child, ended } = await startSetup([]);
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect({ code, err }).toEqual({ code: 1, err: `Ended: no App is kept. ${notKept()}\n` });
    expect(readdirSync(keptAppsFolder(dataDir))).toEqual([]);
  });

  test('Ctrl-C after the code has come lets it be kept: it cannot be had again', async () => {
    const stop = new AbortController();
    github.before.push({ on: /conversions/, run: () => stop.abort(new Interrupted()) });
    const { link, ended } = await begin({ signal: stop.signal });
    await sayYes(link);
    expect(readKeptApp(dataDir, 'operator')?.id).toBe((await ended).app.id);
  });

  test('nobody comes back', async () => {
    const stop = new AbortController();
    const waiting = await begin({ signal: stop.signal });
    stop.abort(new DOMException('The operation timed out.', 'TimeoutError'));
    expect(await failureOf(waiting)).toBe(`Nobody came back from GitHub: no App is kept. ${notKept()}`);
  });

  test('a folder that is gone when the App is to be kept: the line says how to go on', async () => {
    const { link, ended } = await begin();
    github.before.push({ on: /conversions/, run: () => rmSync(keptAppsFolder(dataDir), { recursive: true }) });
    await sayYes(link);
    const { id, slug } = github.apps.at(-1) as FakeApp;
    expect(await failureOf({ ended })).toBe(
      `${slug} is on GitHub, but could not be kept (ENOENT): make a new private key at ${github.urls.web}/settings/apps/${slug} and give it by --app-id ${id} --private-key-file FILE.`,
    );
  });

  test('two at once: the second is refused, and one that was killed is in nobody’s way', async () => {
    const { child, ended } = await startSetup([]);
    expect(await makeAppFails({})).toBe(
      `Another barista github setup (process ${child.pid}) is under way on ${dataDir}. Finish or end it first.`,
    );
    child.kill('SIGKILL');
    await ended;
    expect((await take(github.addApp(303, 'after-the-kill'))).app.id).toBe(303);
  });

  test('a crash in the middle of keeping leaves the old App, and the next setup takes its remains away', async () => {
    await take(github.addApp(304, 'the-old-one'));
    const file = keptAppFile(dataDir, 'operator');
    writeFileSync(`${file}.0000`, readFileSync(file).subarray(0, 100));
    expect(readForgeSettings({}, dataDir).github?.app.id).toBe(304);
    await take(github.addApp(305, 'the-new-one'));
    expect(readForgeSettings({}, dataDir).github?.app.id).toBe(305);
    expect(readdirSync(keptAppsFolder(dataDir))).toEqual(['app.json']);
  });

  test('a damaged file is in no way of a new setup', async () => {
    const keeper = takeKeptApps(dataDir);
    keeper.release();
    writeFileSync(keptAppFile(dataDir, 'operator'), '{"id":');
    await take(github.addApp(306, 'mended'));
    expect(readForgeSettings({}, dataDir).github?.app.id).toBe(306);
  });
});

describe('taking an App that there is', () => {
  test('GitHub must take its key before anything is kept', async () => {
    const [mine, other] = [github.addApp(311, 'mine'), github.addApp(312, 'other')];
    await take(mine);
    await expect(take({ id: 311, privateKey: other.privateKey })).rejects.toThrow(
      'GitHub does not take this key for App 311: it was revoked, or it belongs to another App. Nothing was changed.',
    );
    const away = takeApp({ ...TAKING(), webUrl: 'http://127.0.0.1:1', id: 311, privateKeyFile: fileWith(mine.privateKey) });
    await expect(away).rejects.toThrow('Nothing answers as GitHub at http://127.0.0.1:1/api/v3. Nothing was changed.');
    expect(readKeptApp(dataDir, 'operator')?.private_key).toBe(mine.privateKey.trim());
  });

  test('a new key of the same App leaves its webhook’s secret as it is', async () => {
    const app = github.addApp(313, 'rotated');
    await take(app, { webhookSecretFile: fileWith('hook-1\n') });
    expect((await take(app)).replaced).toBeNull();
    expect(readKeptApp(dataDir, 'operator')?.webhook_secret).toBe('hook-1');
    await take(app, { webhookSecretFile: fileWith('hook-2') });
    expect(readKeptApp(dataDir, 'operator')?.webhook_secret).toBe('hook-2');
  });

  test('what it lacks is told, with where to give it', async () => {
    const { privateKey } = github.addApp(314, 'poor', { metadata: 'read', contents: 'read', pull_requests: 'read', checks: 'read' });
    const key = fileWith(privateKey);
    const args = ['github', 'setup', '--github', github.urls.web, '--app-id', '314', '--private-key-file', key, '--json'];
    const { code, out, err } = await barista(args, { BARISTA_DATA_DIR: dataDir, PUBLIC_URL: PUBLIC });
    const settings = `${github.urls.web}/organizations/octo-org/settings/apps/poor`;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(firstJson(out).notes).toEqual([
      `It lacks the permission pull_requests (write): pull requests cannot be read and reviews cannot be posted. Give it at ${settings}/permissions`,
      `It lacks the permission issues (read): the issue that a pull request closes cannot be read. Give it at ${settings}/permissions`,
      `It lacks the permission statuses (read): commit statuses are unknown. Give it at ${settings}/permissions`,
      `It is not told of check_run, check_suite, status. Subscribe it at ${settings}/permissions`,
      `No secret of its webhook is known, so that no delivery is taken: set one at ${settings} and name its file by GITHUB_WEBHOOK_SECRET_FILE.`,
      'The next npm start on this data folder uses it.',
    ]);
    expect(existsSync(key)).toBe(true);
    expect(out).not.toContain('PRIVATE KEY');
  });

  test.each([
    ['holds no private key', () => fileWith('hunter2'), 'which holds no private key (PEM).'],
    ['is empty', () => fileWith('\n'), 'which is empty.'],
    ['is not there', () => '/nowhere/key.pem', 'which cannot be read.'],
  ])('a file that %s is refused by its option', async (_, path, says) => {
    const file = path();
    const args = ['github', 'setup', '--github', github.urls.web, '--app-id', '315', '--private-key-file', file];
    const { code, err } = await barista(args, { BARISTA_DATA_DIR: dataDir });
    expect({ code, err }).toEqual({ code: 1, err: `--private-key-file names ${file}, ${says}\n` });
  });
});

test.each([
  [['--app-id', '12'], '--app-id and --private-key-file go together'],
  [['--webhook-secret-file', 'x'], '--webhook-secret-file goes with --app-id'],
  [['--app-id', 'twelve', '--private-key-file', 'x'], 'It must be the number of an App.'],
  [['--app-id', '12', '--private-key-file', 'x', '--org', 'octo-org'], 'cannot be used with'],
  [['--url', 'http://localhost:7337'], 'GitHub cannot reach this machine by that address.'],
  [['--url', 'barista.example.com'], 'It must be an http or https address.'],
  [['--github', 'https://github.example.com/api/v3'], 'It must be the address of a GitHub alone'],
  [['--name', 'x'.repeat(35)], 'It must be 1 to 34 characters.'],
])('wrong usage is said: %o', async (args, says) => {
  const { code, err } = await barista(['github', 'setup', ...args], { BARISTA_DATA_DIR: dataDir });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(says) });
});

import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readForgeSettings, readGitHubApiUrl } from '../../config/forge-settings.js';
import { keptAppFile, keptAppsFolder, type AppRole, type KeptApp } from '../../config/kept-app.js';

const folder = mkdtempSync(join(tmpdir(), 'barista-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString().trim();
const CUT = PEM.split('\n').toSpliced(3, 1).join('\n');

function holding(text: string): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'held');
  writeFileSync(path, text);
  return path;
}

const file = holding(PEM);
const wrong = holding('hunter2');
const twoLines = holding('hunter2\nhunter2');
const SIGNING_KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function refusalOf(given: NodeJS.ProcessEnv, dataDir: string | null = null): string {
  try {
    readForgeSettings(given, dataDir);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('settings of forges', () => {
  test('none: local repositories alone', () => {
    expect(readForgeSettings({ GITLAB_URL: '', GITHUB_APP_ID: ' ' })).toEqual({
      github: null,
      gitlab: null,
      webhooks: { github: null, gitlab: { secretToken: null, signingKey: null } },
    });
  });

  test('an App with its key in the environment or in a file, and a reviewer App beside it', () => {
    const given = {
      GITHUB_APP_ID: '12',
      GITHUB_APP_PRIVATE_KEY: PEM.replaceAll('\n', '\\n'),
      REVIEWER_APP_ID: '13',
      REVIEWER_APP_PRIVATE_KEY_FILE: file,
    };
    expect(readForgeSettings(given).github).toEqual({
      apiUrl: 'https://api.github.com',
      app: { id: 12, privateKey: PEM },
      reviewer: { id: 13, privateKey: PEM },
    });
  });

  test.each(['https://api.github.com/', 'https://api.octo.ghe.com', 'https://api.example.com/api/v3/', 'https://10.0.0.7:8443/api/v3'])(
    "%s is the address of a GitHub's API",
    (url) => {
      const read = readForgeSettings({ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: PEM, GITHUB_API_URL: url });
      expect(read.github?.apiUrl).toBe(url.replace(/\/$/, ''));
      expect(readGitHubApiUrl({ GITHUB_API_URL: url })).toBe(url.replace(/\/$/, ''));
    },
  );

  test('a GitLab of its own, however its address ends', () => {
    expect(readForgeSettings({ GITLAB_TOKEN: 'glpat-x', GITLAB_URL: 'https://git.example.com/' }).gitlab).toEqual({
      url: 'https://git.example.com',
      token: 'glpat-x',
    });
  });

  test('the secrets that deliveries are verified with', () => {
    expect(
      readForgeSettings({ GITHUB_WEBHOOK_SECRET: 'a', GITLAB_WEBHOOK_SECRET: 'b', GITLAB_WEBHOOK_SIGNING_KEY: SIGNING_KEY }).webhooks,
    ).toEqual({ github: 'a', gitlab: { secretToken: 'b', signingKey: SIGNING_KEY } });
  });

  test('every secret is read from a file as well, without the line break at its end', () => {
    const read = readForgeSettings({
      GITHUB_APP_ID: '12',
      GITHUB_APP_PRIVATE_KEY_FILE: holding(`${PEM}\n`),
      GITHUB_WEBHOOK_SECRET_FILE: holding('a\n'),
      GITLAB_TOKEN_FILE: holding('glpat-x\r\n'),
      GITLAB_WEBHOOK_SECRET_FILE: holding('b\n'),
      GITLAB_WEBHOOK_SIGNING_KEY_FILE: holding(`${SIGNING_KEY}\n`),
    });
    expect(read.github?.app.privateKey).toBe(PEM);
    expect(read.gitlab?.token).toBe('glpat-x');
    expect(read.webhooks).toEqual({ github: 'a', gitlab: { secretToken: 'b', signingKey: SIGNING_KEY } });
  });

  test.each([
    'GITHUB_APP_PRIVATE_KEY',
    'REVIEWER_APP_PRIVATE_KEY',
    'GITHUB_WEBHOOK_SECRET',
    'GITLAB_TOKEN',
    'GITLAB_WEBHOOK_SECRET',
    'GITLAB_WEBHOOK_SIGNING_KEY',
  ])('%s and its file are refused together, and a file that is away or empty', (name) => {
    const both = refusalOf({ [name]: 'hunter2', [`${name}_FILE`]: holding('hunter2') });
    expect(both).toMatch(new RegExp(`^${name} and ${name}_FILE are both set: keep one of them, e\\.g\\. ${name}_FILE=/`));
    expect(both).not.toContain('hunter2');
    expect(refusalOf({ [`${name}_FILE`]: '/nowhere/held' })).toMatch(
      new RegExp(`^${name}_FILE names /nowhere/held, which cannot be read: name one with the secret in it, e\\.g\\. ${name}_FILE=/`),
    );
    expect(refusalOf({ [`${name}_FILE`]: holding(' \n') })).toMatch(
      new RegExp(`^${name}_FILE names .*, which is empty: name one with the secret in it, e\\.g\\. ${name}_FILE=/`),
    );
  });

  test.each([
    [{ GITLAB_WEBHOOK_SIGNING_KEY: 'hunter2' }, "GITLAB_WEBHOOK_SIGNING_KEY must be the webhook's signing token"],
    [{ GITLAB_WEBHOOK_SIGNING_KEY_FILE: wrong }, `GITLAB_WEBHOOK_SIGNING_KEY_FILE (${wrong}) must be the webhook's signing token`],
    [{ GITLAB_TOKEN_FILE: twoLines }, `GITLAB_TOKEN_FILE (${twoLines}) must be one access token`],
    [{ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY_FILE: wrong }, `GITHUB_APP_PRIVATE_KEY_FILE (${wrong}) holds no private key (PEM)`],
    [{ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: CUT }, 'GITHUB_APP_PRIVATE_KEY holds no private key (PEM)'],
    [{ GITHUB_APP_ID: 'twelve' }, "GITHUB_APP_ID must be the App's number"],
    [{ GITHUB_APP_ID: '12' }, 'GITHUB_APP_PRIVATE_KEY_FILE is not set'],
    [{ GITHUB_APP_PRIVATE_KEY_FILE: file }, 'GITHUB_APP_ID is not set'],
    [{ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: 'hunter2' }, 'GITHUB_APP_PRIVATE_KEY holds no private key'],
    [{ REVIEWER_APP_ID: '13', REVIEWER_APP_PRIVATE_KEY: PEM }, 'REVIEWER_APP_ID needs an operator App'],
    [{ GITLAB_URL: 'git.example.com', GITLAB_TOKEN: 'hunter2' }, 'GITLAB_URL must be the address'],
    [{ GITHUB_API_URL: 'https://github.example.com' }, "GITHUB_API_URL must be the address of a GitHub's API"],
    [{ GITHUB_API_URL: 'example' }, "GITHUB_API_URL must be the address of a GitHub's API"],
    // It would stand in every message that names the address.
    [{ GITLAB_URL: 'https://kim:hunter2@git.example.com' }, 'GITLAB_URL must be the address of a GitLab, without a user name in it'],
    [{ GITHUB_API_URL: 'https://hunter2@git.example.com/api/v3' }, "GITHUB_API_URL must be the address of a GitHub's API, without a"],
  ])('%o is refused by name, with an example and no value', (given, says) => {
    const message = refusalOf(given);
    expect(message).toContain(says);
    expect(message).toMatch(/e\.g\. [A-Z_]+=/);
    expect(message).not.toMatch(/hunter2|BEGIN/);
  });
});

describe('an App that setup kept', () => {
  const KEPT: KeptApp = {
    id: 21,
    name: 'barista-1',
    html_url: 'https://github.com/apps/barista-1',
    api_url: 'https://api.github.com',
    private_key: PEM,
    webhook_secret: 'kept-hook',
  };

  function dataDirWith(apps: Partial<Record<AppRole, unknown>>): string {
    const dataDir = mkdtempSync(join(folder, 'data-'));
    mkdirSync(keptAppsFolder(dataDir));
    for (const [role, app] of Object.entries(apps))
      writeFileSync(keptAppFile(dataDir, role as AppRole), typeof app === 'string' ? app : JSON.stringify(app));
    return dataDir;
  }

  test('counts where the environment names none, with its webhook secret and its GitHub', () => {
    const ghes = { ...KEPT, api_url: 'https://github.example.com/api/v3' };
    const dataDir = dataDirWith({ operator: ghes, reviewer: { ...ghes, id: 22, webhook_secret: null } });
    const read = readForgeSettings({}, dataDir);
    expect(read.github).toEqual({
      apiUrl: 'https://github.example.com/api/v3',
      app: { id: 21, privateKey: PEM, keptIn: keptAppFile(dataDir, 'operator') },
      reviewer: { id: 22, privateKey: PEM, keptIn: keptAppFile(dataDir, 'reviewer') },
    });
    expect(read.webhooks.github).toBe('kept-hook');
    expect(readForgeSettings({}, dataDirWith({})).github).toBeNull();
  });

  test('is not looked at where the environment names one, and neither is its secret; a secret that is set wins over it', () => {
    const dataDir = dataDirWith({ operator: 'damaged' });
    const named = readForgeSettings({ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: PEM }, dataDir);
    expect(named.github?.app).toEqual({ id: 12, privateKey: PEM });
    expect(named.webhooks.github).toBeNull();
    expect(readForgeSettings({ GITHUB_WEBHOOK_SECRET: 'set-hook' }, dataDirWith({ operator: KEPT })).webhooks.github).toBe('set-hook');
  });

  test.each([
    ['damaged', '{"id": 21', {}, 'is not as barista github setup wrote it'],
    ['without its key', { ...KEPT, private_key: '' }, {}, 'is not as barista github setup wrote it'],
    ['with half its key', { ...KEPT, private_key: CUT }, {}, 'is not as barista github setup wrote it'],
    [
      'of another GitHub',
      KEPT,
      { GITHUB_API_URL: 'https://github.example.com/api/v3' },
      'but this server is set up for https://github.example.com/api/v3 (GITHUB_API_URL): change that, run barista github setup again',
    ],
  ])('%s is refused by its file, with what to do and no value', (_, app, env, says) => {
    const dataDir = dataDirWith({ operator: app });
    const message = refusalOf(env, dataDir);
    expect(message).toContain(keptAppFile(dataDir, 'operator'));
    expect(message).toContain(says);
    expect(message).toMatch(/e\.g\. GITHUB_APP_ID=/);
    expect(message).not.toMatch(/BEGIN|kept-hook/);
  });

  test('for reviews is of the same GitHub as the operator App, whoever names that', () => {
    const dataDir = dataDirWith({ reviewer: { ...KEPT, api_url: 'https://github.example.com/api/v3' } });
    const message = refusalOf({ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: PEM }, dataDir);
    expect(message).toMatch(
      /set up for https:\/\/api\.github\.com .* run barista github setup --reviewer again, .* e\.g\. REVIEWER_APP_ID=/,
    );
  });

  test('for reviews needs an operator App beside it', () => {
    const dataDir = dataDirWith({ reviewer: KEPT });
    expect(refusalOf({}, dataDir)).toContain(`${keptAppFile(dataDir, 'reviewer')} needs an operator App beside it`);
  });
});

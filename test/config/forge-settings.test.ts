import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readForgeSettings } from '../../config/forge-settings.js';

const folder = mkdtempSync(join(tmpdir(), 'barista-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nsecret\n-----END RSA PRIVATE KEY-----';
const file = join(folder, 'app.pem');
writeFileSync(file, PEM);

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

  test('a GitLab of its own', () => {
    expect(readForgeSettings({ GITLAB_TOKEN: 'glpat-x', GITLAB_URL: 'https://git.example.com' }).gitlab).toEqual({
      url: 'https://git.example.com',
      token: 'glpat-x',
    });
  });

  test('the secrets that deliveries are verified with', () => {
    const signingKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(
      readForgeSettings({ GITHUB_WEBHOOK_SECRET: 'a', GITLAB_WEBHOOK_SECRET: 'b', GITLAB_WEBHOOK_SIGNING_KEY: signingKey }).webhooks,
    ).toEqual({ github: 'a', gitlab: { secretToken: 'b', signingKey } });
  });

  test.each([
    [{ GITLAB_WEBHOOK_SIGNING_KEY: 'hunter2' }, "GITLAB_WEBHOOK_SIGNING_KEY must be the webhook's signing token"],
    [{ GITHUB_APP_ID: 'twelve' }, "GITHUB_APP_ID must be the App's number"],
    [{ GITHUB_APP_ID: '12' }, 'GITHUB_APP_PRIVATE_KEY_FILE is not set'],
    [{ GITHUB_APP_PRIVATE_KEY_FILE: file }, 'GITHUB_APP_ID is not set'],
    [{ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY_FILE: '/nowhere/app.pem' }, 'cannot be read'],
    [{ GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: 'hunter2' }, 'GITHUB_APP_PRIVATE_KEY holds no private key'],
    [{ REVIEWER_APP_ID: '13', REVIEWER_APP_PRIVATE_KEY: PEM }, 'REVIEWER_APP_ID needs an operator App'],
    [{ GITLAB_URL: 'git.example.com', GITLAB_TOKEN: 'hunter2' }, 'GITLAB_URL must be the address'],
  ])('%o is refused by name, with an example and no value', (given, says) => {
    let message = '';
    try {
      readForgeSettings(given);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(says);
    expect(message).toMatch(/e\.g\. [A-Z_]+=/);
    expect(message).not.toMatch(/hunter2|secret/);
  });
});

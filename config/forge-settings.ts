import { z } from 'zod';
import { keptAppFile, readKeptApp, type AppRole, type KeptApp } from './kept-app.js';
import { isPrivateKey } from './private-key.js';
import { secretOf } from './secret.js';
import { SettingsError } from './settings-error.js';
import { webAddress } from './web-address.js';

export interface AppSettings {
  readonly id: number;
  /** PEM. */
  readonly privateKey: string;
  /** The file that `barista github setup` kept it in; absent: the environment names it. */
  readonly keptIn?: string;
}

/** Which forges besides local repositories this server is set up for; null: not. */
export interface ForgeSettings {
  readonly github: { readonly apiUrl: string; readonly app: AppSettings; readonly reviewer: AppSettings | null } | null;
  readonly gitlab: { readonly url: string; readonly token: string } | null;
  /** What deliveries are verified with; null: none are taken. */
  readonly webhooks: {
    readonly github: string | null;
    /** With a signing key only signatures count; else the secret token does. */
    readonly gitlab: { readonly secretToken: string | null; readonly signingKey: string | null };
  };
}

const forgeAddress = webAddress.transform((url) => url.replace(/\/+$/, ''));
/** An Enterprise Server answers below its own address too, but with pages for people. */
const githubApi = forgeAddress.refine((url) => {
  const { hostname, pathname } = new URL(url);
  return pathname === '/api/v3' || (pathname === '/' && hostname.startsWith('api.'));
});
const GITHUB_API = 'https://api.github.com';
const schema = z.object({
  GITHUB_APP_ID: z.coerce.number().int().positive().optional(),
  GITHUB_API_URL: githubApi.optional(),
  REVIEWER_APP_ID: z.coerce.number().int().positive().optional(),
  GITLAB_URL: forgeAddress.default('https://gitlab.com'),
});

const HELP: Record<keyof z.input<typeof schema>, readonly [string, string]> = {
  GITHUB_APP_ID: ["must be the App's number", '123456'],
  GITHUB_API_URL: ["must be the address of a GitHub's API, without a user name in it", 'https://github.example.com/api/v3'],
  REVIEWER_APP_ID: ["must be the reviewer App's number", '123457'],
  GITLAB_URL: ['must be the address of a GitLab, without a user name in it', 'https://gitlab.example.com'],
};

/** Every secret of forges: what it must look like, what it must be, and a file that could hold it. */
const SECRETS = {
  GITHUB_APP_PRIVATE_KEY: [{ test: isPrivateKey }, 'holds no private key (PEM)', '/etc/barista/app.pem'],
  REVIEWER_APP_PRIVATE_KEY: [{ test: isPrivateKey }, 'holds no private key (PEM)', '/etc/barista/reviewer.pem'],
  GITHUB_WEBHOOK_SECRET: [/^[^\r\n]+$/, "must be the secret of the App's webhook, on one line", '/etc/barista/github-webhook'],
  // A line break in it would break the header it is sent in.
  GITLAB_TOKEN: [/^[\x21-\x7e]+$/, 'must be one access token', '/etc/barista/gitlab-token'],
  GITLAB_WEBHOOK_SECRET: [/^[^\r\n]+$/, 'must be the secret token of the webhook, on one line', '/etc/barista/gitlab-webhook'],
  GITLAB_WEBHOOK_SIGNING_KEY: [
    /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/,
    "must be the webhook's signing token (whsec_…)",
    '/etc/barista/gitlab-signing-key',
  ],
} as const satisfies Record<string, readonly [Pick<RegExp, 'test'>, string, string]>;

/** The settings that may name a file with a secret in it. */
export const SECRET_FILE_SETTINGS = Object.keys(SECRETS).map((name) => `${name}_FILE`);

/**
 * Where the environment names no App, the one that setup kept in the data folder counts; null: no folder is looked into.
 * @throws {SettingsError} one line for each wrong setting; values are not shown, for some are keys.
 */
export function readForgeSettings(env: NodeJS.ProcessEnv, dataDir: string | null = null): ForgeSettings {
  const value = (name: string): string | undefined => env[name]?.trim() || undefined;
  const result = schema.safeParse(Object.fromEntries(Object.keys(HELP).map((name) => [name, value(name)])));
  if (!result.success) {
    const names = [...new Set(result.error.issues.map((issue) => String(issue.path[0])))] as (keyof typeof HELP)[];
    throw new SettingsError(names.map((name) => `${name} ${HELP[name][0]}, e.g. ${name}=${HELP[name][1]}`).join('\n'));
  }
  const { GITHUB_APP_ID, GITHUB_API_URL, REVIEWER_APP_ID, GITLAB_URL } = result.data;
  const named = appOf(env, 'GITHUB_APP', GITHUB_APP_ID);
  const kept = named === null && dataDir !== null ? readKeptApp(dataDir, 'operator') : null;
  const apiUrl = GITHUB_API_URL ?? kept?.api_url ?? GITHUB_API;
  const app = named ?? keptSettings(kept, dataDir, 'operator', apiUrl);
  const namedReviewer = appOf(env, 'REVIEWER_APP', REVIEWER_APP_ID);
  const keptReviewer = namedReviewer === null && dataDir !== null ? readKeptApp(dataDir, 'reviewer') : null;
  const reviewer = namedReviewer ?? keptSettings(keptReviewer, dataDir, 'reviewer', apiUrl);
  if (reviewer && !app) {
    const which = reviewer.keptIn === undefined ? 'REVIEWER_APP_ID' : `The reviewer App in ${reviewer.keptIn}`;
    throw new SettingsError(`${which} needs an operator App beside it, e.g. GITHUB_APP_ID=123456`);
  }
  const token = checkedSecret(env, 'GITLAB_TOKEN');
  return {
    github: app && { apiUrl, app, reviewer },
    gitlab: token === null ? null : { url: GITLAB_URL, token },
    webhooks: {
      github: checkedSecret(env, 'GITHUB_WEBHOOK_SECRET') ?? kept?.webhook_secret ?? null,
      gitlab: {
        secretToken: checkedSecret(env, 'GITLAB_WEBHOOK_SECRET'),
        signingKey: checkedSecret(env, 'GITLAB_WEBHOOK_SIGNING_KEY'),
      },
    },
  };
}

/** GITHUB_API_URL alone; null: not set. @throws {SettingsError} */
export function readGitHubApiUrl(env: NodeJS.ProcessEnv): string | null {
  const read = githubApi.optional().safeParse(env.GITHUB_API_URL?.trim() || undefined);
  if (read.success) return read.data ?? null;
  throw new SettingsError(`GITHUB_API_URL ${HELP.GITHUB_API_URL[0]}, e.g. GITHUB_API_URL=${HELP.GITHUB_API_URL[1]}`);
}

function checkedSecret(env: NodeJS.ProcessEnv, name: keyof typeof SECRETS): string | null {
  const [form, must, file] = SECRETS[name];
  const secret = secretOf(env, name, file);
  if (secret === null) return null;
  // In the environment line breaks of a key are often written as \n.
  const text = name.endsWith('_PRIVATE_KEY') ? secret.text.replaceAll('\\n', '\n') : secret.text;
  if (form.test(text)) return text;
  throw new SettingsError(`${secret.origin} ${must}, e.g. ${name}_FILE=${file}`);
}

/** An App is its number and its key. */
function appOf(env: NodeJS.ProcessEnv, prefix: 'GITHUB_APP' | 'REVIEWER_APP', id: number | undefined): AppSettings | null {
  const name = `${prefix}_PRIVATE_KEY` as const;
  const privateKey = checkedSecret(env, name);
  if (id === undefined && privateKey === null) return null;
  if (id === undefined) throw new SettingsError(`${prefix}_ID is not set, but its key is, e.g. ${prefix}_ID=123456`);
  if (privateKey === null)
    throw new SettingsError(`${name}_FILE is not set; it must name the App's private key, e.g. ${name}_FILE=${SECRETS[name][2]}`);
  return { id, privateKey };
}

function keptSettings(kept: KeptApp | null, dataDir: string | null, role: AppRole, apiUrl: string): AppSettings | null {
  if (kept === null || dataDir === null) return null;
  const keptIn = keptAppFile(dataDir, role);
  if (kept.api_url !== apiUrl) {
    const [option, own] = role === 'operator' ? ['', 'GITHUB_APP_ID=123456'] : [' --reviewer', 'REVIEWER_APP_ID=123457'];
    throw new SettingsError(
      `The App in ${keptIn} is of ${kept.api_url}, but this server is set up for ${apiUrl} (GITHUB_API_URL): change that, run barista github setup${option} again, or name an App that is there, e.g. ${own}`,
    );
  }
  return { id: kept.id, privateKey: kept.private_key, keptIn };
}

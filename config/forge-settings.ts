import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SettingsError } from './settings-error.js';

interface AppSettings {
  readonly id: number;
  /** PEM. */
  readonly privateKey: string;
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

const webAddress = z.url({ protocol: /^https?$/ });
const schema = z.object({
  GITHUB_APP_ID: z.coerce.number().int().positive().optional(),
  GITHUB_API_URL: webAddress.default('https://api.github.com'),
  REVIEWER_APP_ID: z.coerce.number().int().positive().optional(),
  GITLAB_URL: webAddress.default('https://gitlab.com'),
  GITHUB_WEBHOOK_SECRET: z.string().optional(),
  GITLAB_WEBHOOK_SECRET: z.string().optional(),
  GITLAB_WEBHOOK_SIGNING_KEY: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/)
    .optional(),
});

const HELP: Record<keyof z.input<typeof schema>, readonly [string, string]> = {
  GITHUB_APP_ID: ["must be the App's number", '123456'],
  GITHUB_API_URL: ["must be the address of a GitHub's API", 'https://github.example.com/api/v3'],
  REVIEWER_APP_ID: ["must be the reviewer App's number", '123457'],
  GITLAB_URL: ['must be the address of a GitLab', 'https://gitlab.example.com'],
  GITHUB_WEBHOOK_SECRET: ["must be the secret of the App's webhook", 'a-long-random-text'],
  GITLAB_WEBHOOK_SECRET: ['must be the secret token of the webhook', 'a-long-random-text'],
  GITLAB_WEBHOOK_SIGNING_KEY: ["must be the webhook's signing token", 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
};

/** @throws {SettingsError} one line for each wrong setting; values are not shown, for some are keys. */
export function readForgeSettings(env: NodeJS.ProcessEnv): ForgeSettings {
  const value = (name: string): string | undefined => env[name]?.trim() || undefined;
  const result = schema.safeParse(Object.fromEntries(Object.keys(HELP).map((name) => [name, value(name)])));
  if (!result.success) {
    const names = [...new Set(result.error.issues.map((issue) => String(issue.path[0])))] as (keyof typeof HELP)[];
    throw new SettingsError(names.map((name) => `${name} ${HELP[name][0]}, e.g. ${name}=${HELP[name][1]}`).join('\n'));
  }
  const { GITHUB_APP_ID, GITHUB_API_URL, REVIEWER_APP_ID, GITLAB_URL, ...secrets } = result.data;
  const app = appOf('GITHUB_APP', GITHUB_APP_ID, value);
  const reviewer = appOf('REVIEWER_APP', REVIEWER_APP_ID, value);
  if (reviewer && !app) throw new SettingsError('REVIEWER_APP_ID needs an operator App beside it, e.g. GITHUB_APP_ID=123456');
  const token = value('GITLAB_TOKEN');
  return {
    github: app && { apiUrl: GITHUB_API_URL, app, reviewer },
    gitlab: token === undefined ? null : { url: GITLAB_URL, token },
    webhooks: {
      github: secrets.GITHUB_WEBHOOK_SECRET ?? null,
      gitlab: { secretToken: secrets.GITLAB_WEBHOOK_SECRET ?? null, signingKey: secrets.GITLAB_WEBHOOK_SIGNING_KEY ?? null },
    },
  };
}

/** An App is its number and its key, given itself or as a file. */
function appOf(prefix: string, id: number | undefined, value: (name: string) => string | undefined): AppSettings | null {
  const [key, file] = [`${prefix}_PRIVATE_KEY`, `${prefix}_PRIVATE_KEY_FILE`];
  const given = value(key)?.replaceAll('\\n', '\n');
  const path = value(file);
  if (id === undefined && given === undefined && path === undefined) return null;
  if (id === undefined) throw new SettingsError(`${prefix}_ID is not set, but its key is, e.g. ${prefix}_ID=123456`);
  const privateKey = given ?? (path === undefined ? undefined : contentOf(file, path));
  if (privateKey === undefined)
    throw new SettingsError(`${file} is not set; it must name the App's private key, e.g. ${file}=/etc/barista/app.pem`);
  if (!privateKey.includes('PRIVATE KEY-----'))
    throw new SettingsError(`${given === undefined ? file : key} holds no private key (PEM), e.g. ${file}=/etc/barista/app.pem`);
  return { id, privateKey };
}

function contentOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new SettingsError(`${name} names ${path}, which cannot be read, e.g. ${name}=/etc/barista/app.pem`);
  }
}

import { randomBytes } from 'node:crypto';
import { missingEvents, missingPermissions } from '../../activities/forge/github/app-needs.js';
import {
  apiUrlOf,
  convertManifest,
  createAppReader,
  type AppAtGitHub,
  type GitHubAddress,
} from '../../activities/forge/github/app-reader.js';
import { webUrlOf } from '../../activities/forge/github/index.js';
import type { AppRole, KeptApp } from '../../config/kept-app.js';
import { isPrivateKey } from '../../config/private-key.js';
import { readSecret } from '../../config/secret.js';
import { CommandFailed, inWords } from '../failure.js';
import { Interrupted } from '../interrupted.js';
import { takeKeptApps, type Keeper } from './keep.js';
import { manifestOf, newAppUrl } from './manifest.js';
import { receiveApp } from './pages.js';

interface Common {
  readonly dataDir: string;
  readonly role: AppRole;
  /** Of a GitHub, without a slash at the end; null: that of the settings. */
  readonly webUrl: string | null;
  /** GITHUB_API_URL, where it is set. */
  readonly apiUrl: string | null;
  /** GITHUB_APP_ID is set, so that no operator App need be kept. */
  readonly operatorNamed: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface MakeOptions extends Common {
  readonly org: string | undefined;
  readonly name: string | undefined;
  readonly publicUrl: string | null;
  opened(link: string): void;
  warn(line: string): void;
  readonly signal: AbortSignal;
}

export interface TakeOptions extends Common {
  readonly id: number;
  readonly privateKeyFile: string;
  readonly webhookSecretFile: string | undefined;
}

export interface SetUp {
  readonly app: AppAtGitHub;
  readonly keptIn: string;
  readonly hasWebhookSecret: boolean;
  /** The App that was kept before, where it is another one. */
  readonly replaced: Pick<KeptApp, 'id' | 'name' | 'html_url'> | null;
}

/** Has the person make an App in the browser, and keeps it. @throws CommandFailed with the one line to print */
export async function makeApp(options: MakeOptions): Promise<SetUp> {
  const { role, org, publicUrl, now } = options;
  const name = options.name ?? `barista${role === 'reviewer' ? '-review' : ''}-${randomBytes(3).toString('hex')}`;
  return withKeeper(options, async (keeper, github) => {
    const apps = org === undefined ? `${github.webUrl}/settings/apps` : `${github.webUrl}/organizations/${org}/settings/apps`;
    const notKept = `If ${apps} shows the App all the same, delete it there and run barista github setup again.`;
    try {
      return await receiveApp({
        postTo: (state) => newAppUrl(github.webUrl, org, state),
        manifest: (redirectUrl) => manifestOf({ role, name, webUrl: github.webUrl, publicUrl, redirectUrl }),
        async take(code) {
          const made = await inWords(() => convertManifest(github, code, now), notKept);
          return keep(keeper, role, made, { ...github, privateKey: made.privateKey, webhookSecret: made.webhookSecret });
        },
        done: ({ app }) => ({ text: `${app.name} is set up. Install it on the repositories that it is for:`, next: installUrl(app) }),
        opened: options.opened,
        warn: options.warn,
        signal: options.signal,
      });
    } catch (error) {
      if (error instanceof Interrupted) throw new CommandFailed(`Ended: no App is kept. ${notKept}`);
      if (error instanceof Error && error.name === 'TimeoutError')
        throw new CommandFailed(`Nobody came back from GitHub: no App is kept. ${notKept}`);
      throw error;
    }
  });
}

/** Keeps an App that there is, once GitHub takes its key. @throws CommandFailed, SettingsError with the one line to print */
export async function takeApp(options: TakeOptions): Promise<SetUp> {
  const { role, id, now } = options;
  const privateKey = readSecret(options.privateKeyFile, '--private-key-file');
  if (!isPrivateKey(privateKey))
    throw new CommandFailed(`--private-key-file names ${options.privateKeyFile}, which holds no private key (PEM).`);
  const given = options.webhookSecretFile === undefined ? null : readSecret(options.webhookSecretFile, '--webhook-secret-file');
  return withKeeper(options, async (keeper, github) => {
    const reader = createAppReader({ ...github, identity: { id, privateKey }, now });
    const app = await inWords(() => reader.app(), 'Nothing was changed.');
    const before = keeper.kept(role);
    // A new key of the same App leaves its webhook as it was.
    const known = before?.id === id && before.api_url === github.apiUrl ? before.webhook_secret : null;
    return keep(keeper, role, app, { ...github, privateKey, webhookSecret: given ?? known });
  });
}

export const installUrl = ({ url }: Pick<AppAtGitHub, 'url'>): string => `${url}/installations/new`;

/** What the App lacks, each with where to give it. */
export function missingOf({ app }: SetUp, role: AppRole, wantsEvents: boolean): string[] {
  const permissions = missingPermissions(role, app.permissions);
  const events = wantsEvents ? missingEvents(role, app.events) : [];
  const where = `${app.settings}/permissions`;
  return [
    ...permissions.map(
      ({ permission, access, without }) => `It lacks the permission ${permission} (${access}): ${without}. Give it at ${where}`,
    ),
    ...(events.length > 0 ? [`It is not told of ${events.join(', ')}. Subscribe it at ${where}`] : []),
  ];
}

async function withKeeper(options: Common, work: (keeper: Keeper, github: GitHubAddress) => Promise<SetUp>): Promise<SetUp> {
  const keeper = takeKeptApps(options.dataDir);
  try {
    return await work(keeper, githubOf(options, keeper));
  } finally {
    keeper.release();
  }
}

/** A reviewer App is on the same GitHub as the operator's. @throws CommandFailed where there is none, or on another */
function githubOf({ role, webUrl, apiUrl, operatorNamed }: Common, keeper: Keeper): GitHubAddress {
  const operator = operatorNamed ? null : keeper.kept('operator');
  if (role === 'reviewer' && !operatorNamed && operator === null)
    throw new CommandFailed('A reviewer App posts beside an operator App: run barista github setup without --reviewer first.');
  const set = apiUrl ?? (role === 'reviewer' ? (operator?.api_url ?? null) : null);
  const asked = webUrl === null ? (set ?? 'https://api.github.com') : apiUrlOf(webUrl);
  if (set !== null && asked !== set) {
    const by = apiUrl === null ? 'the operator App is' : 'GITHUB_API_URL is set';
    throw new CommandFailed(`--github names ${webUrl}, but ${by} for ${set}: give the same GitHub, or change that first.`);
  }
  return { apiUrl: asked, webUrl: webUrlOf(asked) };
}

interface Secrets extends GitHubAddress {
  readonly privateKey: string;
  readonly webhookSecret: string | null;
}

function keep(keeper: Keeper, role: AppRole, app: AppAtGitHub, { apiUrl, privateKey, webhookSecret }: Secrets): SetUp {
  const before = keeper.kept(role);
  const { id, name, url } = app;
  const kept = { id, name, html_url: url, api_url: apiUrl, private_key: privateKey, webhook_secret: webhookSecret };
  try {
    const keptIn = keeper.keep(role, kept);
    const isOther = before !== null && (before.id !== id || before.api_url !== apiUrl);
    const replaced = isOther ? { id: before.id, name: before.name, html_url: before.html_url } : null;
    return { app, keptIn, hasWebhookSecret: webhookSecret !== null, replaced };
  } catch (error) {
    throw new CommandFailed(
      `${name} is on GitHub, but could not be kept (${(error as NodeJS.ErrnoException).code ?? 'unknown'}): make a new private key at ${app.settings} and give it by --app-id ${id} --private-key-file FILE.`,
    );
  }
}

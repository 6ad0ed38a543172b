import { App } from '@octokit/app';
import { ForgeError } from '../port.js';
import { overAt } from '../waiting.js';
import type { AppIdentity } from './app.js';
import { plainClient, SILENT } from './clients.js';
import { failedOf, limitedUntil } from './failures.js';
import { hasNext, PER_PAGE } from './pages.js';

/** An App as GitHub has it. */
export interface AppAtGitHub {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  /** Its page for whoever installs it. */
  readonly url: string;
  /** Its page for whoever owns it. */
  readonly settings: string;
  readonly permissions: Readonly<Record<string, string | undefined>>;
  readonly events: readonly string[];
}

export interface InstallationAtGitHub {
  readonly account: string;
  /** Where whoever gave the access sees and changes it. */
  readonly settings: string;
  readonly suspended: boolean;
  /** Those that were accepted there; an App may ask for more. */
  readonly permissions: Readonly<Record<string, string | undefined>>;
}

export interface HookAtGitHub {
  readonly url: string | null;
  readonly isJson: boolean;
  readonly hasSecret: boolean;
}

interface HookDelivery {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly event: string;
  /** Of the answer it got; 0: none. */
  readonly status: number;
  /** GitHub's words for how it ended: `OK`, `timed out`. */
  readonly says: string;
}

/** What `POST /app-manifests/CODE/conversions` gives, once. */
export interface MadeApp extends AppAtGitHub {
  /** PEM. */
  readonly privateKey: string;
  /** null: it was made without a webhook. */
  readonly webhookSecret: string | null;
}

export interface AppReader {
  app(): Promise<AppAtGitHub>;
  installations(): Promise<InstallationAtGitHub[]>;
  /** null: it has no webhook. */
  hook(): Promise<HookAtGitHub | null>;
  /** The newest first; empty too where it has no webhook. */
  deliveries(limit: number): Promise<HookDelivery[]>;
}

export interface GitHubAddress {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly webUrl: string;
}

interface ReaderOptions extends GitHubAddress {
  readonly identity: AppIdentity;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What an App may ask about itself, for a person who waits: nothing is tried again. Each call throws {ForgeError}. */
export function createAppReader({ apiUrl, webUrl, identity, now }: ReaderOptions): AppReader {
  const { octokit } = new App({ appId: identity.id, privateKey: identity.privateKey, Octokit: plainClient({ apiUrl }), log: SILENT });

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explained(error, apiUrl, now(), (status) => {
        if (status === 401) return `GitHub does not take this key for App ${identity.id}: it was revoked, or it belongs to another App.`;
        return status === 404 ? `${apiUrl} knows no App ${identity.id}.` : null;
      });
    }
  }
  const orNone = async <T>(none: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // So GitHub answers for an App whose webhook is not active.
      if (failedOf(error)?.status === 404) return none;
      throw error;
    }
  };

  return {
    app: () =>
      ask(async () => {
        const { data } = await octokit.request('GET /app');
        if (data === null) throw new ForgeError('refused', `${apiUrl} knows no App ${identity.id}.`);
        return appOf(data, webUrl);
      }),
    installations: () =>
      ask(async () => {
        const all: InstallationAtGitHub[] = [];
        for (let page = 1; ; page++) {
          const { data, headers } = await octokit.request('GET /app/installations', { per_page: PER_PAGE, page });
          for (const { account, html_url: settings, suspended_at: since, permissions } of data) {
            all.push({ account: nameOf(account), settings, suspended: since !== null, permissions });
          }
          if (!hasNext({ rows: data, headers })) return all;
        }
      }),
    hook: () =>
      ask(() =>
        orNone(null, async () => {
          const { url, content_type: type, secret } = (await octokit.request('GET /app/hook/config')).data;
          return { url: url || null, isJson: type === 'json', hasSecret: Boolean(secret) };
        }),
      ),
    deliveries: (limit) =>
      ask(() =>
        orNone([], async () => {
          const { data } = await octokit.request('GET /app/hook/deliveries', { per_page: limit });
          return data.map(({ delivered_at: at, event, status_code: status, status: says }) => ({
            at: Date.parse(at),
            event,
            status,
            says,
          }));
        }),
      ),
  };
}

/** Exchanges the code that the manifest flow ends with for the App. It works once: nothing is tried again. @throws {ForgeError} */
export async function convertManifest({ apiUrl, webUrl }: GitHubAddress, code: string, now: () => number): Promise<MadeApp> {
  try {
    const { data } = await new (plainClient({ apiUrl }))().request('POST /app-manifests/{code}/conversions', { code });
    return { ...appOf(data, webUrl), privateKey: data.pem, webhookSecret: data.webhook_secret };
  } catch (error) {
    throw explained(error, apiUrl, now(), (status) =>
      status === 404 ? 'GitHub does not know the code: it is good once, and for an hour.' : null,
    );
  }
}

/** `https://github.com` has its API at `api.github.com`, one of ghe.com likewise, an Enterprise Server at `/api/v3`. */
export function apiUrlOf(webUrl: string): string {
  const { protocol, host } = new URL(webUrl);
  return host === 'github.com' || host.endsWith('.ghe.com') ? `${protocol}//api.${host}` : `${protocol}//${host}/api/v3`;
}

/** A person or an organization has a login, an enterprise a slug. */
type Account = { readonly login: string } | { readonly slug: string };
const nameOf = (account: Account | null): string => (account === null ? '?' : 'login' in account ? account.login : account.slug);

interface AppData {
  readonly id: number;
  readonly name: string;
  readonly slug?: string;
  readonly owner: { readonly login: string; readonly type: string } | { readonly slug: string };
  readonly html_url: string;
  readonly permissions: AppAtGitHub['permissions'];
  readonly events: readonly string[];
}

function appOf({ id, name, slug = '', owner, html_url: url, permissions, events }: AppData, webUrl: string): AppAtGitHub {
  const settings = settingsOf(owner, slug, webUrl);
  return { id, name, owner: nameOf(owner), url, settings, permissions, events };
}

function settingsOf(owner: AppData['owner'], slug: string, webUrl: string): string {
  if (!('login' in owner)) return `${webUrl}/enterprises/${owner.slug}/settings/apps/${slug}`;
  return owner.type === 'Organization' ? `${webUrl}/organizations/${owner.login}/settings/apps/${slug}` : `${webUrl}/settings/apps/${slug}`;
}

/** Each failure as one line; it holds no key and no code. */
function explained(error: unknown, apiUrl: string, now: number, own: (status: number) => string | null): ForgeError {
  const failed = failedOf(error);
  if (failed === null) throw error;
  const until = limitedUntil(failed, now, 0);
  if (until !== null) {
    const seconds = Math.ceil((until - now) / 1_000);
    return new ForgeError('unavailable', `GitHub takes no more calls until ${overAt(until)} (its rate limit).`, seconds);
  }
  const { status, message } = failed;
  if (status === 0) return new ForgeError('unavailable', `Nothing answers as GitHub at ${apiUrl}.`);
  if (status >= 500) return new ForgeError('unavailable', `GitHub answers ${status} at ${apiUrl}.`);
  return new ForgeError(
    'refused',
    own(status) ?? `GitHub answers ${status} at ${apiUrl}: ${message.replaceAll(/\s+/g, ' ').slice(0, 200)}`,
  );
}

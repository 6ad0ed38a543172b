import { ForgeError } from '../port.js';
import type { GitLabClient } from './client.js';
import { Forbidden } from './errors.js';
import { projectPath, type GitLabRepositoryRef } from './merge-request.js';
import { hook as shape } from './shapes.js';

/** What this server's settings say of hooks: GitLab's API takes a secret token, and no signing key. */
export interface HookSettings {
  /** Where this server is reached from outside; null: PUBLIC_URL is not set. */
  readonly publicUrl: string | null;
  readonly secretToken: string | null;
  /** Only signed deliveries are taken here. */
  readonly signed: boolean;
}

const PATH = '/webhooks/gitlab';

/**
 * P3: the project's hook, which exists only while it is wanted. Safe to repeat: there is one afterwards, with the token
 * and the events of now, or none. A hook whose deliveries are signed is made by hand, and left to that hand.
 * @throws {ForgeError} `invalid` where a setting is missing, `refused` where the token may not
 */
export async function keepHook(client: GitLabClient, ref: GitLabRepositoryRef, settings: HookSettings, wanted: boolean): Promise<void> {
  const url = settings.publicUrl === null ? null : `${settings.publicUrl}${PATH}`;
  if (wanted) await makeHook(client, ref, settings, urlFromOutside(url));
  // Without an address of its own this server never made one.
  else if (url !== null && !settings.signed) await removeHooks(client, ref, url);
}

async function makeHook(client: GitLabClient, ref: GitLabRepositoryRef, { secretToken, signed }: HookSettings, url: string): Promise<void> {
  if (!signed && secretToken === null)
    throw new ForgeError(
      'invalid',
      "Deliveries of GitLab could not be told from forged ones: set GITLAB_WEBHOOK_SECRET on Barista's server.",
    );
  const hooks = `${projectPath(client, ref)}/hooks`;
  await withRight(ref, async () => {
    const there = await hooksAt(client, hooks, url);
    const [first] = there;
    if (signed) {
      if (first !== undefined) return;
      throw new ForgeError(
        'refused',
        `This server takes signed deliveries only (GITLAB_WEBHOOK_SIGNING_KEY), and GitLab lets nobody but you make such a hook: add ${url} at ${ref.url}/-/hooks with that signing token, for merge request and pipeline events.`,
      );
    }
    const wanted = {
      url,
      token: secretToken,
      merge_requests_events: true,
      pipeline_events: true,
      push_events: false,
      enable_ssl_verification: true,
    };
    // Which token a hook has is told to nobody: it is set again each time.
    const edited = first !== undefined && (await unlessGone(() => client.put(`${hooks}/${first.id}`, wanted, shape)));
    if (!edited) await client.post(hooks, wanted, shape);
    // Two calls at once make two, and each of them keeps the older one.
    const [, ...doubles] = edited ? there : await hooksAt(client, hooks, url);
    for (const { id } of doubles) await unlessGone(() => client.delete(`${hooks}/${id}`));
  });
}

async function removeHooks(client: GitLabClient, ref: GitLabRepositoryRef, url: string): Promise<void> {
  const hooks = `${projectPath(client, ref)}/hooks`;
  await withRight(ref, () =>
    // With its project every hook of it is gone.
    unlessGone(async () => {
      for (const { id } of await hooksAt(client, hooks, url)) await unlessGone(() => client.delete(`${hooks}/${id}`));
    }),
  );
}

/** Oldest first. */
async function hooksAt(client: GitLabClient, hooks: string, url: string): Promise<{ readonly id: number }[]> {
  const found: { readonly id: number }[] = [];
  for await (const page of client.pages(hooks, shape)) found.push(...page.filter((hook) => hook.url === url));
  return found.sort((a, b) => a.id - b.id);
}

/** False: it is not there any more, for another call was quicker. */
async function unlessGone(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found') return false;
    throw error;
  }
}

async function withRight<T>(ref: GitLabRepositoryRef, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    throw new ForgeError(
      'refused',
      `The owner of GITLAB_TOKEN may not change the webhooks of ${ref.url}: it needs the role Maintainer there, and the token the scope api.`,
    );
  }
}

function urlFromOutside(url: string | null): string {
  if (url !== null && !isLoopback(new URL(url).hostname)) return url;
  const now = url === null ? 'PUBLIC_URL is not set' : `PUBLIC_URL (${new URL(url).origin}) is this machine alone`;
  throw new ForgeError(
    'invalid',
    `GitLab cannot reach this server: ${now}. Set it to the address under which GitLab reaches it, e.g. PUBLIC_URL=https://barista.example.com.`,
  );
}

const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);

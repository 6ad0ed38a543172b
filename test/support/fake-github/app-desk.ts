import { createPrivateKey, randomBytes } from 'node:crypto';
import type { operations } from '@octokit/openapi-types';
import { notFound, ok, page, type Answer, type Asked } from './answers.js';
import { app as appShape, installation, user, type Schemas } from './shapes.js';
import type { FakeApp, FakeState } from './state.js';

type Made = operations['apps/create-from-manifest']['responses'][201]['content']['application/json'];
type Deliveries = operations['apps/list-webhook-deliveries']['responses'][200]['content']['application/json'];

/** What a browser gets. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Manifest {
  readonly name?: string;
  readonly url?: string;
  readonly redirect_url?: string;
  readonly public?: boolean;
  readonly hook_attributes?: { readonly url?: string; readonly active?: boolean };
  readonly default_permissions?: Record<string, string>;
  readonly default_events?: string[];
}

/** Which permission an event needs. What GitHub tells every App is no event that one subscribes to. */
const EVENTS: Readonly<Record<string, string>> = {
  pull_request: 'pull_requests',
  check_run: 'checks',
  check_suite: 'checks',
  status: 'statuses',
  push: 'contents',
};
const NEW_APP = /^(?:\/organizations\/([^/]+))?\/settings\/apps\/new$/;

/** Where Apps are made, and where one reads what GitHub knows of it. */
export class AppDesk {
  /** Each manifest that was posted. */
  readonly manifests: Manifest[] = [];
  readonly owners = new Map<number, { readonly login: string; readonly type: 'User' | 'Organization' }>();
  readonly events = new Map<number, readonly string[]>();
  /** Of Apps with an active webhook. */
  readonly hooks = new Map<number, Schemas['webhook-config']>();
  /** The newest first. */
  readonly deliveries = new Map<number, Deliveries>();
  /** Accounts that have an App installed beside the one of the repository. */
  readonly alsoInstalledFor: string[] = [];
  /** What an installation accepted, where that is less than what the App asks for. */
  readonly accepted = new Map<number, Schemas['app-permissions']>();
  readonly #codes = new Map<string, FakeApp>();

  constructor(private readonly state: FakeState) {}

  /** null: no page of the desk. A confirmed form goes back at once. */
  page(method: string, url: URL, body: string): Page | null {
    const found = NEW_APP.exec(url.pathname);
    if (found === null || method !== 'POST') return null;
    const manifest = JSON.parse(new URLSearchParams(body).get('manifest') ?? '{}') as Manifest;
    this.manifests.push(manifest);
    const problem = problemOf(manifest);
    if (problem !== null)
      return { status: 200, headers: { 'content-type': 'text/html' }, text: `Invalid GitHub App configuration. ${problem}` };
    const made = this.#make(manifest, found[1]);
    const code = randomBytes(20).toString('hex');
    this.#codes.set(code, made);
    const back = new URL(String(manifest.redirect_url));
    back.searchParams.set('code', code);
    const state = url.searchParams.get('state');
    if (state !== null) back.searchParams.set('state', state);
    return { status: 302, headers: { location: back.href }, text: '' };
  }

  /** Without a key of any kind; null: another call. */
  convert({ method, path }: Asked): Answer | null {
    const code = /^\/app-manifests\/([^/]+)\/conversions$/.exec(path)?.[1];
    if (code === undefined || method !== 'POST') return null;
    const app = this.#codes.get(code);
    if (app === undefined) return notFound();
    this.#codes.delete(code);
    const made: Made = {
      ...this.#app(app),
      client_id: 'Iv1.0123456789abcdef',
      client_secret: randomBytes(20).toString('hex'),
      webhook_secret: this.hooks.has(app.id) ? randomBytes(20).toString('hex') : null,
      pem: createPrivateKey(app.privateKey).export({ type: 'pkcs1', format: 'pem' }).toString(),
    };
    return ok(made, 201);
  }

  /** With the App's own token; null: another call. */
  asApp(asked: Asked, app: FakeApp): Answer | null {
    if (asked.method !== 'GET') return null;
    switch (asked.path) {
      case '/app':
        return ok(this.#app(app));
      case '/app/installations':
        return this.#installations(asked, app);
      case '/app/hook/config': {
        const hook = this.hooks.get(app.id);
        return hook === undefined ? notFound() : ok(hook);
      }
      case '/app/hook/deliveries': {
        const all = this.deliveries.get(app.id) ?? [];
        return this.hooks.has(app.id) ? ok(all.slice(0, Number(asked.query.get('per_page') ?? 30))) : notFound();
      }
      default:
        return null;
    }
  }

  #make(manifest: Manifest, org: string | undefined): FakeApp {
    const { state } = this;
    const slug = String(manifest.name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-');
    const app = state.addApp(state.nextId(), slug, manifest.default_permissions);
    app.installed = false;
    this.owners.set(app.id, org === undefined ? { login: 'robin', type: 'User' } : { login: org, type: 'Organization' });
    this.events.set(app.id, manifest.default_events ?? []);
    const hook = manifest.hook_attributes;
    if (hook?.url !== undefined && hook.active !== false)
      this.hooks.set(app.id, { url: hook.url, content_type: 'json', secret: '********', insecure_ssl: '0' });
    return app;
  }

  #app(app: FakeApp): NonNullable<Schemas['integration']> {
    const { login, type } = this.owners.get(app.id) ?? { login: app.owner, type: 'Organization' };
    const shape = appShape(this.state.urls, app);
    return { ...shape, owner: { ...user(this.state.urls, login), type }, events: [...(this.events.get(app.id) ?? shape.events)] };
  }

  #installations(asked: Asked, app: FakeApp): Answer {
    const { urls, repo } = this.state;
    const accepted = { ...app, permissions: this.accepted.get(app.id) ?? app.permissions };
    const all = [
      ...(app.installed ? [installation(urls, accepted, app.installationId, repo.owner, app.suspended)] : []),
      ...this.alsoInstalledFor.map((owner, index) => installation(urls, accepted, 90_000 + index, owner, false)),
    ];
    const { items, headers } = page(asked, all, urls.api);
    return { ...ok(items), headers };
  }
}

function problemOf(manifest: Manifest): string | null {
  const {
    name = '',
    url,
    redirect_url: back,
    hook_attributes: hook,
    default_permissions: permissions = {},
    default_events: events = [],
  } = manifest;
  if (url === undefined || (hook !== undefined && hook.url === undefined)) return 'Error "url" wasn\'t supplied.';
  if (back === undefined) return 'Error "redirect_url" wasn\'t supplied.';
  if (name.length > 34) return 'Name is too long (maximum is 34 characters)';
  if (hook?.url !== undefined && /^(localhost|127\.)/.test(new URL(hook.url).hostname))
    return `Hook url is not supported because it isn't reachable over the public Internet (${new URL(hook.url).hostname})`;
  const unsupported = events.filter((event) => !(event in EVENTS));
  if (unsupported.length > 0) return `Default events unsupported: ${unsupported.join(' and ')}`;
  const bare = events.filter((event) => permissions[EVENTS[event] ?? ''] === undefined);
  return bare.length > 0 ? `Default events are not supported by permissions: ${bare.join(' and ')}` : null;
}

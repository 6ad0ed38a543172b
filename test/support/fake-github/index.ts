import { randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KEPT_BY_CLIENTS } from '../keep-alive.js';
import type { Answer, Asked } from './answers.js';
import { AppDesk } from './app-desk.js';
import { notFound, ok } from './answers.js';
import { graphql } from './graphql.js';
import { serveGitToApps } from './git-http.js';
import { RepositoryRoutes } from './routes.js';
import { installation, type Schemas } from './shapes.js';
import { FakeState, type FakeApp } from './state.js';

export * from './faults.js';
export { loginOf } from './reviews.js';
export type { FakeApp } from './state.js';

const API = '/api/v3';

/**
 * A GitHub Enterprise Server over HTTP on a port of its own, with one repository, one pull request and real git behind
 * every answer: what it lists, compares and refuses is what git says of the commits there.
 */
export class FakeGitHub extends FakeState {
  readonly #server: Server;
  readonly #routes = new RepositoryRoutes(this);
  readonly desk = new AppDesk(this);

  private constructor() {
    super();
    this.#server = createServer((request, response) => {
      void this.#serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(): Promise<FakeGitHub> {
    const fake = new FakeGitHub();
    fake.#server.keepAliveTimeout = KEPT_BY_CLIENTS;
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    const web = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    fake.urls = { web, api: `${web}${API}` };
    return fake;
  }

  /** The address of the pull request in a browser. */
  get pullRequest(): string {
    return `${this.urls.web}/${this.repo.owner}/${this.repo.name}/pull/${this.pull.number}`;
  }

  /** How often a request like this came. */
  count(on: RegExp): number {
    return this.requests.filter(({ line }) => on.test(line)).length;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.world.dispose();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const git = /^\/([^/]+\/[^/]+)\.git(\/.*)$/.exec(url);
    if (git !== null) {
      this.requests.push({ line: `GIT ${method} ${url}`, body: '' });
      this.onGit?.();
      const fault = this.#fault(`GIT ${method} ${url}`);
      if (fault !== null) return void response.writeHead(fault.status).end(JSON.stringify(fault.body));
      return git[1] === `${this.repo.owner}/${this.repo.name}`
        ? serveGitToApps(this, request, response, String(git[2]))
        : void response.writeHead(404).end();
    }
    const pieces: Buffer[] = [];
    for await (const chunk of request) pieces.push(chunk as Buffer);
    const body = Buffer.concat(pieces).toString('utf8');
    const full = new URL(url, this.urls.web);
    const shown = this.desk.page(method, full, body);
    if (shown !== null) return void response.writeHead(shown.status, shown.headers).end(shown.text);
    const path = full.pathname.startsWith(API) ? full.pathname.slice(API.length) : full.pathname.replace(/^\/api(?=\/graphql$)/, '');
    const asked: Asked = {
      method,
      path,
      query: full.searchParams,
      headers: request.headers,
      body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>),
    };
    const line = `${method} ${path}${full.search}`;
    this.requests.push({ line, body });
    for (const hook of this.before.filter(({ on }) => on.test(line))) {
      this.before.splice(this.before.indexOf(hook), 1);
      hook.run();
    }
    const fault = this.#fault(line);
    const answer: Answer = fault === null || fault.works === true ? this.#answer(asked) : fault;
    if (fault?.breaks === true) return this.#breakOff(response, answer);
    this.#send(response, fault ?? answer, asked);
  }

  #breakOff(response: ServerResponse, { status, body, headers }: Answer): void {
    const text = Buffer.from(JSON.stringify(body));
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': text.length, ...headers });
    response.write(text.subarray(0, text.length / 2), () => response.destroy());
  }

  #send(response: ServerResponse, { status, body, headers }: Answer, asked: Asked): void {
    const text = body === undefined ? '' : JSON.stringify(body);
    const etag = `"${Buffer.from(text)
      .reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7)
      .toString(16)}"`;
    const common = { 'content-type': 'application/json; charset=utf-8', etag, 'x-ratelimit-remaining': '4999', ...headers };
    if (status === 200 && asked.method === 'GET' && asked.headers['if-none-match'] === etag)
      return void response.writeHead(304, common).end();
    response.writeHead(status, common).end(text);
  }

  #fault(line: string) {
    const at = this.faults.findIndex(({ on }) => on.test(line));
    const fault = this.faults[at];
    if (fault === undefined) return null;
    if (fault.times === undefined) return fault;
    this.faults.splice(at, 1, ...(fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []));
    return fault;
  }

  #answer(asked: Asked): Answer {
    const { method, path } = asked;
    const converted = this.desk.convert(asked);
    if (converted !== null) return converted;
    const key = /^(?:bearer|token) (.+)$/i.exec(String(asked.headers['authorization'] ?? ''))?.[1] ?? '';
    const named = /^\/repos\/([^/]+\/[^/]+?)(\/.*)?$/.exec(path);
    const current = `${this.repo.owner}/${this.repo.name}`;
    if (named !== null && named[1] !== current && this.formerNames.includes(String(named[1]))) {
      const location = `${this.urls.api}/repos/${current}${named[2] ?? ''}?${asked.query.toString()}`;
      return { status: method === 'GET' ? 301 : 307, body: { message: 'Moved Permanently', url: location }, headers: { location } };
    }
    const signer = this.apps.find((app) => isSignedBy(app, key));
    if (signer !== undefined) return this.#asApp(asked, signer, named?.[1] === current ? (named[2] ?? '') : null);
    const app = this.apps.find(({ id }) => id === this.tokens.get(key));
    if (app === undefined)
      return { status: 401, body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest', status: '401' } };
    const who = { ...app, permissions: both(app.permissions, this.granted.get(key) ?? {}) };
    if (path === '/graphql') return graphql(this, this.#routes.reviews, asked.body, who);
    if (named?.[1] !== current || !who.installed) return notFound();
    if (who.suspended) return SUSPENDED;
    return this.#routes.answer(asked, named[2] ?? '', who);
  }

  #asApp(asked: Asked, app: FakeApp, below: string | null): Answer {
    const { method, path } = asked;
    const own = this.desk.asApp(asked, app);
    if (own !== null) return own;
    if (method === 'GET' && below === '/installation')
      return app.installed ? ok(installation(this.urls, app, app.installationId, this.repo.owner, app.suspended)) : notFound();
    if (method === 'POST' && path === `/app/installations/${app.installationId}/access_tokens`) {
      if (!app.installed) return notFound();
      if (app.suspended) return SUSPENDED;
      const token = `ghs_${randomBytes(18).toString('hex')}`;
      this.tokens.set(token, app.id);
      this.granted.set(token, { ...app.permissions });
      const body: Schemas['installation-token'] = {
        token,
        expires_at: '2099-01-01T00:00:00Z',
        permissions: app.permissions,
        repository_selection: 'selected',
      };
      return ok(body, 201);
    }
    return notFound();
  }
}

const SUSPENDED: Answer = {
  status: 403,
  body: { message: 'This installation has been suspended', documentation_url: 'https://docs.github.com/rest', status: '403' },
};

/** What is taken from an App is taken from its tokens at once; what is given to it they do not get. */
function both(now: FakeApp['permissions'], then: FakeApp['permissions']): FakeApp['permissions'] {
  return Object.fromEntries(
    Object.entries(now)
      .filter(([name]) => name in then)
      .map(([name, access]) => [name, access === 'read' ? access : then[name as keyof typeof then]]),
  );
}

function isSignedBy(app: FakeApp, jwt: string): boolean {
  const [head, payload, signature] = jwt.split('.');
  if (head === undefined || payload === undefined || signature === undefined) return false;
  const { iss } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iss?: unknown };
  if (String(iss) !== String(app.id)) return false;
  return verify('RSA-SHA256', Buffer.from(`${head}.${payload}`), app.publicKey, Buffer.from(signature, 'base64url'));
}

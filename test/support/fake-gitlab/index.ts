import type { PersonalAccessTokenSchema } from '@gitbeaker/core';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveGit } from '../git-http.js';
import type { GitWorld } from '../git-world.js';
import { KEPT_BY_CLIENTS } from '../keep-alive.js';
import { answerTo } from './routes.js';
import { GitLabState, type Faults } from './state.js';

export const TOKEN = 'glpat-fake-token-of-the-reviewer';

/** What a test wants to go wrong with the next call that fits. `done`: the call does its work and then fails. */
export interface Failure {
  readonly on: RegExp;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly done?: boolean;
}

/**
 * A GitLab that speaks HTTP for one project and one merge request: topic into main of a real repository. Its diffs,
 * comparisons, positions and clones are git's; its limits and faults are switches.
 */
export class FakeGitLab {
  readonly state: GitLabState;
  /** Every call in order: `POST /projects/…`, as it came. */
  readonly calls: string[] = [];
  readonly failures: Failure[] = [];
  /** Run once, before the next call that fits is answered. */
  readonly before: { readonly on: RegExp; readonly run: () => void }[] = [];
  token = TOKEN;
  /** What GitLab says of the token to whoever has it. */
  readonly tokenFacts: Pick<PersonalAccessTokenSchema, 'name' | 'scopes' | 'revoked' | 'active'> & { expires_at: string | null } = {
    name: 'barista',
    scopes: ['api'],
    expires_at: null,
    revoked: false,
    active: true,
  };
  readonly #server: Server;

  private constructor(
    private readonly world: GitWorld,
    faults: Partial<Faults>,
    private readonly prefix: string,
  ) {
    this.state = new GitLabState(world, faults);
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(599).end(String(error)));
    });
  }

  /** `prefix`: where a self-managed GitLab has a path of its own. */
  static async start(world: GitWorld, faults: Partial<Faults> = {}, prefix = ''): Promise<FakeGitLab> {
    const fake = new FakeGitLab(world, faults, prefix);
    fake.#server.keepAliveTimeout = KEPT_BY_CLIENTS;
    await new Promise<void>((listening) => fake.#server.listen(0, '127.0.0.1', listening));
    fake.state.webUrl = fake.url;
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.prefix}`;
  }

  get pullRequest(): string {
    return `${this.url}/${this.state.projectPath}/-/merge_requests/${this.state.iid}`;
  }

  /** Calls of the API that fit. */
  asked(what: RegExp): string[] {
    return this.calls.filter((call) => what.test(call));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const path = url.pathname.slice(this.prefix.length);
    const call = `${request.method} ${path.replace('/api/v4', '')}${url.search}`;
    this.calls.push(call);
    if (!path.startsWith('/api/v4/')) return this.#git(request, response, path);
    const body = await read(request);
    if (request.headers.authorization !== `Bearer ${this.token}`) return send(response, 401, { message: '401 Unauthorized' });
    const early = this.before.findIndex(({ on }) => on.test(call));
    if (early >= 0) this.before.splice(early, 1)[0]!.run();
    const at = this.failures.findIndex(({ on }) => on.test(call));
    const [failure] = at < 0 ? [] : this.failures.splice(at, 1);
    if (failure !== undefined && failure.done !== true)
      return send(response, failure.status, failure.body ?? { message: 'failed' }, failure.headers);
    if (path === '/api/v4/personal_access_tokens/self') return send(response, 200, this.tokenFacts);
    const answer = answerTo(this.state, request.method ?? 'GET', path.slice('/api/v4'.length), url.searchParams, body);
    if (failure !== undefined) return send(response, failure.status, failure.body ?? { message: 'failed' }, failure.headers);
    send(response, answer.status, answer.body, answer.headers, request.method === 'HEAD');
  }

  #git(request: IncomingMessage, response: ServerResponse, path: string): void {
    const repository = `/${this.state.projectPath}.git`;
    const [, password] = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':');
    if (password !== this.token) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitLab"' }).end();
    } else if (!path.startsWith(`${repository}/`) || this.state.faults.noGit) response.writeHead(this.state.faults.gitAnswers).end();
    else serveGit(request, response, `${this.world.path}/.git`, path.slice(repository.length));
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  headOnly = false,
): void {
  const raw = Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': raw ? 'text/plain' : 'application/json', ...headers });
  if (headOnly || body === undefined) response.end();
  else response.end(raw ? body : JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

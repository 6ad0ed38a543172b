import { Hono, type Context } from 'hono';
import type { Env } from '../app.js';
import type { Deps } from '../deps.js';
import type { Metrics } from '../metrics.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { check } from '../schema/check.js';
import { agentRoutes } from './agents.js';
import { alertRoutes } from './alerts.js';
import { draftRoutes } from './drafts.js';
import { messageRoutes } from './messages.js';
import { repositoryRoutes } from './repositories.js';
import { reviewRoutes } from './review.js';
import { roomRoutes } from './rooms.js';
import type { Route } from './route.js';

/** Every REST call below `/api/v1`, in the order in which OpenAPI shows them. */
export const ROUTES: readonly Route[] = [
  ...roomRoutes,
  ...agentRoutes,
  ...reviewRoutes,
  ...draftRoutes,
  ...messageRoutes,
  ...alertRoutes,
  ...repositoryRoutes,
];

export function restRoutes(deps: Deps, metrics: Metrics): Hono<Env> {
  const app = new Hono<Env>();
  for (const route of ROUTES) {
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => serve(route, c, deps, metrics));
  }
  return app;
}

async function serve(route: Route, c: Context<Env>, deps: Deps, metrics: Metrics): Promise<Response> {
  const { caller, gone } = c.var;
  if (route.who !== 'member' && caller.kind === 'agent') {
    throw new Refusal('role_required', 'This needs a user key; an agent key is not enough.', 'Ask the owner of the room.');
  }
  const input = {
    params: check(route.params, c.req.param()),
    query: route.query === undefined ? {} : check(route.query, c.req.query()),
    body: route.body === undefined ? {} : check(route.body, await jsonBody(c)),
  };
  const result = await route.run(input as never, { deps, metrics, caller, gone, header: (name) => c.req.header(name) });
  if (result instanceof Response) return result;
  return new Response(JSON.stringify(result.body), {
    status: result.status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

async function jsonBody(c: Context<Env>): Promise<unknown> {
  const text = await c.req.text();
  if (text.trim() === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal('invalid', 'The body is not JSON.', 'Send one JSON object.', 'body');
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw new Refusal('invalid', 'The body is not a JSON object.', 'Send one JSON object.', 'body');
  }
  return body;
}

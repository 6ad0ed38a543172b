import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { routePath } from 'hono/route';
import { authenticate } from './auth.js';
import type { Caller, Deps } from './deps.js';
import type { TimeLimits } from './time-limits.js';
import { handleMcp } from './mcp.js';
import { Metrics } from './metrics.js';
import { openApi } from './openapi.js';
import { problem, problemOf, refusalOf, RETRY_AFTER_SECONDS } from './refusals.js';
import { restRoutes } from './rest/routes.js';
import { SIGNPOST } from './signpost.js';
import { webhookRoutes } from './webhooks/routes.js';

export interface Env {
  Bindings: HttpBindings;
  Variables: { caller: Caller; gone: AbortSignal };
}

/** No REST call carries more than a draft of 1 500 findings. */
const REST_BODY_LIMIT = 16 * 1024 * 1024;

/** The whole HTTP edge. It holds no room's text: any server answers any call. */
export function createApp(deps: Deps): Hono<Env> {
  const app = new Hono<Env>();
  const metrics = new Metrics();

  app.use(async (c, next) => {
    await next();
    metrics.request(routePath(c, -1), c.req.method, c.res.status);
  });
  // Before whatever is asked of browsers and callers with a key: a forge is neither.
  app.route('/webhooks', webhookRoutes(deps, metrics));
  app.use(onlyOwnOrigin(deps));
  app.use(untilGone);

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', (c) => readiness(c, deps));
  app.get(
    '/metrics',
    async () => new Response(await metrics.registry.metrics(), { headers: { 'content-type': metrics.registry.contentType } }),
  );
  app.get('/openapi.json', (c) => c.json(openApi()));
  app.get('/', (c) => c.text(SIGNPOST));
  // Alerts link to it.
  app.get('/rooms/:slug', (c) => c.text(SIGNPOST));

  // Clients look here for a sign-in after a 401; anything but plain JSON breaks those with a good key.
  const noSignIn = () =>
    Response.json({ error: 'not_found', message: 'There is no sign-in here: send your key as a bearer token.' }, { status: 404 });
  app.all('/.well-known/*', noSignIn);
  app.all('/register', noSignIn);

  const withKey: MiddlewareHandler<Env> = async (c, next) => {
    const caller = await authenticate(c.req.header('authorization'), deps.store.accounts, deps.log);
    if (caller instanceof Response) return caller;
    c.set('caller', caller);
    await next();
  };

  app.use('/mcp', withKey);
  app.post('/mcp', (c) => handleMcp(c.req.raw, { deps, metrics, caller: c.var.caller, gone: c.var.gone }, metrics));
  app.all('/mcp', () =>
    Response.json(
      { jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed. This server is stateless: send POST.' }, id: null },
      { status: 405, headers: { allow: 'POST' } },
    ),
  );

  app.use('/api/v1/*', withKey, bodyLimit({ maxSize: REST_BODY_LIMIT, onError: () => tooLarge() }));
  app.route('/api/v1', restRoutes(deps, metrics));

  app.notFound(() => problem(404, { code: 'not_found', detail: 'There is nothing at this address.' }));
  app.onError((error) => {
    if (error instanceof HTTPException)
      return problem(error.status, { code: 'invalid', detail: error.message || 'The request cannot be read.' });
    return problemOf(refusalOf(error, deps.log));
  });
  return app;
}

function tooLarge(): Response {
  return problem(413, { code: 'invalid', detail: `The body is larger than ${REST_BODY_LIMIT} bytes.` });
}

/** A browser says where a page came from; one that is not ours does not reach the server. */
function onlyOwnOrigin(deps: Deps): MiddlewareHandler<Env> {
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && !deps.ownOrigins().includes(origin)) {
      return problem(403, { code: 'invalid', detail: 'Requests from pages of another origin are not taken.' });
    }
    await next();
  };
}

/** A signal for "nobody reads the answer any more": the SDK's own does not fire on a cut call. */
const untilGone: MiddlewareHandler<Env> = async (c, next) => {
  const gone = new AbortController();
  c.env.outgoing.once('close', () => gone.abort());
  c.set('gone', gone.signal);
  await next();
};

async function readiness(c: Context, deps: Deps): Promise<Response> {
  const [database, temporal] = await Promise.all([
    isReady(() => deps.store.ping(), deps.timeLimits),
    isReady(deps.temporalReady, deps.timeLimits),
  ]);
  const ready = database && temporal;
  return c.json({ ready, database, temporal }, ready ? 200 : 503, ready ? {} : { 'retry-after': String(RETRY_AFTER_SECONDS) });
}

function isReady(check: () => Promise<void>, { ready }: TimeLimits): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ready);
    check()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}

import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Env } from '../app.js';
import type { Deps } from '../deps.js';
import type { Metrics } from '../metrics.js';
import { problem } from '../refusals.js';
import { deliveryWorkflowId } from '../../workflows/delivery/messages.js';
import type { Sender } from './senders.js';
import type { Taken } from './take.js';

/** GitHub sends nothing larger, nor does GitLab by default. */
export const WEBHOOK_BODY_LIMIT = 25 * 1024 * 1024;
/** Seconds; a Temporal that was away for a moment is back by then. */
const RETRY_AFTER = '30';

/** `POST /webhooks/FORGE`: verifies on the raw body before anything reads it, and answers once it is kept (P3). */
export function webhookRoutes(deps: Deps, metrics: Metrics): Hono<Env> {
  const app = new Hono<Env>();
  for (const sender of deps.senders) {
    app.post(
      `/${sender.forge}`,
      async (c, next) => {
        if (sender.missing !== null) return notSetUp(sender.missing);
        if (sender.isForged(c.req.raw.headers)) return forged(sender, metrics);
        await next();
      },
      bodyLimit({
        maxSize: WEBHOOK_BODY_LIMIT,
        onError: () => problem(413, { code: 'invalid', detail: `The body is larger than ${WEBHOOK_BODY_LIMIT} bytes.` }),
      }),
      async (c) => {
        const webhook = { headers: c.req.raw.headers, body: Buffer.from(await c.req.arrayBuffer()) };
        if (!sender.isGenuine(webhook, deps.now())) return forged(sender, metrics);
        return take(sender, webhook, deps, metrics);
      },
    );
  }
  return app;
}

async function take(
  sender: Sender,
  webhook: Parameters<Sender['read']>[0],
  { takeDelivery, now, log }: Deps,
  metrics: Metrics,
): Promise<Response> {
  const delivery = sender.read(webhook);
  const { heard } = delivery;
  let taken: Taken;
  try {
    taken = await takeDelivery(delivery, now());
  } catch (error) {
    log.error({ err: error, forge: sender.forge, delivery: delivery.id }, 'a delivery could not be kept');
    metrics.delivery(sender.forge, 'not_kept');
    return problem(
      503,
      { code: 'unavailable', detail: 'The delivery could not be kept in time. It may be sent again.' },
      { 'retry-after': RETRY_AFTER },
    );
  }
  metrics.delivery(sender.forge, heard.kind === 'pull_request' || heard.kind === 'access' ? `${heard.kind}_${heard.what}` : heard.kind);
  const body = { delivery: deliveryWorkflowId(delivery), ...(heard.kind === 'ignored' && { ignored: heard.reason }) };
  return taken === 'kept' ? Response.json(body, { status: 202 }) : Response.json({ ...body, done: true });
}

/** Says nothing of what was wrong with it: whoever has the secret knows how to sign. */
function forged({ forge }: Sender, metrics: Metrics): Response {
  metrics.delivery(forge, 'refused');
  return problem(401, { code: 'invalid', detail: 'The signature of the delivery is missing or wrong.' });
}

function notSetUp(setting: string): Response {
  return problem(404, { code: 'not_found', detail: `This server takes no deliveries of this forge: ${setting} is not set.` });
}

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Heard, PullRequestHeard } from '../../../workflows/delivery/heard.js';
import { deliveryId, type ForgeWebhook, ignored, isSameSecret, parsedBody } from '../deliveries.js';
import { gitlabRef } from '../pull-request.js';

/** What GitLab and this server share. With a signing key only signatures count; else the secret token does. */
export interface GitLabWebhookSecrets {
  readonly secretToken: string | null;
  /** `whsec_…`: GitLab's signing token, by the Standard Webhooks specification. */
  readonly signingKey: string | null;
}

/** The specification's: an older signature may be one that was listened to. */
const TOLERANCE_S = 300;

/** Whether the delivery comes from the GitLab that shares the secrets; in constant time. `now`: epoch milliseconds. */
export function isFromGitLab({ headers, body }: ForgeWebhook, { secretToken, signingKey }: GitLabWebhookSecrets, now: number): boolean {
  if (signingKey === null)
    return secretToken !== null && secretToken !== '' && isSameSecret(headers.get('x-gitlab-token') ?? '', secretToken);
  const [id, at, signatures] = [headers.get('webhook-id'), headers.get('webhook-timestamp'), headers.get('webhook-signature')];
  if (id === null || at === null || signatures === null || !/^\d{1,12}$/.test(at)) return false;
  if (Math.abs(now / 1_000 - Number(at)) > TOLERANCE_S) return false;
  const key = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')}`;
  return signatures.split(' ').reduce((found, one) => isSameSecret(one, expected) || found, false);
}

const labels = z.array(z.object({ title: z.string() })).nullish();
const sha = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

const mergeRequestHook = z.object({
  object_kind: z.literal('merge_request'),
  object_attributes: z.object({
    iid: z.number(),
    target_project_id: z.number(),
    target: z.object({ path_with_namespace: z.string() }),
    action: z.string().nullish(),
    oldrev: sha.nullish(),
    last_commit: z.object({ id: sha }).nullish(),
    draft: z.boolean().nullish(),
  }),
  labels,
  changes: z.object({ draft: z.object({ current: z.boolean().nullish() }).nullish() }).nullish(),
});

const pipelineHook = z.object({
  object_kind: z.literal('pipeline'),
  object_attributes: z.object({ sha, status: z.string() }),
  project: z.object({ id: z.number() }),
  merge_request: z.object({ iid: z.number(), target_project_id: z.number() }).nullish(),
});

/**
 * A verified delivery in our own words; `base` is GITLAB_URL. What is of no use to a room is ignored with its reason, for
 * a hook that is answered with an error too often is turned off.
 */
export function readGitLabDelivery({ headers, body }: ForgeWebhook, base: string): Delivery {
  return { forge: 'gitlab', id: idOf(headers, body), heard: heardOf(body, base) };
}

/**
 * The same however often GitLab sends it: neither the hook's id nor the event's is. `webhook-id` is the same as the
 * Idempotency-Key and signed. Before 17.4 there is none: then the body tells, whose times make it one of a kind.
 */
function idOf(headers: ForgeWebhook['headers'], body: Buffer): string {
  const given = headers.get('webhook-id') ?? headers.get('idempotency-key') ?? '';
  return deliveryId(given, given === '' ? body : given);
}

function heardOf(body: Buffer, base: string): Heard {
  const payload = parsedBody(body);
  // A system hook names some of its events otherwise than a project's.
  const { object_kind: kind, event_name: event } = (payload ?? {}) as { object_kind?: unknown; event_name?: unknown };
  if (kind === 'merge_request') return mergeRequestHeard(mergeRequestHook.safeParse(payload), base);
  if (kind === 'pipeline') return pipelineHeard(pipelineHook.safeParse(payload), base);
  const named = kind ?? event;
  return ignored(typeof named === 'string' ? `nothing is done on ${named.slice(0, 50)} events` : 'it names no event');
}

function mergeRequestHeard(read: z.ZodSafeParseResult<z.infer<typeof mergeRequestHook>>, base: string): Heard {
  if (!read.success) return malformed(read.error);
  const { object_attributes: what, labels: shown } = read.data;
  const did = whatHappened(read.data);
  if (did === null) return ignored(`nothing is done on ${what.action ?? 'unnamed'} of a merge request`);
  const { repository, key, url } = refAt(base, what.target.path_with_namespace, what.iid, what.target_project_id);
  return {
    kind: 'pull_request',
    what: did,
    repository,
    key,
    url,
    headSha: what.last_commit?.id ?? null,
    draft: what.draft ?? false,
    labels: (shown ?? []).map(({ title }) => title),
  };
}

/** `oldrev` is there only where code changed; `changes` may be empty. Leaving draft says more than the push it came with. */
function whatHappened({
  object_attributes: { action, oldrev },
  changes,
}: z.infer<typeof mergeRequestHook>): PullRequestHeard['what'] | null {
  switch (action) {
    case 'open':
      return 'opened';
    case 'close':
      return 'closed';
    case 'merge':
      return 'merged';
    case 'reopen':
      return 'reopened';
    case 'update': {
      const draft = changes?.draft?.current;
      if (draft != null) return draft ? 'drafted' : 'ready';
      return oldrev == null ? 'edited' : 'pushed';
    }
    default:
      return null;
  }
}

function pipelineHeard(read: z.ZodSafeParseResult<z.infer<typeof pipelineHook>>, base: string): Heard {
  if (!read.success) return malformed(read.error);
  const { object_attributes: ran, project, merge_request: of } = read.data;
  // A pipeline of a fork belongs to the fork; the merge request it is for does not.
  const { repository, key } = refAt(base, '', of?.iid ?? 0, of?.target_project_id ?? project.id);
  return { kind: 'ci', repository, headSha: ran.sha, key: of == null ? null : key };
}

function refAt(base: string, path: string, iid: number, projectId: number) {
  const { origin, pathname } = new URL(base);
  return gitlabRef(origin, `${pathname.replace(/^\/|\/$/g, '')}/${path}`.replace(/^\//, ''), iid, projectId);
}

const malformed = (error: z.ZodError): Heard => ignored(`it is not in GitLab's form (${error.issues[0]?.path.join('.') ?? 'body'})`);

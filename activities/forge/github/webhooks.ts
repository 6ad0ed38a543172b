import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Heard, PullRequestHeard } from '../../../workflows/delivery/heard.js';
import { deliveryId, type ForgeWebhook, ignored, isSameSecret, parsedBody } from '../deliveries.js';
import { githubRef } from '../pull-request.js';

/** How deliveries are read: `webUrl` is the GitHub's own address, `ownApps` the ids of our Apps, `reviewerApp` one of them. */
export interface GitHubReading {
  readonly webUrl: string;
  readonly ownApps: ReadonlySet<number>;
  readonly reviewerApp: number | null;
}

/** Whether the raw body was signed with the secret (`X-Hub-Signature-256`), in constant time. */
export function verifySignature(body: Buffer, header: string | null, secret: string): boolean {
  if (secret === '' || header === null) return false;
  return isSameSecret(header, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
}

/**
 * A verified delivery in our own words; what is of no use to a room is ignored with its reason. Redelivered it has the
 * same id.
 */
export function readGitHubDelivery({ headers, body }: ForgeWebhook, reading: GitHubReading): Delivery {
  const id = deliveryId(headers.get('x-github-delivery') ?? '', body);
  return { forge: 'github', id, heard: heardOf(headers.get('x-github-event') ?? '', parsedBody(body), reading) };
}

const id = z.number().int().positive();
const sha = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);
const repository = z.object({ id, name: z.string(), owner: z.object({ login: z.string() }) });
const installation = z.object({
  account: z.object({ login: z.string() }),
  app_id: id.nullish(),
  app_slug: z.string().nullish(),
  html_url: z.string().nullish(),
});
const listed = z.array(z.object({ id }));

const pullRequestPayload = z.object({
  action: z.string(),
  number: id,
  pull_request: z.object({
    head: z.object({ sha }),
    merged: z.boolean().nullish(),
    draft: z.boolean().nullish(),
    labels: z.array(z.object({ name: z.string() })).nullish(),
  }),
  repository,
});
const checkRunPayload = z.object({
  action: z.string(),
  check_run: z.object({ head_sha: sha, app: z.object({ id }).nullish() }),
  repository,
});
const checkSuitePayload = z.object({
  action: z.string(),
  check_suite: z.object({ head_sha: sha, app: z.object({ id }).nullish() }),
  repository,
});
const statusPayload = z.object({ sha, repository });
const installationPayload = z.object({ action: z.string(), installation, repositories: listed.nullish() });
const installationRepositoriesPayload = z.object({
  action: z.string(),
  installation,
  repositories_added: listed,
  repositories_removed: listed,
});

function heardOf(event: string, payload: unknown, reading: GitHubReading): Heard {
  switch (event) {
    case 'pull_request':
      return read(pullRequestPayload, payload, (told) => pullRequestHeard(told, reading));
    case 'check_run':
      return read(checkRunPayload, payload, ({ action, check_run: run, repository: of }) => {
        // The other actions ask an App to run something.
        if (action !== 'created' && action !== 'completed') return nothingOn(event, action);
        return ciHeard(of, run.head_sha, run.app?.id, reading);
      });
    case 'check_suite':
      return read(checkSuitePayload, payload, ({ action, check_suite: suite, repository: of }) =>
        action === 'completed' ? ciHeard(of, suite.head_sha, suite.app?.id, reading) : nothingOn(event, action),
      );
    case 'status':
      return read(statusPayload, payload, (told) => ciHeard(told.repository, told.sha, undefined, reading));
    case 'installation':
      return read(installationPayload, payload, (told) => installationHeard(told, reading));
    case 'installation_repositories':
      return read(installationRepositoriesPayload, payload, (told) => installationRepositoriesHeard(told, reading));
    default:
      return ignored(event === '' ? 'it names no event' : `nothing is done on ${event.slice(0, 50)} events`);
  }
}

const WHAT: Readonly<Record<string, PullRequestHeard['what']>> = {
  opened: 'opened',
  synchronize: 'pushed',
  closed: 'closed',
  reopened: 'reopened',
  // A base branch that changed comes as this, with no synchronize.
  edited: 'edited',
  labeled: 'edited',
  unlabeled: 'edited',
  ready_for_review: 'ready',
  converted_to_draft: 'drafted',
};

function pullRequestHeard(
  { action, number, pull_request: pull, repository: of }: z.infer<typeof pullRequestPayload>,
  { webUrl }: GitHubReading,
): Heard {
  const what = WHAT[action];
  if (what === undefined) return nothingOn('pull_request', action);
  const { repository: place, key, url } = githubRef(webUrl, of.owner.login, of.name, number, of.id);
  return {
    kind: 'pull_request',
    what: what === 'closed' && pull.merged === true ? 'merged' : what,
    repository: place,
    key,
    url,
    headSha: pull.head.sha,
    draft: pull.draft ?? false,
    labels: (pull.labels ?? []).map(({ name }) => name),
  };
}

/** By its commit alone: a run for a push to a fork names no pull request. */
function ciHeard(of: z.infer<typeof repository>, headSha: string, app: number | undefined, { webUrl, ownApps }: GitHubReading): Heard {
  if (app !== undefined && ownApps.has(app)) return ignored('it is of our own App');
  return { kind: 'ci', repository: githubRef(webUrl, of.owner.login, of.name, 1, of.id).repository, headSha, key: null };
}

function installationHeard(told: z.infer<typeof installationPayload>, reading: GitHubReading): Heard {
  const { action, repositories } = told;
  const common = accessOf(told.installation, action === 'deleted', reading);
  switch (action) {
    case 'created':
      return { ...common, what: 'given', repositories: placesOf(repositories, reading) };
    case 'unsuspend':
      return { ...common, what: 'given', repositories: null };
    case 'deleted':
      return { ...common, what: 'taken', repositories: placesOf(repositories, reading) };
    case 'suspend':
      return { ...common, what: 'taken', repositories: null };
    case 'new_permissions_accepted':
      return { ...common, what: 'changed', repositories: null };
    default:
      return nothingOn('installation', action);
  }
}

function installationRepositoriesHeard(told: z.infer<typeof installationRepositoriesPayload>, reading: GitHubReading): Heard {
  const { action, repositories_added: added, repositories_removed: removed } = told;
  const common = accessOf(told.installation, false, reading);
  if (action === 'added') return { ...common, what: 'given', repositories: placesOf(added, reading) };
  if (action !== 'removed') return nothingOn('installation_repositories', action);
  // From all to some GitHub names none of those it took; of very many, none are kept.
  return placesOf(removed, reading) === null
    ? { ...common, what: 'changed', repositories: null }
    : { ...common, what: 'taken', repositories: placesOf(removed, reading) };
}

/** An installation that is gone has no page any more: what is left is to install the App anew. */
function accessOf(
  { account, app_id: app, app_slug: slug, html_url: page }: z.infer<typeof installation>,
  gone: boolean,
  of: GitHubReading,
) {
  const url = gone || page == null ? slug && `${of.webUrl}/apps/${slug}/installations/new` : page;
  return {
    kind: 'access' as const,
    identity: app != null && app === of.reviewerApp ? ('reviewer' as const) : ('operator' as const),
    account: account.login,
    place: of.webUrl,
    url: url?.startsWith(`${of.webUrl}/`) ? url : null,
  };
}

/** More are not named one by one: an event has to fit into a workflow's history. */
const NAMED_AT_MOST = 2_000;

/** Their ids alone make them what refs have. */
function placesOf(repositories: readonly { readonly id: number }[] | null | undefined, { webUrl }: GitHubReading): string[] | null {
  if (repositories == null || repositories.length === 0 || repositories.length > NAMED_AT_MOST) return null;
  return repositories.map((one) => githubRef(webUrl, 'owner', 'name', 1, one.id).repository);
}

function read<T>(schema: z.ZodType<T>, payload: unknown, heard: (told: T) => Heard): Heard {
  const result = schema.safeParse(payload);
  if (result.success) return heard(result.data);
  const [issue] = result.error.issues;
  return ignored(`it is not as GitHub sends it: ${issue?.path.join('.') || 'the whole'} ${issue?.message ?? ''}`.slice(0, 200));
}

const nothingOn = (event: string, action: string): Heard => ignored(`nothing is done on ${action.slice(0, 50)} of ${event}`);

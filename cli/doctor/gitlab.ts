import { z } from 'zod';
import { createGitLabClient, type GitLabClient } from '../../activities/forge/gitlab/client.js';
import { ForgeError } from '../../activities/forge/port.js';
import type { ServerSettings } from '../../config/settings.js';
import { checkLastDelivery, LOOKING, webhookAddress, type ReadLast } from './deliveries.js';
import { type Finding, whatToDo } from './finding.js';
import { checkHooks, type ReadHooked } from './gitlab-hooks.js';

type Settings = Pick<ServerSettings, 'publicUrl' | 'forges'>;

/**
 * The token, whether GitLab's deliveries are taken, and whether the projects that are counted on send them. `last` and
 * `hooked` are null where no database can be asked.
 */
export async function checkGitLab(
  { publicUrl, forges }: Settings,
  last: ReadLast | null,
  hooked: ReadHooked | null,
  now: () => number,
): Promise<Finding[]> {
  const { gitlab, webhooks } = forges;
  if (gitlab === null) {
    const says = 'not set up (GITLAB_TOKEN_FILE names the file of an access token with the scope api)';
    return [{ what: 'GitLab', ok: true, says }];
  }
  const client = createGitLabClient({ base: gitlab.url, token: () => Promise.resolve(gitlab.token), now });
  const address = webhookAddress(publicUrl, 'gitlab');
  const token = await checkToken(client, now);
  return [
    token,
    checkWebhook(address, webhooks.gitlab),
    ...(token.ok && address !== null && hooked !== null ? await checkHooks(client, address, await onThis(gitlab.url, hooked)) : []),
    ...(await checkLastDelivery('GitLab', 'gitlab', last, now)),
  ];
}

/** Those of another GitLab, which was set up before, are not asked for with this one's token. */
async function onThis(base: string, hooked: ReadHooked): Promise<string[]> {
  return (await hooked()).filter((url) => url.toLowerCase().startsWith(`${base.toLowerCase()}/`));
}

const tokenShape = z.object({ name: z.string(), scopes: z.array(z.string()), expires_at: z.string().nullish() });
const DAY_MS = 24 * 60 * 60_000;
const SOON_DAYS = 14;

async function checkToken(client: GitLabClient, now: () => number): Promise<Finding> {
  const what = 'GitLab token';
  const { base: url } = client;
  const fresh = `Make one with the scope api at ${url}/-/user_settings/personal_access_tokens and put it where GITLAB_TOKEN or GITLAB_TOKEN_FILE has the old one.`;
  let self: z.infer<typeof tokenShape>;
  try {
    self = await client.get('personal_access_tokens/self', tokenShape);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return { what, ok: false, says: error.message, do: whatToDo(error, fresh, 'GITLAB_URL') };
  }
  const { name, scopes, expires_at: until } = self;
  if (!scopes.includes('api'))
    return { what, ok: false, says: `${name} has the scopes ${scopes.join(', ') || 'none'}, not api`, do: fresh };
  const days = until == null ? Infinity : Math.ceil((Date.parse(until) - now()) / DAY_MS);
  const says = `GitLab at ${url} takes ${name}, which has the scope api`;
  if (days > SOON_DAYS) return { what, ok: true, says: until == null ? says : `${says}, until ${until}` };
  return { what, ok: true, says: `${says}, but only until ${until}`, do: fresh };
}

function checkWebhook(address: string | null, { secretToken, signingKey }: ServerSettings['forges']['webhooks']['gitlab']): Finding {
  const what = 'GitLab webhook';
  const told = 'to be told at once, set';
  if (address === null) return { what, ok: true, says: `none: ${LOOKING}; ${told} PUBLIC_URL to an address that GitLab reaches` };
  if (signingKey === null && secretToken === null)
    return { what, ok: true, says: `none: ${LOOKING}; ${told} GITLAB_WEBHOOK_SECRET_FILE, and a webhook of the project to ${address}` };
  return { what, ok: true, says: `taken at ${address}, by ${signingKey === null ? 'their secret token' : 'their signature'}` };
}

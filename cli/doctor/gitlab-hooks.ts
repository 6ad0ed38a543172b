import { api, type GitLabClient } from '../../activities/forge/gitlab/client.js';
import { Forbidden } from '../../activities/forge/gitlab/errors.js';
import { hook as shape } from '../../activities/forge/gitlab/shapes.js';
import { ForgeError } from '../../activities/forge/port.js';
import { LOOKING } from './deliveries.js';
import { type Finding, whatToDo } from './finding.js';

/** The addresses of the projects on whose webhook somebody counts: those where rooms open by themselves (P3). */
export type ReadHooked = () => Promise<readonly string[]>;

/** How many projects are looked at. */
const LOOKED_AT = 20;
/** What a room has to hear of. */
const EVENTS = [
  ['merge_requests_events', 'merge requests'],
  ['pipeline_events', 'pipelines'],
] as const;

type Seen = Finding | 'in order' | 'not shown';

/**
 * Whether GitLab tells of what happens in these projects: the webhook of each, where the token may read it. Where it may
 * not, that is said and is no fault: the webhook may be in order all the same.
 */
export async function checkHooks(client: GitLabClient, address: string, projects: readonly string[]): Promise<Finding[]> {
  const looked = projects.slice(0, LOOKED_AT);
  const seen = await Promise.all(looked.map(async (url) => ({ url, found: await look(client, url, address) })));
  const names = (what: Seen) => seen.filter(({ found }) => found === what).map(({ url }) => pathOf(client, url));
  const [inOrder, notShown, more] = [names('in order'), names('not shown'), projects.length - looked.length];
  const what = 'GitLab webhooks';
  return [
    ...seen.flatMap(({ found }) => (typeof found === 'string' ? [] : [found])),
    ...(inOrder.length === 0 ? [] : [{ what, ok: true, says: `GitLab sends to ${address} from ${inOrder.join(', ')}` }]),
    ...(notShown.length === 0
      ? []
      : [{ what, ok: true, says: `not shown to the token, which needs the role Maintainer for it: those of ${notShown.join(', ')}` }]),
    ...(more === 0 ? [] : [{ what, ok: true, says: `${more} more projects were not looked at` }]),
  ];
}

const pathOf = ({ base }: GitLabClient, url: string): string => url.slice(base.length + 1);

async function look(client: GitLabClient, url: string, address: string): Promise<Seen> {
  const what = `GitLab webhook of ${pathOf(client, url)}`;
  const settings = `${url}/-/hooks`;
  const wrong = (says: string, todo: string): Finding => ({ what, ok: false, says, do: todo });
  try {
    const hooks = [];
    for await (const page of client.pages(`${api`projects/${pathOf(client, url)}`}/hooks`, shape)) hooks.push(...page);
    const ours = hooks.filter((one) => one.url.replace(/\/+$/, '') === address);
    const [hook] = ours;
    if (hook === undefined) {
      const other = hooks.find((one) => /\/webhooks\/gitlab\/*$/.test(one.url));
      return other === undefined
        ? wrong(
            `there is none to ${address}, so that ${LOOKING}`,
            `Run barista repo set ${url} --automatic again, or add it at ${settings}.`,
          )
        : wrong(`GitLab sends to ${originOf(other.url)}, not to ${address}`, `Change it at ${settings}, or set PUBLIC_URL.`);
    }
    const again = `Let GitLab reach ${address} (its answers are at ${settings}, Edit, Recent events); a test from there turns it on again.`;
    if (ours.every((one) => one.alert_status === 'disabled'))
      return wrong(`GitLab has turned it off, for its deliveries failed too often; ${LOOKING}`, again);
    if (ours.every((one) => one.alert_status === 'temporarily_disabled'))
      return wrong(`GitLab sends nothing ${until(hook.disabled_until)}, for its last deliveries failed`, again);
    const missing = EVENTS.filter(([event]) => ours.every((one) => one[event] === false)).map(([, name]) => name);
    if (missing.length > 0) return wrong(`it is not told of ${missing.join(' and ')}`, `Choose them at ${settings}.`);
    return 'in order';
  } catch (error) {
    if (error instanceof Forbidden) return 'not shown';
    if (!(error instanceof ForgeError)) throw error;
    return wrong(error.message, whatToDo(error, `Let the owner of GITLAB_TOKEN into ${url}.`, 'GITLAB_URL'));
  }
}

/** An address may hold a key behind its host. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : 'another address');

const until = (time: string | null | undefined): string => (time == null ? 'for a time' : `until ${time}`);

import { missingEvents, missingPermissions } from '../../activities/forge/github/app-needs.js';
import {
  createAppReader,
  type AppAtGitHub,
  type AppReader,
  type HookAtGitHub,
  type InstallationAtGitHub,
} from '../../activities/forge/github/app-reader.js';
import { webUrlOf } from '../../activities/forge/github/index.js';
import { ForgeError } from '../../activities/forge/port.js';
import type { AppSettings } from '../../config/forge-settings.js';
import type { AppRole } from '../../config/kept-app.js';
import type { ServerSettings } from '../../config/settings.js';
import { ago, checkLastDelivery, LOOKING, webhookAddress, type ReadLast } from './deliveries.js';
import { type Finding, whatToDo } from './finding.js';

type Settings = Pick<ServerSettings, 'publicUrl' | 'forges'>;

/** Each App that is set up: what GitHub says of it, and whether its deliveries come. */
export async function checkGitHub({ publicUrl, forges }: Settings, last: ReadLast | null, now: () => number): Promise<Finding[]> {
  const { github, webhooks } = forges;
  if (github === null) return [{ what: 'GitHub', ok: true, says: 'not set up (npx barista github setup does it)' }];
  const { apiUrl, app, reviewer } = github;
  const readerOf = (identity: AppSettings) => createAppReader({ apiUrl, webUrl: webUrlOf(apiUrl), identity, now });
  const address = webhookAddress(publicUrl, 'github');
  const operator: Check = { role: 'operator', title: 'GitHub App', identity: app, reader: readerOf(app), wantsEvents: address !== null };
  return [
    ...(await checkApp(operator, (at) => checkWebhook(operator, at, { address, secret: webhooks.github, now }))),
    ...(reviewer === null
      ? []
      : await checkApp(
          { role: 'reviewer', title: 'reviewer App', identity: reviewer, reader: readerOf(reviewer), wantsEvents: false },
          async () => [],
        )),
    ...(await checkLastDelivery('GitHub', 'github', last, now)),
  ];
}

interface Check {
  readonly role: AppRole;
  readonly title: string;
  readonly identity: AppSettings;
  readonly reader: AppReader;
  readonly wantsEvents: boolean;
}

async function checkApp(check: Check, more: (app: AppAtGitHub) => Promise<Finding[]>): Promise<Finding[]> {
  const { title, identity, reader } = check;
  const from = identity.keptIn === undefined ? 'named by the environment' : `kept in ${identity.keptIn}`;
  return forPeople(title, identityHelp(check), async () => {
    const app = await reader.app();
    const { name, id, owner } = app;
    return [
      { what: title, ok: true, says: `${name} (${id}, of ${owner}), ${from}; GitHub takes its key` },
      ...(await forPeople(`${title}: installations`, identityHelp(check), async () => {
        const installations = await reader.installations();
        return [checkPermissions(check, app, installations), ...checkEvents(check, app), checkInstallations(check, app, installations)];
      })),
      ...(await more(app)),
    ];
  });
}

function identityHelp({ role, identity: { id, keptIn } }: Check): string {
  const [option, setting] = role === 'operator' ? ['', 'GITHUB_APP_PRIVATE_KEY_FILE'] : [' --reviewer', 'REVIEWER_APP_PRIVATE_KEY_FILE'];
  return keptIn === undefined
    ? `Make a new private key on the App's page if it was revoked, and name its file by ${setting}.`
    : `Make a new private key on the App's page if it was revoked, then run barista github setup${option} --app-id ${id} --private-key-file FILE.`;
}

/** Turns what GitHub refuses into a line; `todo` is for where it refuses the App. */
async function forPeople(what: string, todo: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return [{ what, ok: false, says: error.message, do: whatToDo(error, todo, 'GITHUB_API_URL') }];
  }
}

function checkPermissions({ role, title }: Check, app: AppAtGitHub, installations: readonly InstallationAtGitHub[]): Finding {
  const what = `${title}: permissions`;
  const words = (missing: ReturnType<typeof missingPermissions>) =>
    missing.map(({ permission, access, without }) => `${permission} (${access}): ${without}`).join('; ');
  const asked = missingPermissions(role, app.permissions);
  if (asked.length > 0) {
    const todo = `Give them at ${app.settings}/permissions, then accept them where it is installed.`;
    return { what, ok: false, says: `it lacks ${words(asked)}`, do: todo };
  }
  const behind = installations.flatMap(({ account, settings, permissions }) => {
    const missing = missingPermissions(role, permissions);
    return missing.length === 0 ? [] : [{ says: `${account} has not accepted ${words(missing)}`, settings }];
  });
  if (behind.length === 0) return { what, ok: true, says: 'all that are needed' };
  return {
    what,
    ok: false,
    says: behind.map(({ says }) => says).join('; '),
    do: `Accept them at ${behind.map(({ settings }) => settings).join(', ')}.`,
  };
}

/** Only where GitHub can send them. */
function checkEvents({ role, title, wantsEvents }: Check, app: AppAtGitHub): Finding[] {
  if (!wantsEvents) return [];
  const missing = missingEvents(role, app.events);
  const what = `${title}: events`;
  return missing.length === 0
    ? [{ what, ok: true, says: 'all that are needed' }]
    : [{ what, ok: false, says: `it is not told of ${missing.join(', ')}`, do: `Subscribe it at ${app.settings}/permissions.` }];
}

const NAMED = 5;

function checkInstallations({ title }: Check, app: AppAtGitHub, installations: readonly InstallationAtGitHub[]): Finding {
  const what = `${title}: installations`;
  if (installations.length === 0) return { what, ok: false, says: 'installed nowhere', do: `Install it at ${app.url}/installations/new` };
  const suspended = installations.filter((installation) => installation.suspended);
  if (suspended.length > 0) {
    const says = `suspended for ${suspended.map(({ account }) => account).join(', ')}`;
    return { what, ok: false, says, do: `Lift it at ${suspended.map(({ settings }) => settings).join(', ')}.` };
  }
  const names = installations.slice(0, NAMED).map(({ account }) => account);
  const more = installations.length > NAMED ? ` and ${installations.length - NAMED} more` : '';
  return { what, ok: true, says: `${installations.length} (${names.join(', ')}${more})` };
}

interface Wanted {
  readonly address: string | null;
  readonly secret: string | null;
  readonly now: () => number;
}

const WHAT = 'GitHub webhook';
/** How many of GitHub's last deliveries are looked at. */
const LOOKED_AT = 20;

async function checkWebhook(check: Check, app: AppAtGitHub, { address, secret, now }: Wanted): Promise<Finding[]> {
  if (address === null) {
    const says = `none: ${LOOKING}; to be told at once, set PUBLIC_URL to an address that GitHub reaches`;
    return [{ what: WHAT, ok: true, says }];
  }
  const { reader } = check;
  return forPeople(WHAT, identityHelp(check), async () => {
    const hook = await reader.hook();
    const problems = hookProblems(hook, address, secret, app);
    const found: Finding =
      problems.length === 0
        ? { what: WHAT, ok: true, says: `GitHub sends to ${address}, and its secret is known here` }
        : { what: WHAT, ok: false, says: problems.map(({ says }) => says).join('; '), do: problems.map((problem) => problem.do).join(' ') };
    return hook === null ? [found] : [found, await checkSent(reader, app, address, now())];
  });
}

function hookProblems(hook: HookAtGitHub | null, address: string, secret: string | null, { settings }: AppAtGitHub) {
  if (hook === null || hook.url === null)
    return [
      { says: `the App has no active webhook, so that ${LOOKING}`, do: `Set ${address} and a secret at ${settings} to be told at once.` },
    ];
  const problems: { readonly says: string; readonly do: string }[] = [];
  if (hook.url.replace(/\/+$/, '') !== address)
    problems.push({ says: `GitHub sends to ${hook.url}, not to ${address}`, do: `Change it at ${settings}, or set PUBLIC_URL.` });
  if (!hook.isJson) problems.push({ says: 'GitHub sends it as a form', do: `Choose application/json at ${settings}.` });
  if (!hook.hasSecret) problems.push({ says: 'it has no secret at GitHub', do: `Set one at ${settings}.` });
  if (secret === null)
    problems.push({
      says: 'no secret is known here, so that no delivery is taken',
      do: 'Name the file that holds it by GITHUB_WEBHOOK_SECRET_FILE.',
    });
  return problems;
}

/** As GitHub tells it: what its last deliveries were answered. */
async function checkSent(reader: AppReader, app: AppAtGitHub, address: string, now: number): Promise<Finding> {
  const what = 'deliveries that GitHub sent';
  const sent = await reader.deliveries(LOOKED_AT);
  const [newest] = sent;
  if (newest === undefined) return { what, ok: true, says: 'none yet' };
  const isTaken = ({ status }: { status: number }) => status >= 200 && status < 300;
  const failed = sent.filter((delivery) => !isTaken(delivery)).length;
  const answered = `${newest.event}, ${ago(newest.at, now)}, ${newest.status === 0 ? '' : `${newest.status} `}${newest.says}`.trim();
  if (isTaken(newest))
    return {
      what,
      ok: true,
      says: `the last was taken (${answered})${failed === 0 ? '' : `; ${failed} of the last ${sent.length} were not`}`,
    };
  const again = `GitHub does not send them again by itself: ${app.settings}/advanced does.`;
  return {
    what,
    ok: false,
    says: `the last was not taken (${answered}), nor ${failed - 1} of the ${sent.length - 1} before it`,
    do: `${whyNot(newest.status, address)} ${again}`,
  };
}

function whyNot(status: number, address: string): string {
  if (status === 401 || status === 403) return "The secret here is another than the App's: set the same (GITHUB_WEBHOOK_SECRET_FILE).";
  if (status === 404)
    return `Nothing takes deliveries at ${address}: start Barista again after its setup, and check PUBLIC_URL and what is before this server.`;
  return `GitHub must reach ${address}: look at the server's log, and for a firewall, proxy or certificate in the way.`;
}

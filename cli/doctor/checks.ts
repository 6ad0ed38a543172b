import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pendingMigrations } from '../../prisma/migrate.js';
import { SettingsError } from '../../config/settings-error.js';
import type { ServerSettings } from '../../config/settings.js';
import { runningStack } from '../../stack/running.js';
import { missingSearchAttributes } from '../../stack/search-attributes.js';
import { databaseUrlOf, withStore, withTemporal } from '../operator.js';
import { settingsOn } from '../settings.js';
import { dataDirOf, ownerKeyFile, problemOfKeyFile, serverUrlOf } from '../where.js';
import { checkAlerts } from './alerts.js';
import type { ReadLast } from './deliveries.js';
import { finding, type Finding } from './finding.js';
import { checkForges, forgeKeyFiles } from './forges.js';
import type { ReadHooked } from './gitlab-hooks.js';
import { checkRooms } from './rooms.js';

const OLDEST_NODE = [20, 19];
const OLDEST_GIT = [2, 33];

/**
 * Each thing that Barista needs, in the order in which one rests on the other; what rests on something that is not in
 * order is left out. Changes nothing, but for making the secret of alerts where they are sent and none is kept yet: a
 * receiver must know it before the first of them.
 */
export async function checkEverything(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const own = [checkNode(), await checkGit(), checkDataDir(env), checkKeyFiles(env)];
  const isAway = !env.DATABASE_URL && runningStack(dataDirOf(env)) === undefined;
  const database = isAway ? notRunning(env) : await checkDatabase(env);
  // Of a stack that does not run, only what is named is looked for.
  const temporal = isAway && !env.TEMPORAL_ADDRESS ? null : await checkTemporal(env);
  const server = isAway && !env.BARISTA_URL ? null : await checkServer(env);
  const rooms = database.ok && temporal?.ok ? await checkTheirRuns(env) : null;
  const found = [...own, database, temporal, server, rooms].filter((one) => one !== null);
  try {
    const settings = settingsOn(dataDirOf(env), env);
    return [
      ...found,
      ...(database.ok ? [await checkTheirAlerts(env, settings)] : []),
      ...(await checkForges(settings, readLast(env, database), readHooked(env, database))),
    ];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const todo = 'Change it in the environment or in .env.';
    return [...found, ...error.message.split('\n').map((says) => ({ what: 'settings', ok: false, says, do: todo }))];
  }
}

function notRunning(env: NodeJS.ProcessEnv): Finding {
  return {
    what: 'Barista',
    ok: false,
    says: `does not run on ${dataDirOf(env)}; what rests on it is not checked`,
    do: 'Start it with npm start. One that runs elsewhere is checked by its DATABASE_URL, TEMPORAL_ADDRESS and BARISTA_URL.',
  };
}

function readLast(env: NodeJS.ProcessEnv, database: Finding): ReadLast | null {
  return database.ok ? (forge) => withStore(env, ({ deliveries }) => deliveries.last(forge)) : null;
}

function readHooked(env: NodeJS.ProcessEnv, database: Finding): ReadHooked | null {
  if (!database.ok) return null;
  return () =>
    withStore(env, async ({ accounts, repositories }) => {
      const all = await Promise.all((await accounts.users()).map(({ id }) => repositories.ofOwner(id)));
      const automatic = all.flat().filter(({ forge, settings }) => forge === 'gitlab' && settings.automatic !== null);
      // Owners may have set it under different names of one project.
      return [...new Map(automatic.map(({ repository, url }) => [repository, url])).values()];
    });
}

function checkTheirRuns(env: NodeJS.ProcessEnv): Promise<Finding> {
  return finding(
    'rooms',
    () => withStore(env, (store) => withTemporal(env, ({ client }) => checkRooms(store, client))),
    'docs/operating.md (When a room is stuck) says more.',
  );
}

function checkTheirAlerts(env: NodeJS.ProcessEnv, settings: ServerSettings): Promise<Finding> {
  return finding(
    'alerts',
    () => checkAlerts(env, settings),
    "What is sent again and again is in the worker's log. See BARISTA_NOTIFY_URL.",
  );
}

function isAtLeast(version: readonly number[], oldest: readonly number[]): boolean {
  const [major = 0, minor = 0] = version;
  return major > oldest[0]! || (major === oldest[0] && minor >= oldest[1]!);
}

function checkNode(): Finding {
  const { node } = process.versions;
  const ok = isAtLeast(node.split('.').map(Number), OLDEST_NODE);
  return { what: 'Node', ok, says: node, ...(!ok && { do: `Install Node ${OLDEST_NODE.join('.')} or later.` }) };
}

async function checkGit(): Promise<Finding> {
  const wanted = `Install git ${OLDEST_GIT.join('.')} or later.`;
  try {
    const { stdout } = await promisify(execFile)('git', ['--version']);
    const version = /\d+(\.\d+)+/.exec(stdout)?.[0] ?? '0';
    const ok = isAtLeast(version.split('.').map(Number), OLDEST_GIT);
    return { what: 'git', ok, says: version, ...(!ok && { do: wanted }) };
  } catch {
    return { what: 'git', ok: false, says: 'there is no git on PATH', do: wanted };
  }
}

function checkDataDir(env: NodeJS.ProcessEnv): Finding {
  const dataDir = dataDirOf(env);
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.R_OK);
    return { what: 'data folder', ok: true, says: dataDir };
  } catch {
    return { what: 'data folder', ok: false, says: `${dataDir} cannot be written`, do: 'Set BARISTA_DATA_DIR to a folder of your own.' };
  }
}

function checkKeyFiles(env: NodeJS.ProcessEnv): Finding {
  const dataDir = dataDirOf(env);
  const own = [ownerKeyFile(dataDir), join(dataDir, 'postgres.password'), join(dataDir, 'running.json')];
  const files = [...own, ...forgeKeyFiles(env)].filter((file) => existsSync(file));
  const problems = files.flatMap((file) => problemOfKeyFile(file) ?? []);
  const what = 'key files';
  if (problems.length > 0) return { what, ok: false, says: 'others can read a key', do: problems.join(' ') };
  return { what, ok: true, says: files.length > 0 ? 'readable by you alone' : 'none yet (the first npm start makes them)' };
}

function checkDatabase(env: NodeJS.ProcessEnv): Promise<Finding> {
  return finding(
    'database',
    async () => {
      const url = databaseUrlOf(env);
      const pending = await pendingMigrations(url).catch((error: Error) => {
        throw new Error(`${new URL(url).host} cannot be used (${error.message})`);
      });
      if (pending.length > 0) throw new Error(`${pending.join(', ')} not applied: run barista migrate`);
      return `${new URL(url).host}, every migration applied`;
    },
    'npm start starts and migrates one; with DATABASE_URL it is yours to run, and barista migrate migrates it.',
  );
}

function checkTemporal(env: NodeJS.ProcessEnv): Promise<Finding> {
  return finding(
    'Temporal',
    () =>
      withTemporal(env, async ({ connection, namespace, address }) => {
        const missing = await missingSearchAttributes(connection, namespace);
        if (missing.length > 0) throw new Error(`namespace ${namespace} lacks the search attributes ${missing.join(', ')}`);
        const ui = temporalUiAt(env, address);
        return `${address}, namespace ${namespace}, search attributes known${ui === null ? '' : `; its UI is ${ui}`}`;
      }),
    'npm start starts one and adds the search attributes, also to the server of TEMPORAL_ADDRESS.',
  );
}

/** Null where it is not the one that npm start started. */
function temporalUiAt(env: NodeJS.ProcessEnv, address: string): string | null {
  const running = runningStack(dataDirOf(env));
  return running?.temporalAddress === address ? running.temporalUi : null;
}

/** For a server that stands still a while. */
const ANSWER_MS = 15_000;

function checkServer(env: NodeJS.ProcessEnv): Promise<Finding> {
  return finding(
    'server',
    async () => {
      const url = serverUrlOf(env);
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: Error) => {
        const silent = error.name === 'TimeoutError';
        throw new Error(silent ? `${url} has not answered for ${ANSWER_MS / 1_000} seconds` : `nothing answers at ${url}`);
      });
      if (!response.ok) throw new Error(`${url} is not ready: ${(await response.text()).slice(0, 200)}`);
      return `${url} is ready`;
    },
    'npm start starts it; BARISTA_URL names one elsewhere.',
  );
}

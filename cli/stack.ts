import { isLoopbackHost } from '../config/loopback.js';
import { SettingsError } from '../config/settings-error.js';
import { migrate } from '../prisma/migrate.js';
import { createStore } from '../prisma/store.js';
import { startStack, type Stack } from '../stack/up.js';
import { chosenOwnerKey, ensureOwner } from './owner.js';
import { settingsOn } from './settings.js';

interface StartOptions {
  dataDir: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  temporalCliPath?: string;
  /** What the data folder holds from earlier is removed first. */
  fresh?: boolean;
  /** Called when the settings are found right and the first part is about to start: the first time, it takes a while. */
  starting?: () => void;
}

export interface StartedStack extends Stack {
  ownerKey: { key: string; isNew: boolean };
  /** Whether any repository on this machine can be opened. */
  localRepositories: boolean;
}

/** The whole of Barista on this machine, as the settings say. @throws StackError, SettingsError with the lines to print */
export async function startBarista({
  dataDir,
  env,
  signal,
  temporalCliPath,
  fresh = false,
  starting,
}: StartOptions): Promise<StartedStack> {
  // The database is not known yet, and every other setting is better refused before anything is started.
  const settings = settingsOn(dataDir, env);
  const temporalUiPort = portOf(env, 'TEMPORAL_UI_PORT');
  const chosen = chosenOwnerKey(env);
  const localRepositories = localRepositoriesFor(env.BARISTA_LOCAL_REPOS, settings.host);
  let ownerKey: StartedStack['ownerKey'] | undefined;
  starting?.();
  const stack = await startStack({
    dataDir,
    env: { ...env, BARISTA_LOCAL_REPOS: localRepositories },
    host: settings.host,
    port: settings.port,
    temporalUiPort,
    temporalCliPath,
    fresh,
    signal,
    async prepare(databaseUrl) {
      await migrate(databaseUrl);
      const store = createStore({ url: databaseUrl, now: () => Date.now(), poolSize: 1 });
      try {
        ownerKey = await ensureOwner(store, dataDir, chosen);
      } finally {
        await store.close();
      }
    },
  });
  return { ...stack, ownerKey: ownerKey!, localRepositories: localRepositories !== '' };
}

/** BARISTA_LOCAL_REPOS as it is set, else by who reaches the server; empty: no repository on this machine can be opened. */
export function localRepositoriesFor(named: string | undefined, host: string): string {
  // Whoever reaches a loopback port can read what the user can: then any repository of the user's may be opened.
  return named?.trim() || (isLoopbackHost(host) ? '/' : '');
}

function portOf(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SettingsError(`${name} must be a whole number from 0 to 65535 (0: any free port), e.g. ${name}=8233`);
}

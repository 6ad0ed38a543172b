import { SECRET_FILE_SETTINGS } from '../../config/forge-settings.js';
import { keptAppFile } from '../../config/kept-app.js';
import { SettingsError } from '../../config/settings-error.js';
import { readSettings, type ServerSettings } from '../../config/settings.js';
import { withStore } from '../operator.js';
import { dataDirOf } from '../where.js';
import type { Finding } from './finding.js';
import { checkGitHub } from './github.js';
import { checkGitLab } from './gitlab.js';

/** The forges besides local repositories: whether each answers, lets Barista do its work, and tells it of pushes. */
export async function checkForges(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let settings: ServerSettings;
  try {
    // The database has a check of its own.
    settings = readSettings({
      ...env,
      BARISTA_DATA_DIR: dataDirOf(env),
      DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/barista',
    });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message.split('\n').map((says) => ({ what: 'settings', ok: false, says }));
  }
  const now = () => Date.now();
  const last: LastDelivery = (forge) => withStore(env, ({ deliveries }) => deliveries.last(forge));
  return [...(await checkGitHub(settings, last, now)), ...(await checkGitLab(settings, last, now))];
}

/** The last delivery that came from a forge; `at` in epoch milliseconds. */
export type LastDelivery = (forge: 'github' | 'gitlab') => Promise<{ readonly what: string; readonly at: number } | null>;

/** The files that hold keys of forges: those that setup kept, and those that settings name. */
export function forgeKeyFiles(env: NodeJS.ProcessEnv): string[] {
  const dataDir = dataDirOf(env);
  const named = SECRET_FILE_SETTINGS.flatMap((name) => env[name]?.trim() || []);
  return [keptAppFile(dataDir, 'operator'), keptAppFile(dataDir, 'reviewer'), ...named];
}

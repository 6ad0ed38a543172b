import { SECRET_FILE_SETTINGS } from '../../config/forge-settings.js';
import { keptAppFile } from '../../config/kept-app.js';
import { SettingsError } from '../../config/settings-error.js';
import type { ServerSettings } from '../../config/settings.js';
import { withStore } from '../operator.js';
import { dataDirOf } from '../where.js';
import type { ReadLast } from './deliveries.js';
import type { Finding } from './finding.js';
import { checkGitHub } from './github.js';
import { checkGitLab } from './gitlab.js';
import { settingsToCheck } from './settings.js';

/** The forges besides local repositories: whether each answers, lets Barista do its work, and tells it of pushes. */
export async function checkForges(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let settings: ServerSettings;
  try {
    settings = settingsToCheck(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message.split('\n').map((says) => ({ what: 'settings', ok: false, says }));
  }
  const now = () => Date.now();
  const last: ReadLast = (forge) => withStore(env, ({ deliveries }) => deliveries.last(forge));
  return [...(await checkGitHub(settings, last, now)), ...(await checkGitLab(settings, last, now))];
}

/** The files that hold keys of forges: those that setup kept, and those that settings name. */
export function forgeKeyFiles(env: NodeJS.ProcessEnv): string[] {
  const dataDir = dataDirOf(env);
  const named = SECRET_FILE_SETTINGS.flatMap((name) => env[name]?.trim() || []);
  return [keptAppFile(dataDir, 'operator'), keptAppFile(dataDir, 'reviewer'), ...named];
}

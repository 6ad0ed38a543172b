import { SECRET_FILE_SETTINGS } from '../../config/forge-settings.js';
import { keptAppFile } from '../../config/kept-app.js';
import type { ServerSettings } from '../../config/settings.js';
import { dataDirOf } from '../where.js';
import type { ReadLast } from './deliveries.js';
import type { Finding } from './finding.js';
import { checkGitHub } from './github.js';
import { checkGitLab } from './gitlab.js';
import type { ReadHooked } from './gitlab-hooks.js';

/**
 * The forges besides local repositories: whether each answers, lets Barista do its work, and tells it of pushes.
 * `last` and `hooked` are null where no database can be asked.
 */
export async function checkForges(settings: ServerSettings, last: ReadLast | null, hooked: ReadHooked | null): Promise<Finding[]> {
  const now = () => Date.now();
  return [...(await checkGitHub(settings, last, now)), ...(await checkGitLab(settings, last, hooked, now))];
}

/** The files that hold keys of forges: those that setup kept, and those that settings name. */
export function forgeKeyFiles(env: NodeJS.ProcessEnv): string[] {
  const dataDir = dataDirOf(env);
  const named = SECRET_FILE_SETTINGS.flatMap((name) => env[name]?.trim() || []);
  return [keptAppFile(dataDir, 'operator'), keptAppFile(dataDir, 'reviewer'), ...named];
}

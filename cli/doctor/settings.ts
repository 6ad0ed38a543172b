import { checkLocalRepositories } from '../../config/local-repositories.js';
import { readSettings, type ServerSettings } from '../../config/settings.js';
import { dataDirOf } from '../where.js';

/** The server's settings, also where no database is named: that one has a check of its own. @throws {SettingsError} */
export function settingsToCheck(env: NodeJS.ProcessEnv): ServerSettings {
  const settings = readSettings({
    ...env,
    BARISTA_DATA_DIR: dataDirOf(env),
    DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/barista',
  });
  checkLocalRepositories(settings.localRepositories);
  return settings;
}

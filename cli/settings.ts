import { checkLocalRepositories } from '../config/local-repositories.js';
import { readSettings, type ServerSettings } from '../config/settings.js';

/**
 * The server's settings on a data folder, also where no database is named: it has a check of its own, or is not started
 * yet. @throws {SettingsError}
 */
export function settingsOn(dataDir: string, env: NodeJS.ProcessEnv): ServerSettings {
  const settings = readSettings({
    ...env,
    BARISTA_DATA_DIR: dataDir,
    DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/barista',
  });
  checkLocalRepositories(settings.localRepositories);
  return settings;
}

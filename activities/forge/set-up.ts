import { join } from 'node:path';
import type { ForgeSettings } from '../../config/forge-settings.js';
import { createForges } from './forges.js';
import { createGitHubForge } from './github/index.js';
import { createGitLabForge } from './gitlab/index.js';
import { createLocalForge } from './local/index.js';
import type { Forge } from './port.js';

interface ForgeOptions {
  readonly localRepositories: readonly string[] | null;
  readonly dataDir: string;
  readonly forges: ForgeSettings;
  /** Where this server is reached from outside. */
  readonly publicUrl: string | null;
}

/** Every forge of a process, as its settings have them. `stop` ends what they have under way. */
export function setUpForges(
  { localRepositories, dataDir, publicUrl, forges: { github, gitlab, webhooks } }: ForgeOptions,
  now: () => number,
  stop: AbortSignal,
): Forge {
  return createForges({
    local: createLocalForge({ allowedRoots: localRepositories, now, stop }),
    ...(github && { github: createGitHubForge({ ...github, commentInstead: false, dataDir, now, stop }) }),
    ...(gitlab && {
      gitlab: createGitLabForge({
        url: gitlab.url,
        token: () => Promise.resolve(gitlab.token),
        hook: { publicUrl, secretToken: webhooks.gitlab.secretToken, signed: webhooks.gitlab.signingKey !== null },
        folder: join(dataDir, 'clones', 'gitlab'),
        now,
        stop,
      }),
    }),
  });
}

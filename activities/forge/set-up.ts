import { join } from 'node:path';
import type { ForgeSettings } from '../../config/forge-settings.js';
import { createForges } from './forges.js';
import { createGitHubForge } from './github/index.js';
import { createGitLabForge } from './gitlab/index.js';
import { createLocalForge } from './local/index.js';
import type { Forge } from './port.js';
import { Troubles, type TroublesDeps } from './troubles.js';
import { watchedForge } from './watched.js';

interface ForgeOptions {
  readonly localRepositories: readonly string[] | null;
  readonly dataDir: string;
  readonly forges: ForgeSettings;
  /** Where this server is reached from outside. */
  readonly publicUrl: string | null;
}

/**
 * Every forge of a process, as its settings have them. `stop` ends what they have under way. With `shared` its troubles
 * are written down for owners, and the limits that any process meets are kept by all of them.
 */
export function setUpForges(
  { localRepositories, dataDir, publicUrl, forges: { github, gitlab, webhooks } }: ForgeOptions,
  now: () => number,
  stop: AbortSignal,
  shared?: Omit<TroublesDeps, 'now'>,
): Forge {
  const local = createLocalForge({ allowedRoots: localRepositories, now, stop });
  // A repository on disk has no access to lose.
  if (!github && !gitlab) return createForges({ local });
  const troubles = shared && new Troubles({ ...shared, now });
  void troubles?.follow(stop);
  const watched = (forge: Forge): Forge => (troubles ? watchedForge(forge, troubles) : forge);
  const heard = troubles && { heard: troubles.heard };
  return createForges({
    local,
    ...(github && { github: watched(createGitHubForge({ ...github, ...heard, dataDir, now, stop })) }),
    ...(gitlab && {
      gitlab: watched(
        createGitLabForge({
          url: gitlab.url,
          token: () => Promise.resolve(gitlab.token),
          ...heard,
          hook: { publicUrl, secretToken: webhooks.gitlab.secretToken, signed: webhooks.gitlab.signingKey !== null },
          folder: join(dataDir, 'clones', 'gitlab'),
          now,
          stop,
        }),
      ),
    }),
  });
}

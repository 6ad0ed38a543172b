import type { ForgeSettings } from '../../config/forge-settings.js';
import { webUrlOf } from './github/index.js';
import type { ForgeName } from './port.js';
import type { ForgeAddresses } from './repository-ref.js';

/** What this server is on its forges, as far as an owner's choices rest on it. */
export interface ForgeFacts {
  readonly addresses: ForgeAddresses;
  /** Where it has a review identity beside the operator's. */
  readonly reviewers: ReadonlySet<ForgeName>;
  /** Whose deliveries it takes, because it can tell them from forged ones. */
  readonly heard: ReadonlySet<ForgeName>;
}

export function forgeFacts({ github, gitlab, webhooks }: ForgeSettings): ForgeFacts {
  const { secretToken, signingKey } = webhooks.gitlab;
  return {
    addresses: {
      github: github && webUrlOf(github.apiUrl.replace(/\/+$/, '')),
      gitlab: gitlab && gitlab.url.replace(/\/+$/, ''),
    },
    reviewers: namesOf({ github: github?.reviewer }),
    heard: namesOf({ github: webhooks.github, gitlab: secretToken ?? signingKey }),
  };
}

function namesOf(had: Partial<Record<ForgeName, unknown>>): ReadonlySet<ForgeName> {
  return new Set((Object.keys(had) as ForgeName[]).filter((name) => had[name] != null));
}

import type { GitHubPullRequestRef } from '../port.js';
import type { GitHubApp } from './app.js';
import { failedOf } from './failures.js';
import { at } from './pull.js';

interface Seen {
  readonly etag: string;
  readonly fingerprint: string;
}

/** Pull requests whose last answer is remembered. */
const MAX_SEEN = 2_000;

/**
 * P4: one cheap read a look. It is conditional: an answer that nothing changed does not count against GitHub's limit,
 * so that many rooms can be watched.
 */
export function createFingerprint(app: GitHubApp): (ref: GitHubPullRequestRef) => Promise<string> {
  const seen = new Map<string, Seen>();
  return async (ref) => {
    const known = seen.get(ref.key);
    const answer = await app.call(ref, async (octokit) => {
      try {
        const headers = known === undefined ? {} : { 'if-none-match': known.etag };
        return await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...at(ref), pull_number: ref.number, headers });
      } catch (error) {
        if (known !== undefined && failedOf(error)?.status === 304) return null;
        throw error;
      }
    });
    if (answer === null && known !== undefined) return known.fingerprint;
    const { state, merged, head, base } = answer!.data;
    const fingerprint = `${head.sha} ${base.ref} ${base.sha} ${merged ? 'merged' : state}`;
    const { etag } = answer!.headers;
    seen.delete(ref.key);
    if (etag !== undefined) seen.set(ref.key, { etag, fingerprint });
    if (seen.size > MAX_SEEN) seen.delete(seen.keys().next().value as string);
    return fingerprint;
  };
}

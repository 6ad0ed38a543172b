import type { GitHubApp } from './app.js';
import type { Octokit } from './clients.js';
import type { GitHubPullRequestRef } from '../port.js';

export const PER_PAGE = 100;

/**
 * Every entry of a paged listing, at most `maxPages` pages of 100. `more`: there were further ones. Each page is a call
 * of its own, so that a limit between two of them is seen. @throws {ForgeError}
 */
export async function allPages<T>(
  app: GitHubApp,
  ref: GitHubPullRequestRef,
  maxPages: number,
  read: (octokit: Octokit, page: number) => Promise<readonly T[]>,
): Promise<{ readonly items: T[]; readonly more: boolean }> {
  const items: T[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const part = await app.call(ref, (octokit) => read(octokit, page));
    items.push(...part);
    if (part.length < PER_PAGE) return { items, more: false };
  }
  return { items, more: true };
}

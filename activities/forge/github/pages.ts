import type { GitHubApp } from './app.js';
import type { Octokit } from './clients.js';
import type { GitHubPullRequestRef } from '../port.js';

export const PER_PAGE = 100;

/** One page of a listing, and what GitHub says beside it. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly headers: { readonly link?: string | undefined };
}

/**
 * Every entry of a paged listing, at most `maxPages` pages of 100. `more`: there were further ones. Each page is a call
 * of its own, so that a limit between two of them is seen. @throws {ForgeError}
 */
export async function allPages<T>(
  app: GitHubApp,
  ref: GitHubPullRequestRef,
  maxPages: number,
  read: (octokit: Octokit, page: number) => Promise<Page<T>>,
): Promise<{ readonly items: T[]; readonly more: boolean }> {
  const items: T[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const part = await app.call(ref, (octokit) => read(octokit, page));
    items.push(...part.rows);
    if (!hasNext(part)) return { items, more: false };
  }
  return { items, more: true };
}

/**
 * GitHub takes some entries off a page after it was cut (hidden accounts): a short page may have a next one, which its
 * link header names. Where something in between dropped that, a full page may have one.
 */
export function hasNext({ rows, headers: { link } }: Page<unknown>): boolean {
  return link === undefined ? rows.length === PER_PAGE : /\brel="?next"?/.test(link);
}

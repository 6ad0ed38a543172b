import type { GitHubPlace, GitHubApp } from './app.js';

/**
 * The repository's id and its name of today: one that was renamed or moved redirects there. W9: an App that is not
 * installed on it is named. @throws {ForgeError}
 */
export async function readRepository(app: GitHubApp, place: GitHubPlace): Promise<GitHubPlace & { readonly id: number }> {
  const { data } = await app.call(place, (octokit) =>
    octokit.request('GET /repos/{owner}/{repo}', { owner: place.owner, repo: place.name }),
  );
  return { id: Number(data.id), owner: data.owner.login, name: data.name };
}

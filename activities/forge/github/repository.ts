import { ForgeError } from '../port.js';
import type { GitHubApp, GitHubPlace } from './app.js';

/**
 * The repository's id and its name of today: one that was renamed or moved redirects there. W9: an App that is not
 * installed on it is named. @throws {ForgeError}
 */
export async function readRepository(app: GitHubApp, place: GitHubPlace): Promise<GitHubPlace & { readonly id: number }> {
  try {
    const { data } = await app.call(place, (octokit) =>
      octokit.request('GET /repos/{owner}/{repo}', { owner: place.owner, repo: place.name }),
    );
    return { id: Number(data.id), owner: data.owner.login, name: data.name };
  } catch (error) {
    // An App sees every repository it is installed on: it was taken off this one, and that is what is to be said.
    if (error instanceof ForgeError && error.kind === 'not_found') await app.installation(place);
    throw error;
  }
}

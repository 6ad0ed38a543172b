import { ForgeError, MAX_FILE_BYTES, type FileRead, type GitHubPullRequestRef } from '../port.js';
import { fileOf, MAX_LINK_BYTES } from '../local/file.js';
import { fullSha } from '../local/git.js';
import { placeOf, type GitHubApp } from './app.js';
import { failedOf } from './failures.js';
import { at } from './pull.js';

interface Entry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size: number | null;
}

type Tree = ReadonlyMap<string, Entry>;

/** Folders kept in memory: paths of one pull request share most of theirs. */
const MAX_TREES = 200;
const MAX_KEPT_ENTRIES = 2_000;

/**
 * Reads files as git objects, a folder at a time: unlike the contents API these say what a path is, so that a symlink
 * is named and never followed. Trees never change; some are kept.
 */
export class TreeReader {
  readonly #trees = new Map<string, Tree>();

  constructor(private readonly app: GitHubApp) {}

  /** F3, F4. @throws {ForgeError} */
  async file(ref: GitHubPullRequestRef, commit: string, path: string): Promise<FileRead> {
    const parts = path.split('/');
    let tree = await this.#tree(ref, fullSha(commit));
    if (tree === null)
      throw new ForgeError('not_found', `GitHub shows no commit ${commit.slice(0, 7)} in ${placeOf(ref)}: not yet, or not any more.`);
    for (const folder of parts.slice(0, -1)) {
      const entry = tree.get(folder);
      if (entry?.type !== 'tree') return { kind: 'missing' };
      tree = await this.#tree(ref, entry.sha);
      if (tree === null) throw new ForgeError('unavailable', `GitHub does not show the folder ${folder} of ${placeOf(ref)} just now.`, 3);
    }
    const entry = tree.get(parts.at(-1) ?? '');
    if (entry === undefined) return { kind: 'missing' };
    if (entry.type === 'tree') return { kind: 'folder' };
    if (entry.type === 'commit') return { kind: 'submodule', sha: entry.sha };
    if (entry.size !== null && entry.size > MAX_FILE_BYTES) return { kind: 'too_large', sha: entry.sha, size: entry.size };
    return this.#content(ref, entry);
  }

  async #content(ref: GitHubPullRequestRef, { sha, mode }: Entry): Promise<FileRead> {
    const { data } = await this.app.call(ref, (octokit) =>
      octokit.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', { ...at(ref), file_sha: sha }),
    );
    const content = Buffer.from(data.content, data.encoding === 'base64' ? 'base64' : 'utf8');
    if (mode === '120000') return { kind: 'symlink', sha, target: content.toString('utf8', 0, MAX_LINK_BYTES) };
    return fileOf(sha, content);
  }

  async #tree(ref: GitHubPullRequestRef, sha: string): Promise<Tree | null> {
    const key = `${ref.repository} ${sha}`;
    const known = this.#trees.get(key);
    if (known !== undefined) return known;
    const answer = await this.app.call(ref, async (octokit) => {
      try {
        return await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', { ...at(ref), tree_sha: sha });
      } catch (error) {
        if (failedOf(error)?.status === 404) return null;
        throw error;
      }
    });
    if (answer === null) return null;
    if (answer.data.truncated) throw new ForgeError('refused', `A folder on the way in ${placeOf(ref)} is too large for GitHub to list.`);
    const tree = new Map(
      answer.data.tree.map((entry) => [entry.path, { mode: entry.mode, type: entry.type, sha: entry.sha, size: entry.size ?? null }]),
    );
    if (tree.size <= MAX_KEPT_ENTRIES) this.#trees.set(key, tree);
    if (this.#trees.size > MAX_TREES) this.#trees.delete(this.#trees.keys().next().value as string);
    return tree;
  }
}

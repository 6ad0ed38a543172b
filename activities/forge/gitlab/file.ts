import { posix } from 'node:path';
import { fileOf, MAX_LINK_BYTES } from '../local/file.js';
import { type FileRead, ForgeError, type GitLabPullRequestRef, MAX_FILE_BYTES } from '../port.js';
import { api, type GitLabClient } from './client.js';
import { projectPath } from './merge-request.js';
import { commit, treeEntry } from './shapes.js';

/** F3: one path of one commit's tree. GitLab tells size and object beforehand, and what is too large is not fetched. */
export async function readFile(client: GitLabClient, ref: GitLabPullRequestRef, sha: string, path: string): Promise<FileRead> {
  const at = { ref: sha };
  const place = `${projectPath(client, ref)}/${api`repository/files/${path}`}`;
  const headers = await orNotFound(client.head(place, at));
  if (headers === null) return notAFile(client, ref, sha, path);
  const [size, object] = [Number(headers.get('x-gitlab-size')), headers.get('x-gitlab-blob-id') ?? ''];
  if (!Number.isInteger(size) || object === '') throw new ForgeError('unavailable', `GitLab does not tell the size of ${path}.`);
  if (size > MAX_FILE_BYTES) return { kind: 'too_large', sha: object, size };
  const content = await bytes(client.stream(`${place}/raw`, at), size);
  // GitLab gives a link's target as if it were a file; only the folder's listing tells. No target is as long, or has lines.
  if (size > 0 && size <= MAX_LINK_BYTES && !content.includes('\n')) {
    const entry = await entryOf(client, ref, sha, path);
    if (entry?.mode === '120000') return { kind: 'symlink', sha: object, target: content.toString('utf8') };
  }
  return fileOf(object, content);
}

async function bytes(stream: AsyncGenerator<Buffer, void>, size: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let read = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    read += piece.length;
    if (read > size) break;
  }
  if (read !== size) throw new ForgeError('unavailable', `GitLab sent ${read} bytes of a file of ${size}.`);
  return Buffer.concat(pieces);
}

/** What has no content: a folder, a submodule, nothing; or the commit itself is not there. */
async function notAFile(client: GitLabClient, ref: GitLabPullRequestRef, sha: string, path: string): Promise<FileRead> {
  const entry = await entryOf(client, ref, sha, path);
  if (entry?.type === 'commit') return { kind: 'submodule', sha: entry.id };
  if (entry?.type === 'tree') return { kind: 'folder' };
  await client.get(`${projectPath(client, ref)}/${api`repository/commits/${sha}`}`, commit);
  return { kind: 'missing' };
}

/** The path's own line in the listing of the folder it is in. */
async function entryOf(client: GitLabClient, ref: GitLabPullRequestRef, sha: string, path: string) {
  const folder = posix.dirname(path);
  const listing = client.pages(`${projectPath(client, ref)}/repository/tree`, treeEntry, { ref: sha, path: folder === '.' ? '' : folder });
  try {
    for await (const page of listing) {
      const entry = page.find((one) => one.path === path);
      if (entry !== undefined) return entry;
    }
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found') return null;
    throw error;
  }
}

async function orNotFound<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found') return null;
    throw error;
  }
}

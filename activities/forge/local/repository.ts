import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { ForgeError } from '../port.js';

/** A repository found on disk: its common git folder (shared by all work trees), all links followed. */
interface Repository {
  readonly gitDir: string;
  /** Where the owner sees it: the top of the work tree, or the bare repository. */
  readonly top: string;
}

const MAX_ALTERNATES_DEPTH = 5;

/**
 * Finds the repository whose top is `path`: never one further up, and with `allowedRoots` only one that lies,
 * with its git folder and every folder it borrows objects from, under one of them (null: anywhere).
 * Git itself is not asked: it would follow the repository's own configuration.
 */
export async function findRepository(path: string, allowedRoots: readonly string[] | null): Promise<Repository> {
  const top = await real(path);
  if (top === null) throw new ForgeError('not_found', `There is no folder ${path}.`);
  const roots = allowedRoots === null ? null : (await Promise.all(allowedRoots.map(real))).filter((root) => root !== null);
  await allow(top, path, roots);
  const gitDir = await commonFolder(top);
  if (gitDir === null) {
    throw new ForgeError('not_found', `${path} is not the top of a git repository: name the folder that holds .git, or a bare repository.`);
  }
  await allow(gitDir, path, roots);
  if (roots !== null) await allowObjects(join(gitDir, 'objects'), path, roots, MAX_ALTERNATES_DEPTH);
  return { gitDir, top };
}

async function commonFolder(top: string): Promise<string | null> {
  const dotGit = join(top, '.git');
  const info = await stat(dotGit).catch(() => null);
  let gitDir: string | null = top;
  if (info?.isDirectory()) gitDir = await real(dotGit);
  else if (info?.isFile()) gitDir = await pointedTo(dotGit, top, /^gitdir: (.+?)\n*$/s);
  if (gitDir === null) return null;
  const common = (await pointedTo(join(gitDir, 'commondir'), gitDir, /^(.+?)\n*$/s)) ?? gitDir;
  const parts = await Promise.all(['HEAD', 'objects', 'refs'].map((name) => stat(join(common, name)).catch(() => null)));
  return parts.every((part) => part !== null) ? common : null;
}

/** The folder a small pointer file names, relative to `from`; null where there is none. */
async function pointedTo(file: string, from: string, form: RegExp): Promise<string | null> {
  const found = form.exec((await readSmall(file)) ?? '')?.[1];
  return found === undefined ? null : real(isAbsolute(found) ? found : join(from, found));
}

/** Objects may live elsewhere (a link, or alternates): that place must be allowed too. */
async function allowObjects(objects: string, path: string, roots: readonly string[], depth: number): Promise<void> {
  const folder = await real(objects);
  if (folder === null) return;
  await allow(folder, path, roots);
  const alternates = await readSmall(join(folder, 'info', 'alternates'));
  for (const line of (alternates ?? '').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (depth === 0 || line.startsWith('"')) throw new ForgeError('refused', `${path} borrows objects in a way that is not followed here.`);
    await allowObjects(resolve(folder, line), path, roots, depth - 1);
  }
}

async function allow(folder: string, asked: string, roots: readonly string[] | null): Promise<void> {
  if (roots === null) return;
  if (!roots.some((root) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep))) {
    throw new ForgeError('refused', `${asked} is not in a folder that may be opened here (BARISTA_LOCAL_REPOS).`);
  }
}

async function real(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES' || code === 'EPERM') throw new ForgeError('refused', `The server may not read ${path}.`);
    return null;
  }
}

async function readSmall(file: string): Promise<string | null> {
  const info = await stat(file).catch(() => null);
  if (!info?.isFile()) return null;
  if (info.size > 100_000) throw new ForgeError('refused', 'A pointer file of the repository is far too large.');
  return readFile(file, 'utf8').catch(() => null);
}

import { posix } from 'node:path';
import { ForgeError, type RepositoryRef } from './port.js';

type RefOn<Name extends RepositoryRef['forge']> = Extract<RepositoryRef, { forge: Name }>;

/** Where the pages of this server's forges are, without a slash at the end; null: that forge is not set up. */
export interface ForgeAddresses {
  readonly github: string | null;
  readonly gitlab: string | null;
}

const GITHUB = 'https://github.com';
const GITLAB = 'https://gitlab.com';
const EXAMPLES = `${GITHUB}/owner/repository, ${GITLAB}/group/project or local:/path/to/repository`;

/** A repository on a GitHub at `origin`; `id` is the forge's own, which no rename changes, once it is known. */
export function githubRepository(origin: string, owner: string, name: string, id?: number): RefOn<'github'> {
  const { host } = new URL(origin);
  // Names are told apart without their case, as GitHub does.
  const repository = `github:${host}/${id ?? `${owner}/${name}`.toLowerCase()}`;
  return { forge: 'github', repository, url: `${origin}/${owner}/${name}`, host, owner, name };
}

/** A project on the GitLab at `origin`; a GitLab's own path is the first part of `project`. */
export function gitlabRepository(origin: string, project: string, id?: number): RefOn<'gitlab'> {
  const { host } = new URL(origin);
  const repository = `gitlab:${host}${id === undefined ? `/${project.toLowerCase()}` : `#${id}`}`;
  return { forge: 'gitlab', repository, url: `${origin}/${project}`, origin, project };
}

/** A repository at an absolute path; `gitDir` is its git folder once it is known. */
export function localRepository(path: string, gitDir = path): RefOn<'local'> {
  return { forge: 'local', repository: `local:${encodePath(gitDir)}`, url: `local:${encodePath(path)}`, path };
}

/**
 * Reads the address of a repository, or of whatever page of it. Pure: what it names need not exist. Which forge a host is
 * that is neither github.com nor gitlab.com is told by `addresses` alone. Throws ForgeError `invalid` with an example.
 */
export function parseRepository(text: string, addresses: ForgeAddresses): RepositoryRef {
  if (text.startsWith('local:')) return parseLocal(text.slice('local:'.length));
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw new ForgeError('invalid', `${quoted(text)} names no repository. Give ${EXAMPLES}.`);
  // First, so that no message repeats it.
  if (url.username !== '' || url.password !== '')
    throw new ForgeError('invalid', `The address holds a name or a password. Give ${EXAMPLES}.`);
  url.host = url.host.replace(/^www\.(?=github\.com$)/, '');
  const github = [addresses.github, GITHUB].find((base) => base !== null && isUnder(url, base));
  if (github) return onGitHub(url, github, text);
  const gitlab = [addresses.gitlab, GITLAB].find((base) => base !== null && isUnder(url, base));
  if (gitlab) return onGitLab(url, gitlab, text);
  const known = [addresses.github, addresses.gitlab].filter((base) => base !== null);
  throw new ForgeError(
    'invalid',
    known.length === 0
      ? `${quoted(text)} is on no forge that is known here. Give ${EXAMPLES}.`
      : `${quoted(text)} is on no forge of this server, which is set up for ${known.join(' and ')}.`,
  );
}

/** By host and path, whichever of http and https was typed. */
function isUnder(url: URL, base: string): boolean {
  const { host, pathname } = new URL(base);
  return url.host === host && `${url.pathname}/`.toLowerCase().startsWith(`${pathname.replace(/\/$/, '').toLowerCase()}/`);
}

function onGitHub(url: URL, base: string, text: string): RepositoryRef {
  const found = /^\/([A-Za-z0-9][A-Za-z0-9_-]*)\/([A-Za-z0-9._-]{1,100}?)(?:\.git)?(?:\/|$)/.exec(url.pathname);
  const [, owner, name] = found ?? [];
  if (owner === undefined || name === undefined || /^\.{1,2}$/.test(name)) throw noRepository(text, `${base}/owner/repository`);
  return githubRepository(new URL(base).origin, owner, name);
}

/** Groups nest: a project is everything before `/-/`, where its pages begin; old addresses of merge requests have no dash. */
function onGitLab(url: URL, base: string, text: string): RepositoryRef {
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/^\/|\/$/g, '');
  const below = url.pathname
    .slice(prefix === '' ? 1 : prefix.length + 2)
    .replace(/\/(-|merge_requests\/\d+)(\/.*)?$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  const parts = below.split('/');
  if (parts.length < 2 || parts.some((part) => !/^[A-Za-z0-9_.-]+$/.test(part) || /^\.{1,2}$/.test(part)))
    throw noRepository(text, `${base}/group/project`);
  return gitlabRepository(origin, prefix === '' ? below : `${prefix}/${below}`);
}

function parseLocal(rest: string): RepositoryRef {
  if (rest.includes('?')) throw new ForgeError('invalid', `A repository has no branches in its address. Give local:${rest.split('?')[0]}.`);
  return localRepository(absolutePath(rest, 'local:/path/to/repository'));
}

/** The path of a `local:` address, without a slash at the end. @throws ForgeError `invalid` */
export function absolutePath(escaped: string, example: string): string {
  const path = decodePath(escaped);
  if (path.includes('\0')) throw new ForgeError('invalid', 'The path holds a NUL character.');
  if (!posix.isAbsolute(path)) throw new ForgeError('invalid', `The path ${quoted(path)} is not absolute. Give ${example}`);
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

/** Paths stay readable: only what the string's own syntax uses is escaped. */
export function encodePath(path: string): string {
  return path.replace(/[%?]/g, encodeURIComponent);
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    throw new ForgeError('invalid', `The path ${quoted(text)} holds a broken % escape.`);
  }
}

const noRepository = (text: string, example: string): ForgeError =>
  new ForgeError('invalid', `${quoted(text)} is no address of a repository. Give ${example}.`);

/** Somebody's text in a message: as it was typed, never long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

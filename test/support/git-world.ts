import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** 2030-01-01, a commit a minute from there: equal verbs give equal commit names. */
const EPOCH_SECONDS = 1_893_456_000;

/** No clean-up is begun in the background: it would write where the repository is being removed. */
const SETTINGS = ['protocol.file.allow=always', 'gc.auto=0', 'maintenance.auto=false'].flatMap((setting) => ['-c', setting]);

/**
 * A real git repository in a temporary folder, with the verbs of a pull request. `main` has one commit to start with
 * and `topic` leaves it; both names can be changed. Nothing of the machine's git configuration counts.
 */
export class GitWorld {
  readonly path: string;
  readonly base: string;
  readonly topic: string;
  #clock = EPOCH_SECONDS;

  constructor(names: { base?: string; topic?: string } = {}) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'barista-git-')));
    this.base = names.base ?? 'main';
    this.topic = names.topic ?? 'topic';
    this.git('init', '-q', '--template=', '-b', this.base);
    this.write('README.md', '# A project\n');
    this.commit('Start');
    this.git('checkout', '-q', '-b', this.topic);
  }

  /** The `pull_request` string of topic against base. */
  get pullRequest(): string {
    return `local:${this.path}?base=${this.base}&head=${this.topic}`;
  }

  git(...args: string[]): string {
    return this.gitBytes(args).toString('utf8').replace(/\n$/, '');
  }

  gitBytes(args: readonly string[], input?: string | Buffer): Buffer {
    const date = `${this.#clock} +0000`;
    return execFileSync('git', [...SETTINGS, ...args], {
      cwd: this.path,
      input,
      maxBuffer: 1 << 30,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: this.path,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_AUTHOR_NAME: 'Robin',
        GIT_AUTHOR_EMAIL: 'robin@example.com',
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: 'Robin',
        GIT_COMMITTER_EMAIL: 'robin@example.com',
        GIT_COMMITTER_DATE: date,
      },
    });
  }

  /** Writes a file of the work tree; a leading `/` in the name is not special. */
  write(path: string, content: string | Buffer, mode?: number): this {
    const full = join(this.path, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    if (mode !== undefined) chmodSync(full, mode);
    return this;
  }

  symlink(path: string, target: string): this {
    rmSync(join(this.path, path), { force: true });
    symlinkSync(target, join(this.path, path));
    return this;
  }

  remove(path: string): this {
    rmSync(join(this.path, path), { recursive: true });
    return this;
  }

  rename(from: string, to: string): this {
    mkdirSync(dirname(join(this.path, to)), { recursive: true });
    renameSync(join(this.path, from), join(this.path, to));
    return this;
  }

  /** A submodule entry, its folder empty as before `git submodule update`. */
  submodule(path: string, commit: string): this {
    mkdirSync(join(this.path, path), { recursive: true });
    this.git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
    return this;
  }

  /** Commits everything on the branch checked out; answers the commit. */
  commit(message: string): string {
    this.#clock += 60;
    this.git('add', '-A', '--', '.');
    return this.#commit(message);
  }

  /** Commits only what is in the index already. */
  commitIndex(message: string): string {
    this.#clock += 60;
    return this.#commit(message);
  }

  #commit(message: string): string {
    this.gitBytes(['commit', '-q', '--allow-empty', '--allow-empty-message', '-F', '-'], message);
    return this.head();
  }

  head(rev = 'HEAD'): string {
    return this.git('rev-parse', '--verify', '--end-of-options', rev);
  }

  checkout(branch: string): this {
    this.git('checkout', '-q', branch);
    return this;
  }

  /** Starts a branch at what is checked out, and checks it out. */
  branch(name: string): this {
    this.git('checkout', '-q', '-b', name);
    return this;
  }

  /** A new commit on topic, changing these files; answers the commit. */
  push(files: Readonly<Record<string, string | Buffer>>, message = 'More'): string {
    this.checkout(this.topic);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    return this.commit(message);
  }

  /** Topic's own commits are replaced by one with these files; answers the commit. */
  forcePush(files: Readonly<Record<string, string | Buffer>>, message = 'Rewritten'): string {
    this.checkout(this.topic);
    this.git('reset', '-q', '--hard', this.git('merge-base', this.base, this.topic));
    return this.push(files, message);
  }

  /** A commit on base, which topic does not have. */
  pushBase(files: Readonly<Record<string, string | Buffer>>, message = 'On base'): string {
    this.checkout(this.base);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    const sha = this.commit(message);
    this.checkout(this.topic);
    return sha;
  }

  /** Merges topic into base. */
  merge(): string {
    this.checkout(this.base);
    this.#clock += 60;
    this.git('merge', '-q', '--no-ff', '-m', 'Merge', this.topic);
    return this.head();
  }

  /** Merges base into topic. */
  mergeBaseIn(): string {
    this.checkout(this.topic);
    this.#clock += 60;
    this.git('merge', '-q', '--no-ff', '-m', 'Merge base', this.base);
    return this.head();
  }

  deleteBranch(name: string): this {
    this.git('checkout', '-q', '--detach');
    this.git('branch', '-q', '-D', name);
    return this;
  }

  /** A line of the repository's own configuration file. */
  config(name: string, value: string): this {
    this.git('config', '--local', name, value);
    return this;
  }

  dispose(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/**
 * A large history by `git fast-import`: `main` has one commit with half the files; `topic` adds `commits` commits
 * that together touch all `files` paths, some over and over. Answers a world with topic checked out nowhere (bare use).
 */
export function fastImportHistory({ files, commits }: { files: number; commits: number }): GitWorld {
  const world = new GitWorld();
  const pathOf = (at: number) => `src/area-${at % 40}/file-${at}.ts`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const lines: string[] = [];
  const commit = (branch: string, mark: number, message: string, from?: string) => {
    lines.push(
      `commit refs/heads/${branch}\nmark :${mark}\ncommitter Robin <robin@example.com> ${EPOCH_SECONDS + mark * 60} +0000\n${data(message)}`,
    );
    if (from !== undefined) lines.push(`from ${from}\n`);
  };
  const body = (at: number, revision: number) =>
    Array.from({ length: 20 }, (_, line) => `export const value${line} = ${at * 31 + line + (line === 10 ? revision : 0)};`).join('\n') +
    '\n';
  commit('main', 1, 'Half of the files', world.head('main'));
  for (let at = 0; at < files; at += 2) lines.push(`M 100644 inline ${pathOf(at)}\n${data(body(at, 0))}`);
  for (let n = 0; n < commits; n++) {
    commit('topic', n + 2, `Change ${n}`, n === 0 ? ':1' : undefined);
    const at = n % files;
    lines.push(`M 100644 inline ${pathOf(at)}\n${data(body(at, n + 1))}`);
  }
  world.gitBytes(['fast-import', '--quiet', '--force'], lines.join(''));
  return world;
}

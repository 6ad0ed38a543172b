import { createGitLabForge } from '../../activities/forge/gitlab/index.js';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { ChangedFile, Diff, Forge, KnownHead, PullRequestRef } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import type { Faults } from '../support/fake-gitlab/state.js';
import { GitWorld } from '../support/git-world.js';

export const NOW = 1_893_500_000_000;

/** A repository, a GitLab that shows it, and the forge that reads it; the local forge beside it says what is right. */
export class GitLabWorld {
  readonly git = new GitWorld();
  now = NOW;
  gitlab!: FakeGitLab;
  forge!: Forge;
  ref!: PullRequestRef;

  async start(faults: Partial<Faults> = {}, prefix = ''): Promise<this> {
    this.gitlab = await FakeGitLab.start(this.git, faults, prefix);
    this.forge = createGitLabForge({ url: this.gitlab.url, token: async () => Promise.resolve(this.gitlab.token), now: () => this.now });
    this.ref = parsePullRequest(this.gitlab.pullRequest);
    return this;
  }

  async head(): Promise<KnownHead> {
    return (await this.forge.head(this.ref)) as KnownHead;
  }

  async diff(): Promise<Diff> {
    return this.forge.diff(this.ref, await this.head());
  }

  /** What the local forge says of the same two commits. */
  async localDiff(): Promise<Diff> {
    const local = createLocalForge({ allowedRoots: null, now: () => NOW });
    return local.diff(parsePullRequest(this.git.pullRequest), await this.head());
  }

  async stop(): Promise<void> {
    await this.gitlab?.stop();
    this.git.dispose();
  }
}

/** Every kind of change at once, with names that need care. */
export function everyKindOfChange(world: GitWorld): void {
  world.checkout('main');
  const long = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n') + '\n';
  for (const name of ['changed', 'moved', 'moved-changed', 'becomes-link', 'script', 'unchanged'])
    world.write(name, `${name}\n`.repeat(20) + long);
  world
    .write('gone', 'nothing alike\n'.repeat(31))
    .write('name with blanks', 'a\n')
    .write('grün "quoted"\\back', 'a\n')
    .write('a&b=c.ts', 'one\ntwo\nthree\n');
  world
    .write('image', Buffer.from([1, 0, 2]))
    .symlink('link', 'script')
    .submodule('vendor', '1'.repeat(40))
    .commit('Ground');
  world.git('checkout', '-q', '-B', 'topic');
  world
    .write('changed', 'changed\n'.repeat(20) + long.replace('line 3\n', 'line three\n'))
    .remove('gone')
    .rename('moved', 'deep/moved');
  world
    .remove('moved-changed')
    .write('moved too', 'moved-changed\n'.repeat(20) + long.replace('line 9', 'line nine'))
    .remove('becomes-link')
    .symlink('becomes-link', 'script');
  world
    .write('script', 'script\n'.repeat(20) + long, 0o755)
    .write('image', Buffer.from([3, 0, 4]))
    .symlink('link', '/etc/passwd');
  world.write('name with blanks', 'b\n').write('grün "quoted"\\back', 'b\n').write('a&b=c.ts', 'one\n2\nthree');
  world
    .write('new', 'one\n--- a/looks like\n+++ b/a header\ndiff --git a/x b/x\n')
    .write('nothing', '')
    .submodule('vendor', '2'.repeat(40))
    .commit('All of it');
}

/** Without what GitLab's rows cannot tell. */
export function withoutObjects(files: readonly ChangedFile[]): Omit<ChangedFile, 'blobSha'>[] {
  return files.map(({ blobSha: _, ...file }) => file);
}

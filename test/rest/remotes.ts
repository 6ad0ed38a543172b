import type { ForgeSettings } from '../../config/forge-settings.js';
import { FakeGitHub } from '../support/fake-github/index.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import { GitWorld } from '../support/git-world.js';

/** A forge over HTTP with one pull request, and what a server needs to reach it. */
export interface Remote {
  readonly git: GitWorld;
  readonly pullRequest: string;
  readonly forges: Partial<ForgeSettings>;
  merge(): void;
  stop(): unknown;
}

export async function github(): Promise<Remote & { readonly fake: FakeGitHub }> {
  const fake = await FakeGitHub.start();
  const { id, privateKey } = fake.addApp(11, 'barista');
  return {
    git: fake.world,
    pullRequest: fake.pullRequest,
    forges: { github: { apiUrl: fake.urls.api, app: { id, privateKey }, reviewer: null }, gitlab: null },
    merge: () => fake.merge(),
    stop: () => fake.stop(),
    fake,
  };
}

export async function gitlab(): Promise<Remote & { readonly fake: FakeGitLab }> {
  const git = new GitWorld();
  const fake = await FakeGitLab.start(git);
  return {
    git,
    pullRequest: fake.pullRequest,
    forges: { github: null, gitlab: { url: fake.url, token: fake.token } },
    merge: () => fake.state.merge(),
    stop: async () => (await fake.stop(), git.dispose()),
    fake,
  };
}

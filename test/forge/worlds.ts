import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Comparison, Forge, KnownHead, PullRequestRef } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import type { Faults } from '../support/fake-gitlab/state.js';
import { GitHubWorld } from '../support/fake-github/world.js';
import { GitWorld } from '../support/git-world.js';
import { GitLabWorld, NOW } from './gitlab-world.js';

/** Where forges may answer differently of one repository, and no test need ask why: everything else is the same on each. */
interface Differences {
  /** C4: what a push, and a rewritten branch, are told as. GitLab reports no rebase, so it never says which of the two it was. */
  readonly pushed: Comparison['status'];
  readonly rewritten: Comparison['status'];
  /** A pull request whose branch is gone, or that was merged, still has its commits. Two branches have them only while they are there. */
  readonly keepsCommits: boolean;
  /** The base branch is told as it is now; else as it was at the last push. */
  readonly readsBase: boolean;
  /** Each file's object is named (C5: `blob_sha`); else only where git was fetched to make up for something. */
  readonly namesObjects: boolean;
  /** A text that the repository's own `.gitattributes` call binary is shown all the same. */
  readonly seesThroughAttributes: boolean;
  /** Lines of a file over 32 MB are counted. */
  readonly countsHuge: boolean;
  /** Title and description are written on the forge; else they are the commits'. */
  readonly hasTexts: boolean;
}

/** A forge with one pull request, topic into main of a real repository, and what its owner does to it there. */
export interface ForgeWorld {
  readonly git: GitWorld;
  readonly forge: Forge;
  readonly ref: PullRequestRef;
  readonly differs: Differences;
  merge(): void;
  close(): void;
  reopen(): void;
  deleteBranch(): void;
  stop(): unknown;
}

const ALIKE: Differences = {
  pushed: 'ahead',
  rewritten: 'diverged',
  keepsCommits: true,
  readsBase: true,
  namesObjects: true,
  seesThroughAttributes: true,
  countsHuge: false,
  hasTexts: true,
};

function local(): Promise<ForgeWorld> {
  const git = new GitWorld();
  let closed = '';
  const deleteBranch = () => {
    closed = git.head(git.topic);
    git.deleteBranch(git.topic);
  };
  return Promise.resolve({
    git,
    forge: createLocalForge({ allowedRoots: null, now: () => NOW }),
    ref: parsePullRequest(git.pullRequest),
    differs: { ...ALIKE, keepsCommits: false, hasTexts: false },
    merge: () => git.merge(),
    // Nothing else closes two branches.
    close: deleteBranch,
    reopen: () => git.git('branch', git.topic, closed),
    deleteBranch,
    stop: () => git.dispose(),
  });
}

async function github(): Promise<ForgeWorld> {
  const world = await GitHubWorld.start();
  const { github: fake, git, forge, ref } = world;
  return {
    git,
    forge,
    ref,
    differs: ALIKE,
    merge: () => fake.merge(),
    close: () => (fake.pull.state = 'closed'),
    reopen: () => (fake.pull.state = 'open'),
    deleteBranch: () => fake.deleteBranch(),
    stop: () => world.stop(),
  };
}

async function gitlab(faults: Partial<Faults> = {}, differs: Partial<Differences> = {}): Promise<ForgeWorld> {
  const world = await new GitLabWorld().start(faults);
  const { git, forge, ref } = world;
  const { state } = world.gitlab;
  return {
    git,
    forge,
    ref,
    differs: {
      ...ALIKE,
      pushed: 'unknown',
      rewritten: 'unknown',
      readsBase: false,
      seesThroughAttributes: false,
      countsHuge: true,
      ...differs,
    },
    merge: () => state.merge(),
    close: () => (state.stateName = 'closed'),
    reopen: () => (state.stateName = 'opened'),
    deleteBranch: () => state.deleteBranch(),
    stop: () => world.stop(),
  };
}

type Start = () => Promise<ForgeWorld>;

/** The three forges, each with a repository of its own. */
export const FORGES: readonly (readonly [name: string, start: Start])[] = [
  ['local', local],
  ['GitHub', github],
  ['GitLab', () => gitlab()],
];

/** The same, and a GitLab that streams no diffs: what it shows are the rows of its listing. */
export const FORGES_AND_OLD: typeof FORGES = [
  ...FORGES,
  ['GitLab before 17.9', () => gitlab({ noRawDiffs: true }, { namesObjects: false, countsHuge: false })],
];

/** The head of a pull request that has one. */
export const headOf = async ({ forge, ref }: ForgeWorld): Promise<KnownHead> => (await forge.head(ref)) as KnownHead;

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitHubForge } from '../../../activities/forge/github/index.js';
import type { Forge, KnownHead, LimitsHeard, PullRequestRef } from '../../../activities/forge/port.js';
import { parsePullRequest } from '../../../activities/forge/pull-request.js';
import { FakeGitHub, type FakeApp } from './index.js';

/** 2030-01-01 12:00:00 UTC. */
export const NOON = 1_893_499_200_000;

export interface GitHubWorldOptions {
  readonly reviewer?: boolean;
}

/** A fake GitHub and the forge on it, as a worker has it; `again()` is a second process. */
export class GitHubWorld {
  now = NOON;
  readonly operator: FakeApp;
  readonly reviewer: FakeApp | null;
  readonly dataDir = mkdtempSync(join(tmpdir(), 'barista-github-'));
  readonly forge: Forge;

  private constructor(
    readonly github: FakeGitHub,
    private readonly options: GitHubWorldOptions,
  ) {
    this.operator = github.addApp(11, 'barista');
    this.reviewer = options.reviewer === true ? github.addApp(22, 'barista-review') : null;
    this.forge = this.again();
  }

  static async start(options: GitHubWorldOptions = {}): Promise<GitHubWorld> {
    return new GitHubWorld(await FakeGitHub.start(), options);
  }

  /** `heard`: the limits that other processes met. */
  again(heard?: LimitsHeard): Forge {
    const { operator, reviewer } = this;
    return createGitHubForge({
      apiUrl: this.github.urls.api,
      app: { id: operator.id, privateKey: operator.privateKey },
      reviewer: reviewer === null ? null : { id: reviewer.id, privateKey: reviewer.privateKey },
      ...(heard && { heard }),
      dataDir: this.dataDir,
      now: () => this.now,
    });
  }

  get git() {
    return this.github.world;
  }

  get ref(): PullRequestRef {
    return parsePullRequest(this.github.pullRequest);
  }

  async head(): Promise<KnownHead> {
    return (await this.forge.head(this.ref)) as KnownHead;
  }

  /** Texts that must never be seen outside: private keys and every token given out. */
  secrets(): string[] {
    const keys = this.github.apps.map((app) => String(app.privateKey.split('\n')[1]));
    return [...keys, ...this.github.tokens.keys()];
  }

  stop(): void {
    this.github.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

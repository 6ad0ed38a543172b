import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { GitWorld } from '../git-world.js';
import type { Fault } from './faults.js';
import { GitViews, GITHUB_LIMITS, type Limits } from './git-views.js';
import type { AppFacts, RepositoryFacts, Schemas, Urls } from './shapes.js';

const keys = new Map<number, KeyObject>();

/** Made once a process: it takes a while. */
function keyOf(id: number): KeyObject {
  const key = keys.get(id) ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  keys.set(id, key);
  return key;
}

export interface FakeApp extends AppFacts {
  readonly privateKey: string;
  readonly publicKey: KeyObject;
  readonly installationId: number;
  installed: boolean;
  suspended: boolean;
}

export interface StoredComment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly at: string;
}

export interface StoredReviewComment extends StoredComment {
  readonly reviewId: number | null;
  readonly path: string;
  readonly line: number | null;
  /** The first line of a range. */
  readonly startLine: number | null;
  readonly side: 'LEFT' | 'RIGHT';
  readonly subject: 'line' | 'file';
  readonly replyTo: number | null;
}

export interface StoredReview {
  readonly id: number;
  readonly author: string;
  body: string;
  state: 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  commit: string;
  submittedAt: string | null;
}

export interface StoredCheck {
  readonly name: string;
  readonly sha: string;
  readonly status: Schemas['check-run']['status'];
  readonly conclusion: Schemas['check-run']['conclusion'] | 'stale' | 'startup_failure';
  readonly appId: number;
}

export interface StoredStatus {
  readonly context: string;
  readonly sha: string;
  readonly state: 'error' | 'failure' | 'pending' | 'success';
}

const PERMISSIONS: Schemas['app-permissions'] = {
  metadata: 'read',
  contents: 'read',
  issues: 'read',
  pull_requests: 'write',
  checks: 'read',
  statuses: 'read',
};

/** The world behind the fake: one repository, one pull request of topic against base, and the Apps that may see it. */
export class FakeState {
  readonly world = new GitWorld();
  readonly views = new GitViews(this.world);
  readonly limits: Limits = { ...GITHUB_LIMITS };
  readonly faults: Fault[] = [];
  readonly requests: { readonly line: string; readonly body: string }[] = [];
  readonly apps: FakeApp[] = [];
  /** Installation tokens given out, with the id of their App. */
  readonly tokens = new Map<string, number>();
  /** What each of them may do: what its App might when it was made. */
  readonly granted = new Map<string, Schemas['app-permissions']>();
  repo: RepositoryFacts = { id: 4_242, owner: 'octo-org', name: 'hello', defaultBranch: this.world.base };
  /** Names the repository had before; they redirect. */
  readonly formerNames: string[] = [];
  readonly pull = {
    number: 7,
    title: 'Add a thing',
    body: 'It adds a thing.' as string | null,
    author: 'robin',
    state: 'open' as 'open' | 'closed',
    merged: false,
    draft: false,
    labels: [] as string[],
    headRepoGone: false,
    /** Frozen when it was merged. */
    mergedBase: null as string | null,
    /** `refs/pull/N/head`, once its branch is gone. */
    keptHead: null as string | null,
    /** `of`: the issue's repository, where it is another one. */
    closes: [] as { readonly number: number; readonly title: string; readonly body: string; readonly of?: string }[],
  };
  readonly issueComments: StoredComment[] = [];
  readonly reviewComments: StoredReviewComment[] = [];
  readonly reviews: StoredReview[] = [];
  readonly resolved = new Set<number>();
  /** Accounts that GitHub hides: what they wrote is taken off a page after it was cut. */
  readonly hidden = new Set<string>();
  readonly checks: StoredCheck[] = [];
  readonly statuses: StoredStatus[] = [];
  /** Run before the answer to a matching request, once each: a push between two pages, for one. */
  readonly before: { readonly on: RegExp; readonly run: () => void }[] = [];
  /** Run before each request of git's. */
  onGit: (() => void) | null = null;
  urls: Urls = { web: '', api: '' };
  #id = 1_000;

  nextId(): number {
    this.#id += 1;
    return this.#id;
  }

  addApp(id: number, slug: string, permissions: Schemas['app-permissions'] = PERMISSIONS): FakeApp {
    const privateKey = keyOf(id);
    const app: FakeApp = {
      id,
      slug,
      owner: 'octo-org',
      permissions: { ...permissions },
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKey: createPublicKey(privateKey),
      installationId: id * 10,
      installed: true,
      suspended: false,
    };
    this.apps.push(app);
    return app;
  }

  get headSha(): string {
    return this.pull.keptHead ?? this.world.head(this.world.topic);
  }

  get baseSha(): string {
    return this.pull.mergedBase ?? this.world.head(this.world.base);
  }

  get mergeBase(): string {
    return this.views.mergeBase(this.baseSha, this.headSha) ?? this.baseSha;
  }

  /** Merges on the forge: from then on the base commit stays what it was. */
  merge(): void {
    this.pull.mergedBase = this.world.head(this.world.base);
    this.world.merge();
    this.pull.state = 'closed';
    this.pull.merged = true;
  }

  /** Deletes the branch: what is open is closed by it, and its commit stays. */
  deleteBranch(): void {
    this.pull.keptHead = this.headSha;
    this.pull.state = 'closed';
    this.world.deleteBranch(this.world.topic);
  }

  comment(author: string, body: string, at: string): number {
    const id = this.nextId();
    this.issueComments.push({ id, author, body, at });
    return id;
  }

  reviewComment(author: string, body: string, at: string, place: { path: string; line: number | null; replyTo?: number }): number {
    const id = this.nextId();
    this.reviewComments.push({
      id,
      author,
      body,
      at,
      reviewId: null,
      path: place.path,
      line: place.line,
      startLine: null,
      side: 'RIGHT',
      subject: place.line === null ? 'file' : 'line',
      replyTo: place.replyTo ?? null,
    });
    return id;
  }

  rename(owner: string, name: string): void {
    this.formerNames.push(`${this.repo.owner}/${this.repo.name}`);
    this.repo = { ...this.repo, owner, name };
  }
}

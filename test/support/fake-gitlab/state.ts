import type { GitWorld } from '../git-world.js';
import { mergeBase } from './git-views.js';
import { FakeHooks } from './hooks.js';

/** GitLab's limits and what has gone wrong with it. All off: a GitLab of today that has time for everybody. */
export interface Faults {
  /** Reads of the merge request during which the diff of the newest push is not made yet. */
  notPrepared: number;
  /** Before 17.9. */
  noRawDiffs: boolean;
  /** Raw diffs name shortened objects. */
  shortIndex: boolean;
  /** Files of a listing past which nothing is listed (1 000 on most servers). */
  maxFiles: number;
  /** Paths whose diff is left out, and what the flags say of it. */
  leftOut: Readonly<Record<string, 'collapsed' | 'too_large' | 'unflagged'>>;
  /** A listing that was cut, in a comparison. */
  compareOverflow: boolean;
  failsAbove30APage: boolean;
  noGit: boolean;
  /** The status of a git that does not do, or of a path without one. */
  gitAnswers: number;
  /** Notes and discussions taken before the limit is reached. */
  notesBeforeLimit: number;
  /** What it then says of when it is over; null: nothing, as older servers do. */
  limitEnds: string | null;
  /** Notes of people that one merge request has at most. */
  notesAtMost: number;
  noPagingHeaders: boolean;
}

const NO_FAULTS: Faults = {
  notPrepared: 0,
  noRawDiffs: false,
  shortIndex: false,
  maxFiles: 1_000,
  leftOut: {},
  compareOverflow: false,
  failsAbove30APage: false,
  noGit: false,
  gitAnswers: 404,
  notesBeforeLimit: Infinity,
  limitEnds: '42',
  notesAtMost: 5_000,
  noPagingHeaders: false,
};

export interface FakeVersion {
  readonly id: number;
  readonly head: string;
  /** null: the branches share no history. */
  readonly base: string | null;
  readonly start: string;
}

export interface FakeNote {
  readonly id: number;
  readonly discussion: string;
  body: string;
  readonly author: { readonly id: number; readonly username: string };
  readonly system: boolean;
  readonly internal: boolean;
  readonly resolved: boolean;
  readonly position: Readonly<Record<string, unknown>> | null;
}

export interface FakePipeline {
  readonly id: number;
  readonly sha: string;
  readonly status: string;
  /** The project it ran in; a fork's is listed with the merge request only. */
  readonly project?: number;
}

export const REVIEWER = { id: 77, username: 'barista-bot' };

/** The one project and merge request of this GitLab, as its users have made it. */
export class GitLabState {
  readonly faults: Faults;
  webUrl = '';
  projectId = 4242;
  projectPath = 'group/sub-group/project';
  /** Where the project was before it moved: reads are sent on from there. */
  formerPath: string | null = null;
  readonly iid = 7;
  title = 'A title';
  description: string | null = 'What it does';
  /** Its head, once its branch is gone. */
  #keptHead: string | null = null;
  draft = false;
  labels: string[] = [];
  stateName: 'opened' | 'closed' | 'merged' | 'locked' = 'opened';
  readonly versions: FakeVersion[] = [];
  readonly notes: FakeNote[] = [];
  readonly hooks = new FakeHooks();
  readonly draftNotes: { readonly id: number; readonly note: string }[] = [];
  issues: unknown[] = [];
  pipelines: FakePipeline[] = [];
  headPipeline: FakePipeline | null = null;
  /** Commands that notes made GitLab run. */
  readonly commands: string[] = [];
  canApprove = true;
  approvedBy: number[] = [];
  /** The commits that were approved. */
  readonly approvals: string[] = [];
  #nextId = 100;

  constructor(
    readonly world: GitWorld,
    faults: Partial<Faults>,
  ) {
    this.faults = { ...NO_FAULTS, ...faults };
  }

  nextId(): number {
    return this.#nextId++;
  }

  get headSha(): string {
    return this.#keptHead ?? this.world.head(this.world.topic);
  }

  /** Merges on the forge: its diff stays what it was. */
  merge(): void {
    this.prepare();
    this.world.merge();
    this.stateName = 'merged';
  }

  /** Deletes the branch: what is open is closed by it, and its commit stays. */
  deleteBranch(): void {
    this.#keptHead = this.headSha;
    if (this.stateName === 'opened') this.stateName = 'closed';
    this.world.deleteBranch(this.world.topic);
  }

  /** What GitLab does after a push, in the background. */
  prepare(): FakeVersion | null {
    const { world } = this;
    const [head, start] = [this.headSha, world.head(world.base)];
    const newest = this.versions.at(-1);
    if (newest?.head !== head) {
      if (this.faults.notPrepared > 0) {
        this.faults.notPrepared -= 1;
        return null;
      }
      this.versions.push({ id: this.nextId(), head, base: mergeBase(world, start, head), start });
    }
    return this.versions.at(-1) ?? null;
  }

  addNote(note: Partial<FakeNote> & { readonly body: string }): FakeNote {
    const id = this.nextId();
    const full = {
      discussion: `d${id}`,
      author: { id: 5, username: 'robin' },
      system: false,
      internal: false,
      resolved: false,
      position: null,
      ...note,
      id,
    };
    this.notes.push(full);
    return full;
  }
}

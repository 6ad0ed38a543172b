/**
 * The forge-neutral port: everything a room asks of the place where its pull request lives.
 * A forge's own shapes end here; a forge is a class of this interface and nothing else knows its name.
 */

export type ForgeName = 'local' | 'github' | 'gitlab';

interface RefOf<Name extends ForgeName> {
  readonly forge: Name;
  /** One pull request, one key: equal keys mean the same pull request. Canonical only after {@link Forge.resolve}. */
  readonly key: string;
  /** What immutable reads are kept under; canonical only after {@link Forge.resolve}. */
  readonly repository: string;
  /** The `pull_request` string of the contract; parses to this same ref. */
  readonly url: string;
}

/** Two branches of a git repository on disk. */
export interface LocalPullRequestRef extends RefOf<'local'> {
  readonly path: string;
  /** Branch names without `refs/heads/`. */
  readonly base: string;
  readonly head: string;
}

/** A pull request on github.com or a GitHub Enterprise Server. */
export interface GitHubPullRequestRef extends RefOf<'github'> {
  /** Lower case, with the port where one is named: `github.com`. */
  readonly host: string;
  /** As last known: a repository may be renamed. Its id, in `repository` once resolved, stays. */
  readonly owner: string;
  readonly name: string;
  readonly number: number;
}

/** A merge request on GitLab.com or a self-managed GitLab. */
export interface GitLabPullRequestRef extends RefOf<'gitlab'> {
  /** `https://gitlab.com`: scheme, host and port, no slash at the end. */
  readonly origin: string;
  /** What stands before `/-/merge_requests`, groups and all: `group/sub/project`. As last known: a project moves, its id, in `repository` once resolved, stays. */
  readonly project: string;
  readonly iid: number;
}

/** One pull request. A union by `forge`: each further forge adds its member. */
export type PullRequestRef = LocalPullRequestRef | GitHubPullRequestRef | GitLabPullRequestRef;

interface RepositoryOf<Name extends ForgeName> {
  readonly forge: Name;
  /** As in the refs of its pull requests: canonical, by the forge's own id, only after {@link Forge.repository}. */
  readonly repository: string;
  /** Where people see it; parses to this same ref. */
  readonly url: string;
}

/** A repository, by the same parts as the refs of its pull requests. */
export type RepositoryRef =
  | (RepositoryOf<'local'> & Pick<LocalPullRequestRef, 'path'>)
  | (RepositoryOf<'github'> & Pick<GitHubPullRequestRef, 'host' | 'owner' | 'name'>)
  | (RepositoryOf<'gitlab'> & Pick<GitLabPullRequestRef, 'origin' | 'project'>);

export type ForgeErrorKind =
  /** Passing trouble: the caller of the forge tries again, after `retryAfter` seconds where given. */
  | 'unavailable'
  /** The repository, branch, commit or path is not there. */
  | 'not_found'
  /** The operator or the repository's owner must change something. */
  | 'refused'
  /** The request itself is wrong: whoever wrote it mends it. */
  | 'invalid';

/** Under which of the server's identities something is done on a forge. A forge with one identity has an operator alone. */
export type Identity = 'operator' | 'reviewer';

/** A limit a forge named: nothing that falls under it is asked before `until` (epoch milliseconds). */
export interface Limit {
  /** Names it the same in every process: {@link LimitsHeard}. */
  readonly name: string;
  readonly until: number;
}

/** What more is known of a failure. */
export interface FailureFacts {
  /** Whose access to the repository is shut out; absent: nobody's, the failure is about this one thing. */
  readonly identity?: Identity;
  /** The forge wants to be left alone for a time. */
  readonly limit?: Limit;
  /** Where whoever must act can act. */
  readonly mendAt?: string;
  /** Only this kind of work is shut out: other calls of the same identity may succeed and prove nothing for it. */
  readonly partial?: boolean;
}

/** Every failure of a forge, sorted by who must act. Messages are fit for users: they name no key and no other path. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';

  constructor(
    readonly kind: ForgeErrorKind,
    message: string,
    /** Seconds. */
    readonly retryAfter?: number,
    readonly facts: FailureFacts = {},
  ) {
    super(message);
  }
}

/** Limits that other processes were told of: epoch milliseconds until which nothing is asked under the one named; 0: none. */
export type LimitsHeard = (name: string) => number;

/** A commit a diff starts from and the one it ends at; both full object names. */
export interface CommitPair {
  readonly baseSha: string;
  readonly headSha: string;
}

/** What the pull request is at `readAt` (epoch milliseconds). `baseSha` is the merge base, `baseRefSha` the base branch. */
export interface KnownHead extends CommitPair {
  readonly state: 'open' | 'merged' | 'closed';
  readonly baseRefSha: string;
  /** Absent where the forge does not say with the head. */
  readonly draft?: boolean;
  readonly labels?: readonly string[];
  readonly readAt: number;
}

/** The pull request is closed and its commits cannot be named any more; `reason` says which branch is gone. */
export interface GoneHead {
  readonly state: 'closed';
  readonly headSha: null;
  readonly baseSha: null;
  readonly baseRefSha: null;
  readonly reason: string;
  readonly readAt: number;
}

export type HeadRead = KnownHead | GoneHead;

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly url: string | null;
}

export interface ReviewComment {
  readonly id: string;
  readonly author: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly body: string;
  readonly path: string | null;
  readonly line: number | null;
  readonly url: string | null;
  /** Its thread was resolved on the forge. */
  readonly resolved?: true;
}

/** The texts of a pull request as they are now. `gaps` names whatever could not be had (C9). */
export interface Description {
  readonly title: string;
  readonly description: string;
  readonly issue: Issue | null;
  readonly comments: readonly ReviewComment[];
  readonly gaps: readonly string[];
}

/** `type_changed`: a file became a symlink or a submodule, or the other way. */
export type FileStatus = 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'type_changed';

/** Why a file comes without a patch. The last three have nothing to show; the others hide something. */
export type NoPatchReason = 'binary' | 'too_large' | 'diff_too_large' | 'collapsed' | 'renamed_only' | 'mode_only' | 'empty';

/** Lines of one side of a diff, 1-based and inclusive. `new` is read at the head, `old` at the base. */
export interface LineSpan {
  readonly side: 'new' | 'old';
  readonly from: number;
  readonly to: number;
}

export interface ChangedFile {
  readonly path: string;
  readonly previousPath?: string;
  readonly status: FileStatus;
  /** null: not counted (binary, or too large to read). */
  readonly additions: number | null;
  readonly deletions: number | null;
  /** What the path is at the head, or was at the base for a removed file. */
  readonly kind: 'file' | 'symlink' | 'submodule';
  /** `100644 → 100755` where the mode changed. */
  readonly modeChange?: string;
  /** The object at the head; null for a removed file, or where the forge does not name it. */
  readonly blobSha: string | null;
  /** Unified hunks from the first `@@` on, no file header, no newline at the end; null with `noPatch`. */
  readonly patch: string | null;
  readonly noPatch?: NoPatchReason;
  /** The lines a left out patch would have covered, where known. */
  readonly span?: LineSpan;
  /** Bytes that are not UTF-8 are shown as U+FFFD in path or patch. */
  readonly notUtf8?: boolean;
}

export interface Diff {
  readonly files: readonly ChangedFile[];
  /** What the listing lacks, as sentences; empty when it is whole (C9). */
  readonly gaps: readonly string[];
}

/** C9: a gap, where the base is not the merge base because there is none. */
export const UNRELATED = 'The two branches share no history: the files are compared with the base branch itself.';

export interface Comparison {
  readonly status: 'ahead' | 'identical' | 'diverged' | 'unknown';
  /** Commits on top of `from`; null where they cannot be counted. */
  readonly commits: number | null;
  /** Paths that differ, both names of a rename; null where they cannot be known. */
  readonly changedPaths: readonly string[] | null;
  /** The forge listed only some of them. */
  readonly capped: boolean;
}

export type FileRead =
  | {
      readonly kind: 'text';
      readonly sha: string;
      readonly size: number;
      readonly content: string;
      readonly totalLines: number;
      readonly notUtf8: boolean;
    }
  | { readonly kind: 'binary'; readonly sha: string; readonly size: number }
  | { readonly kind: 'too_large'; readonly sha: string; readonly size: number }
  | { readonly kind: 'symlink'; readonly sha: string; readonly target: string }
  | { readonly kind: 'submodule'; readonly sha: string }
  | { readonly kind: 'folder' | 'missing' };

/** Largest file whose content is read (F3). */
export const MAX_FILE_BYTES = 1_000_000;

export interface CiRead {
  readonly state: 'success' | 'failure' | 'pending' | 'none' | 'unknown';
  readonly summary: string;
  readonly url: string | null;
}

export interface LineComment {
  readonly path: string;
  readonly line: number;
  /** The first line of a range that ends at `line`, on the same side and in the same hunk; absent: one line. */
  readonly startLine?: number;
  readonly side: 'new' | 'old';
  readonly body: string;
}

/** Who posts, as the owner has set it for the repository. A forge with one identity posts as that. */
export interface PostAs {
  /** null: the reviewer where the server has one, else the operator. */
  readonly identity: Identity | null;
  /** W9: where the reviewer cannot, for it is not there, the operator posts a comment that opens with the verdict. */
  readonly commentInstead: boolean;
}

/** Names one posting for ever: `marker` is hidden in what is posted, so that it can be found again, whoever posted it. */
export interface Posting {
  readonly marker: string;
  readonly headSha: string;
}

/** A remark about a whole file of the diff. */
export interface FileComment {
  readonly path: string;
  readonly body: string;
}

/** One review, its lines already checked against the hunks (D9). Each remark stands in one place, the gravest first. */
export interface ReviewToPost extends Posting {
  /** Absent: as where the owner set nothing. */
  readonly as?: PostAs;
  readonly verdict: 'approve' | 'comment' | 'request_changes';
  readonly body: string;
  readonly comments: readonly LineComment[];
  readonly fileComments: readonly FileComment[];
  /** D9: the body where the forge takes no comment at some of them, by position: first `comments`, then `fileComments`. */
  readonly bodyWithout: (refused: ReadonlySet<number>) => string;
}

export interface Posted {
  readonly url: string;
  /** Under which identity it was sent now; absent: it was there already. */
  readonly by?: Identity;
}

/** What the forge shows of a posting; `differences` is empty when it shows what was sent. */
export interface ReadBack {
  readonly found: boolean;
  readonly url: string | null;
  /** Remarks that the forge shows no comment for, by position among the comments, those on files last: they stand in the body. */
  readonly inBody: readonly number[];
  readonly differences: readonly string[];
}

/** One forge. Every method throws {@link ForgeError} and nothing else. */
export interface Forge {
  /** The same pull request with its canonical key and repository; refuses what may not be opened here. */
  resolve(ref: PullRequestRef): Promise<PullRequestRef>;
  /** The same repository by the forge's own id, at its address of today; refuses as `resolve` does. */
  repository(ref: RepositoryRef): Promise<RepositoryRef>;
  /**
   * Sees to it that deliveries of this repository come, or that none do (P3). Safe to repeat. Absent where nothing is
   * set up for one repository: an App's deliveries come of themselves, a local repository has none.
   */
  hook?(ref: RepositoryRef, wanted: boolean): Promise<void>;
  /** A string that changes when head or base move: one cheap read for the watch (P4). null: a branch is gone. */
  headFingerprint(ref: PullRequestRef): Promise<string | null>;
  head(ref: PullRequestRef): Promise<HeadRead>;
  describe(ref: PullRequestRef): Promise<Description>;
  /** What changed from base to head, tree against tree. Immutable: keep it. */
  diff(ref: PullRequestRef, commits: CommitPair): Promise<Diff>;
  /** How `to` stands to `from` (C4). Immutable: keep it, unless its paths are not known. */
  compare(ref: PullRequestRef, from: string, to: string): Promise<Comparison>;
  /** Commits of `to` on top of `from`; null when `to` does not descend from it (P1: history rewritten). */
  commitsBetween(ref: PullRequestRef, from: string, to: string): Promise<number | null>;
  /** One path of one commit's tree (F3, F4). Immutable: keep it. */
  file(ref: PullRequestRef, sha: string, path: string): Promise<FileRead>;
  ci(ref: PullRequestRef, sha: string): Promise<CiRead>;
  findPosted(ref: PullRequestRef, posting: Posting): Promise<Posted | null>;
  /**
   * Posts once: a review whose marker is already there is answered, not posted again. `stop`: another posting of the same
   * may have begun, so this one sends nothing more.
   */
  post(ref: PullRequestRef, review: ReviewToPost, stop?: AbortSignal): Promise<Posted>;
  readBack(ref: PullRequestRef, review: ReviewToPost): Promise<ReadBack>;
}

/** What an immutable read is kept under. `kind` says what it is of the two commits; at most 100 ASCII characters. */
export interface ContextKey extends CommitPair {
  readonly repository: string;
  readonly kind: string;
}

/**
 * Keeps immutable reads (DESIGN 8). A value is JSON text (store it as text: it may hold `\u0000` escapes).
 * Putting the same key twice is harmless: the values are equal.
 */
export interface ContextStore {
  get(key: ContextKey): Promise<string | null>;
  put(key: ContextKey, value: string): Promise<void>;
}

import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { ForgeError, type GitLabPullRequestRef, type Posted, type ReviewToPost } from '../port.js';
import { goesOn, isMarked, type Remark, remarksOf } from '../remarks.js';
import type { GitLabClient } from './client.js';
import { readDiff, type DiffDeps } from './diff.js';
import { Broken } from './errors.js';
import { bodyMarker, commentMarkers, noteText, remarkText } from './markers.js';
import { positionOf, type Position } from './position.js';
import { bodyOf, mergeRequestPath, noteUrl, ownNotes } from './posted.js';
import { approvals, note, version, type Note, type Version } from './shapes.js';

/** After an end that says nothing: long enough for GitLab to show what it took after all. */
const LOOK_AGAIN = 10;
/** What GitLab did with a request that it failed at shows within this. */
const SETTLE_MS = 2_000;
const anything = z.unknown();

/**
 * D5, D9: the remarks one by one, each under its own marker, then the body. Whatever is there already is not posted
 * again, and what an earlier text of it left there is removed; draft notes, of whomever, are neither used nor touched. A
 * remark for whose line GitLab has no place stands in the body.
 */
export async function postReview(deps: DiffDeps, ref: GitLabPullRequestRef, review: ReviewToPost, stop?: AbortSignal): Promise<Posted> {
  const { client } = deps;
  const remarks = remarksOf(review);
  const markers = commentMarkers(review);
  const there = await ownNotes(client, ref, review);
  const posted = there.find(({ body }) => isMarked(body, bodyMarker(review)));
  if (posted !== undefined) return { url: await noteUrl(client, ref, posted) };

  for (const { id } of there.filter(({ body }) => !markers.some((marker) => isMarked(body, marker)))) {
    goesOn(stop);
    await remove(client, ref, id);
  }
  const missing = [...remarks.keys()].filter((index) => !there.some(({ body }) => isMarked(body, markers[index] as string)));
  const find = await placer(deps, ref, review, missing.length > 0);
  const unplaced = new Set<number>();
  const sender = new RemarkSender(client, ref, review, stop);
  for (const index of missing) {
    const remark = remarks[index] as Remark;
    const marker = markers[index] as string;
    const position = find(remark);
    const taken = position !== null && (await sender.send({ body: remarkText(remark, marker), position }, marker));
    if (!taken) unplaced.add(index);
  }
  goesOn(stop);
  await settleApproval(client, ref, review);
  goesOn(stop);
  const created = await create(
    client,
    `${mergeRequestPath(client, ref)}/notes`,
    { body: noteText(bodyOf(review, unplaced), bodyMarker(review)) },
    note,
  );
  return { url: await noteUrl(client, ref, created), by: 'operator' };
}

/** One that is gone already is removed. */
async function remove(client: GitLabClient, ref: GitLabPullRequestRef, id: Note['id']): Promise<void> {
  try {
    await client.delete(`${mergeRequestPath(client, ref)}/notes/${id}`);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'not_found') throw error;
  }
}

/** D6: a review is placed in the version of the diff that its own commit made, also once there is a newer one. */
async function placer(
  deps: DiffDeps,
  ref: GitLabPullRequestRef,
  review: ReviewToPost,
  needed: boolean,
): Promise<(remark: Remark) => Position | null> {
  const at = needed ? await versionOf(deps.client, ref, review.headSha) : null;
  if (at === null) return () => null;
  const { files } = await readDiff(deps, ref, { baseSha: at.base_commit_sha ?? at.start_commit_sha, headSha: at.head_commit_sha });
  const byPath = new Map(files.map((file) => [file.path, file]));
  return (remark) => {
    const file = byPath.get(remark.path);
    return file === undefined ? null : positionOf(at, file, remark);
  };
}

/** The newest first: a retargeted merge request has several of one head. */
async function versionOf(client: GitLabClient, ref: GitLabPullRequestRef, headSha: string): Promise<Version | null> {
  for await (const page of client.pages(`${mergeRequestPath(client, ref)}/versions`, version)) {
    const found = page.find((one) => one.head_commit_sha === headSha);
    if (found !== undefined) return found;
  }
  return null;
}

interface Discussion {
  readonly body: string;
  readonly position: Position;
}

/** Remarks that GitLab may fail at before it is GitLab that is taken for broken. */
const BROKEN_AT_MOST = 3;

/** Sends one posting's remarks one by one. */
class RemarkSender {
  #broken = 0;

  constructor(
    private readonly client: GitLabClient,
    private readonly ref: GitLabPullRequestRef,
    private readonly review: ReviewToPost,
    private readonly stop: AbortSignal | undefined,
  ) {}

  /**
   * false: the remark must stand elsewhere, for GitLab finds no such line, or fails at it again and again (D9): it would
   * cost the whole review.
   */
  async send(discussion: Discussion, marker: string): Promise<boolean> {
    try {
      return await this.#discuss(discussion);
    } catch (error) {
      if (!(error instanceof Broken) || this.#broken === BROKEN_AT_MOST) throw error;
    }
    if (await this.#isThere(marker)) return true;
    try {
      return await this.#discuss(discussion);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
    }
    this.#broken += 1;
    return this.#isThere(marker);
  }

  async #discuss(discussion: Discussion): Promise<boolean> {
    goesOn(this.stop);
    return discuss(this.client, this.ref, discussion);
  }

  /** D5: what failed may have worked; looks twice. */
  async #isThere(marker: string): Promise<boolean> {
    for (const wait of [0, SETTLE_MS]) {
      await pause(wait);
      if ((await ownNotes(this.client, this.ref, this.review)).some(({ body }) => isMarked(body, marker))) return true;
    }
    return false;
  }
}

/** false: GitLab finds no such line. */
async function discuss(client: GitLabClient, ref: GitLabPullRequestRef, discussion: Discussion): Promise<boolean> {
  try {
    await create(client, `${mergeRequestPath(client, ref)}/discussions`, discussion, anything);
    return true;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'invalid' && !FULL.test(error.message)) return false;
    throw error;
  }
}

/** The merge request has all the notes that GitLab lets it have: a body has no place there either. */
const FULL = /maximum number of comments/i;

/** A failure may have worked: the next attempt looks before it sends again, and GitLab is given time to show it. */
async function create<T>(client: GitLabClient, path: string, body: unknown, shape: z.ZodType<T>): Promise<T> {
  try {
    return await client.post(path, body, shape);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'unavailable') throw error;
    const Failure = error instanceof Broken ? Broken : ForgeError;
    throw new Failure('unavailable', error.message, Math.max(LOOK_AGAIN, error.retryAfter ?? 0), error.facts);
  }
}

/**
 * The verdict as GitLab knows it: approve, of this very commit, where the user may; anything else takes back an earlier
 * approval. A refusal costs nothing: the body opens with the verdict.
 */
async function settleApproval(client: GitLabClient, ref: GitLabPullRequestRef, { verdict, headSha }: ReviewToPost): Promise<void> {
  try {
    const now = await client.get(`${mergeRequestPath(client, ref)}/approvals`, approvals);
    const approved = now.user_has_approved === true;
    if (verdict === 'approve' && !approved && now.user_can_approve === true)
      await client.post(`${mergeRequestPath(client, ref)}/approve`, { sha: headSha }, anything);
    if (verdict === 'request_changes' && approved) await client.post(`${mergeRequestPath(client, ref)}/unapprove`, {}, anything);
  } catch (error) {
    // 409: the head moved on; a commit that nobody reviewed is not approved.
    if (!(error instanceof ForgeError) || error.retryAfter !== undefined) throw error;
  }
}

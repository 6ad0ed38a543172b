import { z } from 'zod';
import { ForgeError, type GitLabPullRequestRef, type Posted, type Posting, type ReadBack, type ReviewToPost } from '../port.js';
import { goesOn, isMarked, placeOfRemark, plain, type Remark, remarksOf } from '../remarks.js';
import type { GitLabClient } from './client.js';
import { readDiff, type DiffDeps } from './diff.js';
import { bodyMarker, commentMarkers, isRemarkOf, noteText, remarkText } from './markers.js';
import { projectPath, readMergeRequest } from './merge-request.js';
import { positionOf, type Position } from './position.js';
import { approvals, note, user, version, type MergeRequest, type Note, type Version } from './shapes.js';

/** After an end that says nothing: long enough for GitLab to show what it took after all. */
const LOOK_AGAIN = 10;
const anything = z.unknown();

/** The review's own note; the last thing that is posted, so that whoever finds it finds all of it. */
export async function findPosted(client: GitLabClient, ref: GitLabPullRequestRef, posting: Posting): Promise<Posted | null> {
  const found = (await ownNotes(client, ref, posting)).find(({ body }) => isMarked(body, bodyMarker(posting)));
  return found === undefined ? null : { url: await noteUrl(client, ref, found) };
}

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
  for (const index of missing) {
    const remark = remarks[index] as Remark;
    const position = find(remark);
    goesOn(stop);
    const taken = position !== null && (await discuss(client, ref, { body: remarkText(remark, markers[index] as string), position }));
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

export async function readBack(client: GitLabClient, ref: GitLabPullRequestRef, review: ReviewToPost): Promise<ReadBack> {
  const remarks = remarksOf(review);
  const markers = commentMarkers(review);
  const shown = await ownNotes(client, ref, review);
  const body = shown.find((one) => isMarked(one.body, bodyMarker(review)));
  if (body === undefined) return { found: false, url: null, inBody: [], differences: [] };
  const differences: string[] = [];
  const unplaced = new Set<number>();
  for (const [index, comment] of remarks.entries()) {
    const marker = markers[index] as string;
    const found = shown.filter((one) => isMarked(one.body, marker));
    const [first] = found;
    if (first === undefined) {
      unplaced.add(index);
      differences.push(`${placeOfRemark(comment)} stands in the body: GitLab took no comment there.`);
    } else {
      if (found.length > 1) differences.push(`${placeOfRemark(comment)} is there ${found.length} times.`);
      if (plain(first.body) !== plain(remarkText(comment, marker)))
        differences.push(`The comment at ${placeOfRemark(comment)} reads otherwise than what was posted.`);
      if (!standsAt(first, comment)) differences.push(`The comment for ${placeOfRemark(comment)} stands at another place.`);
    }
  }
  if (plain(body.body) !== plain(noteText(bodyOf(review, unplaced), bodyMarker(review))))
    differences.push('The body reads otherwise than what was posted.');
  return { found: true, url: await noteUrl(client, ref, body), inBody: [...unplaced], differences };
}

/** D9: what could not be placed is listed in the body. */
function bodyOf({ body, bodyWithout }: ReviewToPost, unplaced: ReadonlySet<number>): string {
  return unplaced.size === 0 ? body : bodyWithout(unplaced);
}

function standsAt({ position }: Note, remark: Remark): boolean {
  if (position == null) return false;
  if (!('line' in remark)) return position.new_path === remark.path;
  const { path, line, startLine, side } = remark;
  const start = position.line_range?.start;
  const [shownPath, shownLine, shownStart] =
    side === 'new'
      ? [position.new_path, position.new_line, start?.new_line]
      : // An old line stands under the file's name of today.
        [position.new_path, position.old_line, start?.old_line];
  return shownPath === path && shownLine === line && (shownStart ?? undefined) === startLine;
}

/** Every note of this token's user that belongs to the review, its body or a remark: those of others prove nothing. */
async function ownNotes(client: GitLabClient, ref: GitLabPullRequestRef, posting: Posting): Promise<Note[]> {
  const { id: self } = await client.get('user', user);
  const own: Note[] = [];
  for await (const page of client.pages(`${mergeRequestPath(client, ref)}/notes`, note, { order_by: 'created_at', sort: 'asc' })) {
    own.push(
      ...page.filter(({ author, body }) => author.id === self && (isMarked(body, bodyMarker(posting)) || isRemarkOf(body, posting))),
    );
  }
  return own;
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

/** false: GitLab finds no such line, so that the remark must stand elsewhere. */
async function discuss(
  client: GitLabClient,
  ref: GitLabPullRequestRef,
  discussion: { body: string; position: Position },
): Promise<boolean> {
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
    throw new ForgeError('unavailable', error.message, Math.max(LOOK_AGAIN, error.retryAfter ?? 0), error.facts);
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

function mergeRequestPath(client: GitLabClient, ref: GitLabPullRequestRef): string {
  return `${projectPath(client, ref)}/merge_requests/${ref.iid}`;
}

async function noteUrl(client: GitLabClient, ref: GitLabPullRequestRef, { id }: Note): Promise<string> {
  const { web_url: url }: MergeRequest = await readMergeRequest(client, ref);
  return `${url}#note_${id}`;
}

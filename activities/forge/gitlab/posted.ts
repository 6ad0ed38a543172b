import { type GitLabPullRequestRef, type Posted, type Posting, type ReadBack, type ReviewToPost } from '../port.js';
import { isMarked, placeOfRemark, plain, type Remark, remarksOf } from '../remarks.js';
import type { GitLabClient } from './client.js';
import { bodyMarker, commentMarkers, isRemarkOf, noteText, remarkText } from './markers.js';
import { projectPath, readMergeRequest } from './merge-request.js';
import { note, user, type MergeRequest, type Note } from './shapes.js';

/** The review's own note; the last thing that is posted, so that whoever finds it finds all of it. */
export async function findPosted(client: GitLabClient, ref: GitLabPullRequestRef, posting: Posting): Promise<Posted | null> {
  const found = (await ownNotes(client, ref, posting)).find(({ body }) => isMarked(body, bodyMarker(posting)));
  return found === undefined ? null : { url: await noteUrl(client, ref, found) };
}

/** D9: compares what GitLab shows with what was to be posted. @throws {ForgeError} */
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
export function bodyOf({ body, bodyWithout }: ReviewToPost, unplaced: ReadonlySet<number>): string {
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
export async function ownNotes(client: GitLabClient, ref: GitLabPullRequestRef, posting: Posting): Promise<Note[]> {
  const { id: self } = await client.get('user', user);
  const own: Note[] = [];
  for await (const page of client.pages(`${mergeRequestPath(client, ref)}/notes`, note, { order_by: 'created_at', sort: 'asc' })) {
    own.push(
      ...page.filter(({ author, body }) => author.id === self && (isMarked(body, bodyMarker(posting)) || isRemarkOf(body, posting))),
    );
  }
  return own;
}

export function mergeRequestPath(client: GitLabClient, ref: GitLabPullRequestRef): string {
  return `${projectPath(client, ref)}/merge_requests/${ref.iid}`;
}

export async function noteUrl(client: GitLabClient, ref: GitLabPullRequestRef, { id }: Note): Promise<string> {
  const { web_url: url }: MergeRequest = await readMergeRequest(client, ref);
  return `${url}#note_${id}`;
}

import { ForgeError, type Description, type GitLabPullRequestRef, type Issue, type ReviewComment } from '../port.js';
import type { GitLabClient } from './client.js';
import { projectPath, readMergeRequest } from './merge-request.js';
import { closedIssue, discussion, type MergeRequest, type Note } from './shapes.js';

/** GitLab takes 5 000 comments a merge request; page 1 could hold only some of them anyway. */
const MAX_COMMENTS = 2_000;

/** C1: texts as they are now. What only some of the project's members may read stays there: a review is read by more. */
export async function readDescription(client: GitLabClient, ref: GitLabPullRequestRef): Promise<Description> {
  const found = await readMergeRequest(client, ref);
  const [issue, comments] = await Promise.all([readIssue(client, ref, found), readComments(client, ref, found.web_url)]);
  return {
    title: found.title,
    description: found.description ?? '',
    issue: issue.issue,
    comments: comments.comments,
    gaps: [...issue.gaps, ...comments.gaps],
  };
}

async function readIssue(
  client: GitLabClient,
  ref: GitLabPullRequestRef,
  { project_id: here }: MergeRequest,
): Promise<{ issue: Issue | null; gaps: string[] }> {
  try {
    for await (const [first] of client.pages(`${projectPath(client, ref)}/merge_requests/${ref.iid}/closes_issues`, closedIssue, {
      per_page: 1,
    })) {
      if (first === undefined) break;
      const { id, iid, title, description, web_url: url, confidential } = first;
      if (confidential === true) return { issue: null, gaps: ['The issue it closes is confidential and left out.'] };
      // An issue of another project must not be taken for the one of that number here.
      const elsewhere = first.project_id === undefined || first.project_id === here ? undefined : first.references?.full;
      return { issue: { id: elsewhere ?? String(iid ?? id), title, body: description ?? '', url: url ?? null }, gaps: [] };
    }
    return { issue: null, gaps: [] };
  } catch (error) {
    // An issue in a place that the token may not see costs nothing else.
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    return { issue: null, gaps: [`The issue it closes could not be read: ${error.message}`] };
  }
}

async function readComments(
  client: GitLabClient,
  ref: GitLabPullRequestRef,
  webUrl: string,
): Promise<{ comments: ReviewComment[]; gaps: string[] }> {
  const comments: ReviewComment[] = [];
  let internal = 0;
  for await (const page of client.pages(`${projectPath(client, ref)}/merge_requests/${ref.iid}/discussions`, discussion)) {
    const notes = page.flatMap(({ notes: all }) => all).filter(({ system }) => !system);
    internal += notes.filter((note) => note.internal === true).length;
    comments.push(...notes.filter((note) => note.internal !== true).map((note) => commentOf(note, webUrl)));
    if (comments.length >= MAX_COMMENTS) {
      return {
        comments: comments.slice(0, MAX_COMMENTS),
        gaps: [`Only the first ${MAX_COMMENTS} comments are given.`, ...internalGap(internal)],
      };
    }
  }
  return { comments, gaps: internalGap(internal) };
}

function internalGap(count: number): string[] {
  return count === 0
    ? []
    : [`${count} internal ${count === 1 ? 'note is' : 'notes are'} left out: only members of the project may read them.`];
}

function commentOf({ id, body, author, created_at: at, position, resolved }: Note, webUrl: string): ReviewComment {
  return {
    id: String(id),
    author: author.username,
    at: new Date(at).toISOString(),
    body,
    path: position?.new_path ?? position?.old_path ?? null,
    line: position?.new_line ?? position?.old_line ?? null,
    url: `${webUrl}#note_${id}`,
    ...(resolved === true ? { resolved } : {}),
  };
}

import type { Description, Issue, ReviewComment } from '../forge/port.js';
import { cutText, jsonSize } from './json-size.js';
import { shareRoom } from './pages.js';

/** The texts of page 1, as the contract spells them. */
export interface WireHeader {
  readonly title: string;
  readonly description: string;
  readonly issue: Issue | null;
  readonly comments: readonly ReviewComment[];
  /** How many comments, the oldest, did not fit. */
  readonly comments_omitted: number;
  /** C9: what could not be had. */
  readonly gaps: readonly string[];
}

const MAX_TITLE = 300;
const MAX_GAPS = 400;
const MAX_ISSUE_TITLE = 150;
/** Below this a comment is left out rather than cut to nothing. */
const MIN_COMMENT = 200;

export function wholeHeader({ title, description, issue, comments, gaps }: Description): WireHeader {
  return { title, description, issue, comments, comments_omitted: 0, gaps };
}

/** The header's JSON within `room` characters (1 900 are enough for something of each), cut with markers (C2). */
export function headerWithin(text: Description, room: number): WireHeader {
  const whole = wholeHeader(text);
  if (jsonSize(whole) <= room) return whole;
  const title = cutText(text.title, MAX_TITLE);
  const gaps = listWithin(
    text.gaps.map((gap) => cutText(gap, MAX_GAPS / 2)),
    MAX_GAPS,
  );
  const fixed = jsonSize({ title, description: '', issue: null, comments: [], comments_omitted: 1e9, gaps });
  const wants = [jsonSize(text.description), jsonSize(text.issue), jsonSize(text.comments)];
  const [forDescription = 0, forIssue = 0, forComments = 0] = shareRoom(room - fixed, wants);
  const comments = commentsWithin(text.comments, forComments);
  return {
    title,
    description: cutText(text.description, forDescription - 2),
    issue: text.issue === null ? null : issueWithin(text.issue, forIssue),
    comments,
    comments_omitted: text.comments.length - comments.length,
    gaps,
  };
}

function issueWithin(issue: Issue, room: number): Issue | null {
  if (jsonSize(issue) <= room) return issue;
  const short = {
    id: cutText(issue.id, 40),
    title: cutText(issue.title, MAX_ISSUE_TITLE),
    body: '',
    url: issue.url !== null && issue.url.length > 150 ? null : issue.url,
  };
  const left = room - jsonSize(short);
  return left < 0 ? null : { ...short, body: left < 40 ? '' : cutText(issue.body, left) };
}

/** The newest stay, whole where they fit; the one that does not is cut. Order is kept. */
function commentsWithin(comments: readonly ReviewComment[], room: number): ReviewComment[] {
  const kept: ReviewComment[] = [];
  let left = room - 2;
  for (const comment of [...comments].reverse()) {
    const size = jsonSize(comment) + 1;
    if (size <= left) {
      kept.unshift(comment);
      left -= size;
      continue;
    }
    const bare = jsonSize({ ...comment, body: '' }) + 1;
    if (left - bare >= MIN_COMMENT) kept.unshift({ ...comment, body: cutText(comment.body, left - bare) });
    break;
  }
  return kept;
}

function listWithin(texts: readonly string[], room: number): string[] {
  const kept: string[] = [];
  let left = room;
  for (const text of texts) {
    left -= jsonSize(text) + 1;
    if (left < 0) break;
    kept.push(text);
  }
  return kept;
}

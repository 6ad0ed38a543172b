import { ForgeError, type Posting, type ReadBack, type ReviewToPost } from '../port.js';
import { placeOfRemark, remarksOf } from '../remarks.js';
import { fullSha, type Git } from './git.js';

/** Reviews are posted here and nowhere else; read them with `git notes --ref=barista show COMMIT`. */
const NOTES_REF = 'refs/notes/barista';

const ATTEMPTS = 10;
const NO_COMMIT = '0'.repeat(40);

interface Notes {
  /** The notes commit, null before the first note. */
  readonly commit: string | null;
  /** Note objects by the commit they are on. */
  readonly notes: ReadonlyMap<string, string>;
}

/** The note on a commit holding this marker, if any. */
export async function findNote(git: Git, gitDir: string, posting: Posting): Promise<string | null> {
  const text = await noteText(git, gitDir, (await readNotes(git, gitDir)).notes.get(fullSha(posting.headSha)));
  return text === null ? null : partOf(text, posting.marker);
}

/**
 * Adds the review to the note on its commit unless its marker is there. Several posters at once each keep theirs:
 * the ref only moves from the commit that was read, else everything is read again.
 */
export async function addNote(git: Git, gitDir: string, review: ReviewToPost, now: number): Promise<void> {
  const part = renderNote(review);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { commit, notes } = await readNotes(git, gitDir);
    const before = await noteText(git, gitDir, notes.get(fullSha(review.headSha)));
    if (before !== null && partOf(before, review.marker) !== null) return;
    const text = before === null ? part : `${before.replace(/\n*$/, '\n\n')}${part}`;
    const blob = await object(git, gitDir, ['hash-object', '-w', '--no-filters', '--stdin'], text);
    const listing = [...new Map(notes).set(review.headSha, blob)].map(([on, note]) => `100644 blob ${note}\t${on}\0`).sort();
    const tree = await object(git, gitDir, ['mktree', '-z'], listing.join(''));
    const next = await object(
      git,
      gitDir,
      ['commit-tree', tree, ...(commit === null ? [] : ['-p', commit])],
      'Review posted by Barista\n',
      identity(now),
    );
    const moved = await git.run(gitDir, ['update-ref', NOTES_REF, next, commit ?? NO_COMMIT], { accept: [1, 128], env: identity(now) });
    if (moved.code === 0) return;
  }
  throw new ForgeError('unavailable', `${NOTES_REF} could not be moved: it kept changing, or a lock file stands in its way.`, 5);
}

/** Compares what the note shows with what was to be posted. */
export async function checkNote(git: Git, gitDir: string, review: ReviewToPost, url: string): Promise<ReadBack> {
  const part = await findNote(git, gitDir, review);
  if (part === null) return { found: false, url: null, inBody: [], differences: [] };
  const differences = part === renderNote(review).trimEnd() ? [] : ['The note reads otherwise than what was posted.'];
  return { found: true, url, inBody: [], differences };
}

/** The review as a note, between two hidden markers. A note is one text: it takes every remark at its place. */
function renderNote(review: ReviewToPost): string {
  const remarks = remarksOf(review).map((remark) => `## ${placeOfRemark(remark)}\n\n${remark.body}`);
  // A marker that somebody wrote into a text is none.
  const texts = [review.body, ...remarks].map((text) => text.replaceAll(/<!--(?= \/?barista:)/g, '<!--\u200b'));
  return `${[opening(review.marker), ...texts, closing(review.marker)].join('\n\n')}\n`;
}

const opening = (marker: string) => `<!-- barista:${marker} -->`;
const closing = (marker: string) => `<!-- /barista:${marker} -->`;

function partOf(text: string, marker: string): string | null {
  const start = text.indexOf(opening(marker));
  const end = text.indexOf(closing(marker), start);
  return start < 0 || end < 0 ? null : text.slice(start, end + closing(marker).length);
}

async function readNotes(git: Git, gitDir: string): Promise<Notes> {
  const found = await git.run(gitDir, ['for-each-ref', '--format=%(objectname)', NOTES_REF]);
  const commit = found.stdout.toString('latin1').trim();
  if (commit === '') return { commit: null, notes: new Map() };
  const { stdout } = await git.run(gitDir, ['ls-tree', '-r', '-z', '--full-tree', fullSha(commit)]);
  const notes = new Map<string, string>();
  for (const line of stdout.toString('utf8').split('\0')) {
    const entry = /^100644 blob ([0-9a-f]+)\t([0-9a-f/]+)$/.exec(line);
    // git fans large note trees out into folders; the name without slashes is the commit.
    if (entry !== null) notes.set(String(entry[2]).replaceAll('/', ''), String(entry[1]));
  }
  return { commit, notes };
}

async function noteText(git: Git, gitDir: string, blob: string | undefined): Promise<string | null> {
  return blob === undefined ? null : (await git.run(gitDir, ['cat-file', 'blob', blob])).stdout.toString('utf8');
}

async function object(git: Git, gitDir: string, args: readonly string[], input: string, env?: Record<string, string>): Promise<string> {
  const { stdout } = await git.run(gitDir, args, { input, ...(env ? { env } : {}) });
  return fullSha(stdout.toString('latin1').trim());
}

function identity(now: number): Record<string, string> {
  const date = `${Math.floor(now / 1000)} +0000`;
  const [name, email] = ['Barista', 'barista@localhost'];
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commentMarkers } from '../../activities/forge/gitlab/markers.js';
import type { LineComment, ReviewToPost } from '../../activities/forge/port.js';
import { BESIDE_LIMIT } from '../../activities/posted-body.js';
import type { Failure } from '../support/fake-gitlab/index.js';
import { REVIEWER } from '../support/fake-gitlab/state.js';
import { GitLabWorld } from './gitlab-world.js';
import { aReview } from '../support/review.js';

let world: GitLabWorld;
const LONG = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
const text = (changes: Readonly<Record<number, string>>) => `${LONG.map((line, at) => changes[at + 1] ?? line).join('\n')}\n`;

beforeEach(async () => {
  world = new GitLabWorld();
  world.git.pushBase({ 'long.txt': text({}), 'moved.txt': text({}), 'gone.txt': 'a\nb\n', 'a&b=c.ts': 'one\n' });
  world.git.mergeBaseIn();
  world.git
    .remove('gone.txt')
    .rename('moved.txt', 'deep/moved.txt')
    .write('deep/moved.txt', text({ 20: 'changed' }));
  world.git.write('long.txt', text({ 10: 'ten\nand more' })).push({ 'added.txt': 'x\ny\nz\n', 'a&b=c.ts': 'two\n' });
  await world.start();
});
afterEach(() => world.stop());

const at = (path: string, line: number, side: 'new' | 'old' = 'new', startLine?: number): LineComment => ({
  path,
  line,
  side,
  body: `About ${path}:${line} ${side}`,
  ...(startLine === undefined ? {} : { startLine }),
});
const review = (comments: readonly LineComment[] = [at('added.txt', 2)], more: Partial<ReviewToPost> = {}): ReviewToPost =>
  aReview({
    marker: 'a-room/1/3',
    headSha: world.git.head('topic'),
    body: '**Verdict: comment**\n\nThe whole of it.',
    comments,
    ...more,
  });
const notes = () => world.gitlab.state.notes;
const post = (what: ReviewToPost) => world.forge.post(world.ref, what);

describe('D9: every line at its place', () => {
  test('added, removed, unchanged, renamed, and a path with & and =', async () => {
    const comments = [
      at('added.txt', 2),
      at('gone.txt', 1, 'old'),
      at('long.txt', 10),
      at('long.txt', 10, 'old'),
      at('long.txt', 9),
      at('long.txt', 12),
      at('deep/moved.txt', 20),
      at('deep/moved.txt', 19),
      at('a&b=c.ts', 1),
    ];
    const what = review(comments);
    const { url } = await post(what);
    expect(
      notes()
        .filter((note) => note.position !== null)
        .map(({ position }) => [
          position!['old_path'],
          position!['new_path'],
          position!['old_line'] ?? null,
          position!['new_line'] ?? null,
        ]),
    ).toEqual([
      ['added.txt', 'added.txt', null, 2],
      ['gone.txt', 'gone.txt', 1, null],
      ['long.txt', 'long.txt', null, 10],
      ['long.txt', 'long.txt', 10, null],
      ['long.txt', 'long.txt', 9, 9],
      ['long.txt', 'long.txt', 11, 12],
      ['moved.txt', 'deep/moved.txt', null, 20],
      ['moved.txt', 'deep/moved.txt', 19, 19],
      ['a&b=c.ts', 'a&b=c.ts', null, 1],
    ]);
    expect(notes()).toHaveLength(comments.length + 1);
    expect(url).toBe(`${world.gitlab.pullRequest}#note_${notes().at(-1)!.id}`);
    expect(await world.forge.readBack(world.ref, what)).toEqual({ found: true, url, inBody: [], differences: [] });
  });

  test('a range names both its ends by their codes, on either side and over unchanged lines', async () => {
    const what = review([
      at('long.txt', 11, 'new', 8),
      at('long.txt', 12, 'new', 10),
      at('added.txt', 3, 'new', 1),
      at('gone.txt', 2, 'old', 1),
    ]);
    await post(what);
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
    const ranged = notes().filter((note) => note.position?.['line_range'] !== undefined);
    expect(ranged).toHaveLength(4);
    expect(ranged[0]!.position!['line_range']).toMatchObject({
      start: { old_line: 8, new_line: 8, type: 'old' },
      end: { new_line: 11, type: 'new' },
    });
  });

  test('a range that leaves its hunk stands at its last line', async () => {
    const what = review([at('long.txt', 10, 'new', 2)]);
    await post(what);
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual(['The comment for long.txt:2-10 stands at another place.']);
    expect(notes()[0]!.position).toMatchObject({ new_line: 10 });
    expect(notes()[0]!.position).not.toHaveProperty('line_range');
  });

  test('a remark about a whole file stands at the file', async () => {
    const what = review([], { fileComments: [{ path: 'gone.txt', body: 'Why?' }] });
    await post(what);
    expect(notes()[0]).toMatchObject({ position: { position_type: 'file', new_path: 'gone.txt' } });
    expect(notes().at(-1)!.body).not.toContain('Why?');
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
  });

  test('D6: a review of an older head is placed in the version that head made', async () => {
    const old = review([at('added.txt', 3)]);
    await world.head();
    world.git.push({ 'added.txt': 'quite\ndifferent\n' });
    await post(old);
    expect(notes()[0]!.position).toMatchObject({ head_sha: old.headSha, new_line: 3 });
  });

  test('one bad line never loses the review: it stands in the body, and the read-back says so', async () => {
    const what = review([at('added.txt', 2), at('long.txt', 30), at('nowhere.txt', 1)]);
    await post(what);
    expect(notes()).toHaveLength(2);
    expect(notes().at(-1)!.body).toContain('### Without a place\n\n- `long.txt:30`: About long.txt:30 new\n- `nowhere.txt:1`: ');
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([
      'long.txt:30 stands in the body: GitLab took no comment there.',
      'nowhere.txt:1 stands in the body: GitLab took no comment there.',
    ]);
  });

  test("a place that GitLab refuses after all (400 line_code can't be blank) stands in the body too", async () => {
    world.gitlab.failures.push({
      on: /POST .*\/discussions/,
      status: 400,
      body: { message: `400 Bad request - Note {:line_code=>["can't be blank"]}` },
    });
    await post(review([at('added.txt', 1), at('added.txt', 2)]));
    expect(notes()).toHaveLength(2);
    expect(notes().at(-1)!.body).toContain('- `added.txt:1`: About');
  });

  test('a remark that GitLab fails at (500) is sent once more after looking, and costs the review nothing', async () => {
    const fails = (times: number, done = false) =>
      world.gitlab.failures.push(...Array<Failure>(times).fill({ on: /POST .*\/discussions/, status: 500, done }));
    const what = review([at('added.txt', 1), at('added.txt', 2)]);
    fails(2);
    await post(what);
    expect(notes().map(({ position }) => position?.['new_line'] ?? null)).toEqual([2, null]);
    expect(notes().at(-1)!.body).toContain('- `added.txt:1`: About');
    expect((await world.forge.readBack(world.ref, what)).inBody).toEqual([0]);
    notes().length = 0;
    fails(1, true);
    await post(what);
    expect(notes().map(({ position }) => position?.['new_line'] ?? null)).toEqual([1, 2, null]);
  });

  test('a GitLab that fails at every remark is broken itself: the review waits for it, and loses none', async () => {
    const what = review([1, 2, 3, 1, 2].map((line, index) => ({ ...at('added.txt', line), body: `Number ${index}` })));
    world.gitlab.failures.push(...Array<Failure>(7).fill({ on: /POST .*\/discussions/, status: 500 }));
    await expect(post(what)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 10 });
    expect(notes()).toEqual([]);
    await post(what);
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
  });

  test('C8: a line that GitLab would run as a command stays a text', async () => {
    const what = review([{ ...at('added.txt', 1), body: 'See\n/merge\n  /close now\r\n/\rreopen\n\r/draft' }], {
      body: '/approve\n\n/usr/bin is fine, and a/b too\n```\n/label ~x\n```',
    });
    await post(what);
    expect(world.gitlab.state.commands).toEqual([]);
    expect(notes()[0]!.body.split('\n')).toHaveLength(7);
    expect(notes()[0]!.body.replaceAll('\u200b', '')).toContain('/merge');
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
  });
});

describe('D9: a suggestion is for the lines it was written for', () => {
  const fenced = (info: string, code: string) => `See\n\`\`\`${info}\n${code}\n\`\`\``;
  const sent = async (comment: LineComment) => {
    const what = review([comment], { marker: `a-room/${notes().length}/1` });
    await post(what);
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
    return notes().at(-2)!.body.split('\n\n<!--')[0];
  };

  test('of a range it names them, which GitLab does not take from the thread; one that names its own is left alone', async () => {
    const body = fenced('suggestion', 'all of it');
    expect(await sent({ ...at('added.txt', 3, 'new', 1), body })).toBe(fenced('suggestion:-2+0', 'all of it'));
    expect(await sent({ ...at('added.txt', 3), body })).toBe(body);
    const own = fenced('suggestion:-1+0', 'all of it');
    expect(await sent({ ...at('added.txt', 3, 'new', 1), body: own })).toBe(own);
  });

  test('with a line that GitLab might run it is code alone, so that nobody applies what keeps it from that', async () => {
    expect(await sent({ ...at('added.txt', 3, 'new', 1), body: fenced('suggestion', 'x\n  /merge') })).toBe(
      fenced('', 'x\n  \u200b/merge'),
    );
    expect(world.gitlab.state.commands).toEqual([]);
  });
});

describe('D5: posting is once', () => {
  test('again after it worked: found by its marker, nothing is sent', async () => {
    const what = review();
    const first = await post(what);
    expect(await world.forge.findPosted(world.ref, what)).toEqual({ url: first.url });
    expect(await post(what)).toEqual({ url: first.url });
    expect(notes()).toHaveLength(2);
    expect(await world.forge.findPosted(world.ref, { ...what, marker: 'a-room/1/4' })).toBeNull();
    expect(await world.forge.findPosted(world.ref, { ...what, marker: 'a-room/1/33' })).toBeNull();
  });

  test.each([/POST .*\/discussions/, /POST .*\/notes/])('a failure that worked (%s) is looked for before it is sent again', async (on) => {
    const what = review([at('added.txt', 1), at('added.txt', 2)]);
    world.gitlab.failures.push({ on, status: 502, done: true });
    await expect(post(what)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 10 });
    await post(what);
    expect(notes()).toHaveLength(3);
    expect(new Set(notes().map((note) => note.body)).size).toBe(3);
    expect((await world.forge.readBack(world.ref, what)).differences).toEqual([]);
  });

  test('a failure that did not work is sent again, once', async () => {
    world.gitlab.failures.push({ on: /POST .*\/discussions/, status: 503 });
    await expect(post(review())).rejects.toMatchObject({ kind: 'unavailable' });
    expect(world.gitlab.asked(/POST .*discussions/)).toHaveLength(1);
    await post(review());
    expect(notes()).toHaveLength(2);
  });

  test('the limit on notes: it stops at once, says when, and goes on from there', async () => {
    const what = review(Array.from({ length: 3 }, (_, index) => at('added.txt', index + 1)));
    world.gitlab.state.faults.notesBeforeLimit = 2;
    await expect(post(what)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 42 });
    const sent = world.gitlab.asked(/POST/).length;
    await expect(post(what)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('waiting for GitLab until') as string,
    });
    expect(world.gitlab.asked(/POST/)).toHaveLength(sent);
    world.gitlab.state.faults.notesBeforeLimit = Infinity;
    world.now += 42_000;
    await post(what);
    expect(notes()).toHaveLength(4);
  });

  test("GitLab's limit on notes, 60 a minute: the largest review fits, and a second one waits a minute and goes on from there", async () => {
    const { faults } = world.gitlab.state;
    faults.notesBeforeLimit = 60;
    faults.limitEnds = null;
    const largest = (marker: string) =>
      review(
        Array.from({ length: BESIDE_LIMIT }, (_, index) => ({ ...at('added.txt', (index % 3) + 1), body: `Number ${index}` })),
        { marker },
      );
    await post(largest('a-room/1/1'));
    expect(notes()).toHaveLength(BESIDE_LIMIT + 1);
    await expect(post(largest('a-room/2/1'))).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 60 });
    expect(notes()).toHaveLength(60);
    faults.notesBeforeLimit = 60;
    world.now += 60_000;
    await post(largest('a-room/2/1'));
    expect(notes()).toHaveLength(2 * (BESIDE_LIMIT + 1));
    expect((await world.forge.readBack(world.ref, largest('a-room/2/1'))).differences).toEqual([]);
  });

  test('a merge request with all the comments it may have (5 000) is told as that, at once', async () => {
    for (let at = 0; at < 4_999; at++) world.gitlab.state.addNote({ body: `Talk ${at}`, system: false });
    const what = review([at('added.txt', 1), at('added.txt', 2), at('added.txt', 3)]);
    await expect(post(what)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('Maximum number of comments exceeded') as string,
    });
    expect(world.gitlab.asked(/POST/)).toHaveLength(2);
    expect(await world.forge.findPosted(world.ref, what)).toBeNull();
  });

  test('a marker in a note of somebody else proves nothing', async () => {
    const what = review();
    const copied = `Copied <!-- barista:a-room/1/3 --> ${commentMarkers(what)[0]!}`;
    world.gitlab.state.addNote({ body: copied });
    expect(await world.forge.findPosted(world.ref, what)).toBeNull();
    await post(what);
    expect(notes().filter((note) => note.author.id === REVIEWER.id)).toHaveLength(2);
    expect(notes()[0]!.body).toBe(copied);
  });

  test('a marker written into a remark proves nothing either', async () => {
    const first = { ...at('added.txt', 1), body: 'Look: <!-- barista:a-room/1/3 -->' };
    const what = review([first, { ...at('added.txt', 2), body: commentMarkers(review([first]))[0]! }]);
    world.gitlab.failures.push({ on: /POST .*\/notes/, status: 500 });
    await expect(post(what)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await world.forge.findPosted(world.ref, what)).toBeNull();
    await post(what);
    expect(notes()).toHaveLength(3);
  });

  test('a text that was changed after a posting that failed half way leaves nothing of the old one', async () => {
    const [kept, said, gone] = [at('added.txt', 1), at('added.txt', 2), at('added.txt', 3)];
    world.gitlab.failures.push({ on: /POST .*\/notes$/, status: 401 });
    await expect(post(review([kept, said, gone, kept]))).rejects.toMatchObject({ kind: 'refused' });
    expect(notes()).toHaveLength(4);
    const [first, , , twin] = notes();
    const next = review([kept, { ...said, body: 'Said better.' }, kept], { body: 'Another whole.' });
    await post(next);
    expect(notes().map(({ body }) => body.split('\n')[0])).toEqual([kept.body, kept.body, 'Said better.', 'Another whole.']);
    expect(notes().slice(0, 2)).toEqual([first, twin]);
    expect((await world.forge.readBack(world.ref, next)).differences).toEqual([]);
  });

  test('a posting that was given up, for another may run beside it, sends nothing more', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    // As on a machine that slept over its first remark.
    world.gitlab.before.push({ on: /POST .*\/discussions/, run: () => controller.abort() });
    const what = review([at('added.txt', 1), at('added.txt', 2)]);
    const givenUp = { kind: 'unavailable', message: expect.stringContaining('given up') as string };
    await expect(world.forge.post(world.ref, what, signal)).rejects.toMatchObject(givenUp);
    expect(world.gitlab.asked(/POST/)).toHaveLength(1);
    await post(what);
    expect(notes()).toHaveLength(3);
    await expect(world.forge.post(world.ref, { ...what, marker: 'a-room/2/1' }, signal)).rejects.toMatchObject(givenUp);
    expect(notes()).toHaveLength(3);
  });

  test("our own user's quote of a remark or of the body is neither taken for it nor removed", async () => {
    const what = review();
    const quote = (marker: string) => world.gitlab.state.addNote({ body: `> Said before ${marker}`, author: REVIEWER });
    const [body, remark, older] = [
      quote('<!-- barista:a-room/1/3 -->'),
      quote(commentMarkers(what)[0]!),
      quote('<!-- barista:a-room/1/3#0a -->'),
    ];
    expect(await world.forge.findPosted(world.ref, what)).toBeNull();
    await post(what);
    expect(notes().slice(0, 3)).toEqual([body, remark, older]);
    expect(notes()).toHaveLength(5);
  });

  test('its marker is found behind hundreds of notes', async () => {
    await post(review());
    for (let at = 0; at < 250; at++) world.gitlab.state.addNote({ body: `Talk ${at}` });
    expect(await world.forge.findPosted(world.ref, review())).not.toBeNull();
  });

  test('left-over draft notes are neither published nor touched', async () => {
    world.gitlab.state.draftNotes.push({ id: 1, note: 'of an earlier run' });
    await post(review());
    expect(world.gitlab.state.draftNotes).toHaveLength(1);
    expect(world.gitlab.asked(/draft_notes/)).toEqual([]);
  });
});

describe('D4: the verdict', () => {
  test('approve approves this very commit; request_changes takes it back; comment leaves it', async () => {
    await post(review([], { verdict: 'approve' }));
    expect(world.gitlab.state.approvals).toEqual([world.git.head('topic')]);
    await post(review([], { verdict: 'comment', marker: 'a-room/2/1' }));
    expect(world.gitlab.state.approvedBy).toEqual([REVIEWER.id]);
    await post(review([], { verdict: 'approve', marker: 'a-room/3/1' }));
    expect(world.gitlab.state.approvals).toHaveLength(1);
    await post(review([], { verdict: 'request_changes', marker: 'a-room/4/1' }));
    expect(world.gitlab.state.approvedBy).toEqual([]);
  });

  test('a head that nobody reviewed is not approved, and whoever may not approve posts all the same', async () => {
    const old = review([], { verdict: 'approve' });
    world.git.push({ 'later.ts': 'l\n' });
    await post(old);
    expect(world.gitlab.state.approvals).toEqual([]);
    world.gitlab.state.canApprove = false;
    await post(review([], { verdict: 'approve', marker: 'a-room/2/1' }));
    expect(world.gitlab.asked(/POST .*\/approve$/)).toHaveLength(1);
    expect(notes()).toHaveLength(2);
  });
});

test('D9: what the forge shows otherwise is told', async () => {
  const what = review([at('added.txt', 1), at('added.txt', 2)]);
  await post(what);
  notes()[0]!.body = notes()[0]!.body.replace('About', 'Edited');
  notes()[2]!.body = notes()[2]!.body.replace('whole', 'half');
  expect((await world.forge.readBack(world.ref, what)).differences).toEqual([
    'The comment at added.txt:1 reads otherwise than what was posted.',
    'The body reads otherwise than what was posted.',
  ]);
  expect(await world.forge.readBack(world.ref, { ...what, marker: 'other' })).toEqual({
    found: false,
    url: null,
    inBody: [],
    differences: [],
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import { BODY_LIMIT, composeReview, markerOf } from '../../activities/forge/github/review-body.js';
import type { LineComment, ReviewToPost } from '../../activities/forge/port.js';
import { badGateway, brokenAnswer, loginOf } from '../support/fake-github/index.js';
import { GitHubWorld, type GitHubWorldOptions } from '../support/fake-github/world.js';
import { aReview } from '../support/review.js';

let world: GitHubWorld;
afterEach(() => world.stop());

async function start(options: GitHubWorldOptions = {}): Promise<void> {
  world = await GitHubWorld.start(options);
  world.git.checkout('main').write('old.ts', 'one\ntwo\nthree\n').commit('Ground');
  world.git.git('checkout', '-q', '-B', 'topic');
  world.git.push({ 'a.ts': 'a\nb\nc\n', 'old.ts': 'one\nthree\n' });
}

const on = (line: number, body = `about ${line}`): LineComment => ({ path: 'a.ts', line, side: 'new', body });
const review = (more: Partial<ReviewToPost> = {}): ReviewToPost =>
  aReview({
    marker: 'quiet-fox/1/2',
    headSha: world.git.head('topic'),
    verdict: 'request_changes',
    body: '**Verdict: request changes**\n\nTwo things.',
    comments: [on(1), { path: 'old.ts', line: 2, side: 'old', body: 'Why was two removed?' }],
    ...more,
  });
const posts = () => world.github.count(/^POST .*\/reviews$/);
const submitted = () => world.github.reviews.filter((one) => one.state !== 'PENDING');
const commentsOf = (id: number | undefined) => world.github.reviewComments.filter((comment) => comment.reviewId === id);

describe('D4, D5: a draft is posted as one review, once', () => {
  test('with its verdict, its body, its lines on their sides, and a hidden marker by which it is found and reads as sent', async () => {
    await start();
    expect(await world.forge.findPosted(world.ref, review())).toBeNull();
    expect(await world.forge.readBack(world.ref, review())).toEqual({ found: false, url: null, inBody: [], differences: [] });
    const posted = await world.forge.post(world.ref, review());
    const [shown] = submitted();
    expect(submitted()).toHaveLength(1);
    expect(shown).toMatchObject({
      state: 'CHANGES_REQUESTED',
      commit: world.git.head('topic'),
      body: `${review().body}\n\n<!-- barista:quiet-fox/1/2 -->`,
    });
    expect(commentsOf(shown?.id).map(({ path, line, side, body }) => [path, line, side, body])).toEqual([
      ['a.ts', 1, 'RIGHT', 'about 1'],
      ['old.ts', 2, 'LEFT', 'Why was two removed?'],
    ]);
    expect(posted.url).toContain(`#pullrequestreview-${String(shown?.id)}`);
    expect(await world.again().findPosted(world.ref, review())).toEqual({ url: posted.url });
    expect(await world.again().post(world.ref, review())).toEqual({ url: posted.url });
    expect(posts()).toBe(1);
    expect(await world.forge.readBack(world.ref, review())).toEqual({ found: true, url: posted.url, inBody: [], differences: [] });
    expect(await world.forge.findPosted(world.ref, { ...review(), marker: 'quiet-fox/1/20' })).toBeNull();
    const other = review({ body: 'Other words.', comments: [on(2, 'never sent')] });
    expect((await world.forge.readBack(world.ref, other)).differences).toEqual([
      'The body reads otherwise than what was sent.',
      'a.ts:2 stands in the body: GitHub took no comment there.',
    ]);
  });

  test('our own text with a marker in it is not the posting of that marker', async () => {
    await start();
    const first = review({ body: `See ${markerOf('quiet-fox/1/3')} and go on.` });
    await world.forge.post(world.ref, first);
    expect(await world.forge.findPosted(world.ref, review({ marker: 'quiet-fox/1/3' }))).toBeNull();
    await world.forge.post(world.ref, review({ marker: 'quiet-fox/1/3' }));
    expect(submitted()).toHaveLength(2);
  });

  test("another's text with our marker in it is not our posting", async () => {
    await start();
    world.github.reviews.push({
      id: 5,
      author: 'mallory',
      body: markerOf('quiet-fox/1/2'),
      state: 'COMMENTED',
      commit: world.github.headSha,
      submittedAt: '2029-06-01T00:00:00Z',
    });
    expect(await world.forge.findPosted(world.ref, review())).toBeNull();
    await world.forge.post(world.ref, review());
    expect(submitted()).toHaveLength(2);
  });

  test('a 502 that worked is found and not sent again; one that did not is left to the next try', async () => {
    await start();
    world.github.faults.push(badGateway(/^POST .*\/reviews$/, { works: true }));
    await world.forge.post(world.ref, review());
    expect(submitted()).toHaveLength(1);
    expect(posts()).toBe(1);
    world.github.faults.push(badGateway(/^POST .*\/reviews$/));
    const second = review({ marker: 'quiet-fox/2/1' });
    await expect(world.forge.post(world.ref, second)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 15 });
    expect(posts()).toBe(2);
    await world.forge.post(world.ref, second);
    expect(submitted()).toHaveLength(2);
  });

  test('a page of reviews that breaks off is no empty one, and one that GitHub shortened not the last: nothing is sent twice', async () => {
    await start();
    const other = (author: string, id: number) => ({ id, author, body: 'x', state: 'COMMENTED' as const, commit: 'x', submittedAt: 'x' });
    for (let at = 0; at < 100; at++) world.github.reviews.push(other(at === 7 ? 'spammer' : 'kim', at + 1));
    world.github.hidden.add('spammer');
    const posted = await world.forge.post(world.ref, review());
    expect(await world.forge.post(world.ref, review())).toEqual({ url: posted.url });
    for (const times of [1, 9]) {
      world.github.faults.splice(0, Infinity, brokenAnswer(/^GET .*\/reviews\?.*page=2/, times));
      const again = world.forge.post(world.ref, review());
      if (times === 1) expect(await again).toEqual({ url: posted.url });
      else await expect(again).rejects.toMatchObject({ kind: 'unavailable', message: 'GitHub does not answer for octo-org/hello.' });
    }
    expect(posts()).toBe(1);
  });

  test('the marker is found behind a hundred other reviews, also after a force-push that re-points them', async () => {
    await start();
    for (let at = 0; at < 130; at++)
      world.github.reviews.push({
        id: at + 1,
        author: 'kim',
        body: 'x',
        state: 'COMMENTED',
        commit: world.github.headSha,
        submittedAt: '2029-06-01T00:00:00Z',
      });
    const posted = await world.forge.post(world.ref, review());
    const sent = review();
    world.git.forcePush({ 'z.ts': 'z\n' });
    expect(await world.forge.findPosted(world.ref, sent)).toEqual({ url: posted.url });
  });
});

describe('D9: a pending review left over keeps nothing out', () => {
  test('it is removed before posting, and another of a posting that runs beside is no stop', async () => {
    await start();
    const left = {
      id: 5,
      author: loginOf(world.operator),
      body: 'half',
      state: 'PENDING' as const,
      commit: world.github.headSha,
      submittedAt: null,
    };
    world.github.reviews.push({ ...left });
    world.github.before.push({ on: /^POST .*\/reviews$/, run: () => void world.github.reviews.push({ ...left, id: 6 }) });
    await world.forge.post(world.ref, review());
    expect(world.github.reviews.map(({ state }) => state)).toEqual(['CHANGES_REQUESTED']);
  });

  test('where not all reviews can be looked through none is sent, for ours may be there', async () => {
    await start();
    const another = { id: 5, user: { login: 'mallory' }, state: 'COMMENTED', body: 'x', html_url: 'https://example.com' };
    world.github.faults.push({ on: /^GET .*\/reviews\?/, status: 200, body: Array(100).fill(another) });
    await expect(world.forge.post(world.ref, review())).rejects.toMatchObject({ kind: 'refused' });
    expect(posts()).toBe(0);
  });

  test("a person's pending review is theirs", async () => {
    await start();
    world.github.reviews.push({ id: 5, author: 'kim', body: 'mine', state: 'PENDING', commit: world.github.headSha, submittedAt: null });
    await world.forge.post(world.ref, review());
    expect(world.github.reviews.map(({ author, state }) => [author, state])).toEqual([
      ['kim', 'PENDING'],
      ['barista[bot]', 'CHANGES_REQUESTED'],
    ]);
  });
});

describe('D9: one bad line never loses the review', () => {
  test('a line GitHub has in no hunk stands in the body, the others at their lines', async () => {
    await start();
    const sent = review({ comments: [on(1), on(99, 'far away'), { path: 'none.ts', line: 1, side: 'new', body: 'no such file' }] });
    const { url } = await world.forge.post(world.ref, sent);
    const [shown] = submitted();
    expect(commentsOf(shown?.id).map((comment) => comment.line)).toEqual([1]);
    expect(shown?.body).toContain('### Without a place\n\n- `a.ts:99`: far away\n- `none.ts:1`: no such file\n\n<!-- barista:');
    const differences = [
      'a.ts:99 stands in the body: GitHub took no comment there.',
      'none.ts:1 stands in the body: GitHub took no comment there.',
    ];
    expect(await world.forge.readBack(world.ref, sent)).toEqual({ found: true, url, inBody: [1, 2], differences });
  });

  test('a range goes with both its ends, on either side, and reads as sent', async () => {
    await start();
    world.git.push({ 'long.ts': 'x\n'.repeat(9) });
    const sent = review({
      comments: [
        { path: 'long.ts', startLine: 3, line: 7, side: 'new', body: 'a range' },
        { path: 'old.ts', line: 2, side: 'old', body: 'an old line' },
      ],
    });
    const { url } = await world.forge.post(world.ref, sent);
    expect(commentsOf(submitted()[0]?.id).map(({ line, startLine, side }) => [startLine, line, side])).toEqual([
      [3, 7, 'RIGHT'],
      [null, 2, 'LEFT'],
    ]);
    expect(await world.forge.readBack(world.ref, sent)).toEqual({ found: true, url, inBody: [], differences: [] });
    const [ranged] = sent.comments;
    const other = { ...sent, comments: [{ ...ranged!, startLine: 4 }] };
    expect((await world.forge.readBack(world.ref, other)).differences).toEqual(['The comment for long.ts:4-7 stands at another place.']);
  });

  test('a range that leaves its hunk on GitHub stands at its last line, the others as they are', async () => {
    await start();
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
    world.git
      .checkout('main')
      .write('far.ts', `${lines.join('\n')}\n`)
      .commit('Far');
    world.git.checkout('topic').git('merge', '-q', 'main');
    const changed = lines.map((line, at) => (at === 4 || at === 29 ? `${line} changed` : line));
    world.git.push({ 'far.ts': `${changed.join('\n')}\n` });
    const sent = review({
      comments: [
        { path: 'far.ts', startLine: 5, line: 30, side: 'new', body: 'over two hunks' },
        { path: 'far.ts', startLine: 4, line: 5, side: 'new', body: 'in one' },
      ],
    });
    await world.forge.post(world.ref, sent);
    expect(commentsOf(submitted()[0]?.id).map(({ line, startLine }) => [startLine, line])).toEqual([
      [null, 30],
      [4, 5],
    ]);
    expect((await world.forge.readBack(world.ref, sent)).differences).toEqual(['The comment for far.ts:5-30 stands at another place.']);
  });

  test('where its hunks do not tell which line it was, all stand in the body', async () => {
    await start();
    world.github.faults.push({
      on: /^POST .*\/reviews$/,
      status: 422,
      body: { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] },
      times: 1,
    });
    await world.forge.post(world.ref, review());
    const [shown] = submitted();
    expect(commentsOf(shown?.id)).toEqual([]);
    expect(shown?.body).toContain('- `a.ts:1`: about 1\n- `old.ts:2`: Why was two removed?');
  });

  test('D6: the draft of an earlier commit is posted against it; one GitHub no longer takes has its lines in the body', async () => {
    await start();
    const sent = review();
    world.git.forcePush({ 'z.ts': 'z\n' });
    await world.forge.post(world.ref, sent);
    expect(submitted()[0]).toMatchObject({ commit: sent.headSha });
    expect(commentsOf(submitted()[0]?.id)).toHaveLength(2);
    const gone = review({ marker: 'quiet-fox/9/1', headSha: 'a'.repeat(40) });
    await world.forge.post(world.ref, gone);
    expect(submitted()[1]?.body).toContain('- `a.ts:1`: about 1');
  });

  test('a refusal that taking lines away does not mend is told, and not tried for ever', async () => {
    await start();
    world.github.faults.push({
      on: /^POST .*\/reviews$/,
      status: 422,
      body: { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] },
    });
    await expect(world.forge.post(world.ref, review())).rejects.toMatchObject({ kind: 'invalid' });
    expect(posts()).toBe(2);
  });
});

describe('D4: remarks on whole files stand beside the file; what has no place there, in the body', () => {
  test('one review, submitted once it has them all', async () => {
    await start();
    const sent = review({
      fileComments: [
        { path: 'a.ts', body: 'Too long.' },
        { path: 'none.ts', body: 'Where is it?' },
      ],
    });
    const { url } = await world.forge.post(world.ref, sent);
    const [shown] = submitted();
    expect(shown).toMatchObject({ state: 'CHANGES_REQUESTED' });
    expect(commentsOf(shown?.id).map(({ path, subject }) => [path, subject])).toEqual([
      ['a.ts', 'line'],
      ['old.ts', 'line'],
      ['a.ts', 'file'],
    ]);
    expect(shown?.body).toMatch(/- `none\.ts`: Where is it\?\n\n<!-- barista:quiet-fox\/1\/2 -->$/);
    const differences = ['none.ts stands in the body: GitHub took no comment there.'];
    expect(await world.forge.readBack(world.ref, sent)).toEqual({ found: true, url, inBody: [sent.comments.length + 1], differences });
  });

  test('a remark that GitHub refuses with an error stands in the body too, and loses nothing else', async () => {
    await start();
    const sent = review({ fileComments: [{ path: 'a.ts', body: 'Too long.' }] });
    const errors = [{ type: 'UNPROCESSABLE', message: 'Path is not part of the pull request' }];
    world.github.faults.push({
      on: /^POST \/graphql$/,
      status: 200,
      body: { data: { addPullRequestReviewThread: null }, errors },
      times: 1,
    });
    await world.forge.post(world.ref, sent);
    const [shown] = submitted();
    expect(commentsOf(shown?.id)).toHaveLength(2);
    expect(shown?.body).toContain('- `a.ts`: Too long.');
  });

  test("GitHub's limit on writing, which it says with a 422, is waited for: nothing is refused by it, nor moved into the body", async () => {
    await start();
    const sent = review({ fileComments: [{ path: 'a.ts', body: 'Too long.' }] });
    const tooQuick = { resource: 'PullRequestReview', code: 'custom', message: 'was submitted too quickly' };
    world.github.faults.push({
      on: /^POST .*\/reviews$/,
      status: 422,
      body: { message: 'Validation Failed', errors: [tooQuick] },
      times: 1,
    });
    await expect(world.forge.post(world.ref, sent)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 60 });
    world.now += 60_000;
    const errors = [{ type: 'UNPROCESSABLE', message: 'was submitted too quickly' }];
    world.github.faults.push({ on: /^POST \/graphql$/, status: 200, body: { data: null, errors }, times: 1 });
    await expect(world.forge.post(world.ref, sent)).rejects.toMatchObject({ kind: 'unavailable' });
    world.now += 120_000;
    await world.forge.post(world.ref, sent);
    const [shown] = submitted();
    expect(commentsOf(shown?.id)).toHaveLength(3);
    expect(shown?.body).not.toContain('Without a place');
  });

  test('one that another posting of ours removes before it is submitted is tried again, and one that it submits is no stop', async () => {
    await start();
    const sent = review({ fileComments: [{ path: 'a.ts', body: 'Too long.' }] });
    world.github.before.push({ on: /^POST \/graphql$/, run: () => void world.github.reviews.splice(0) });
    await expect(world.forge.post(world.ref, sent)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 2 });
    const author = loginOf(world.operator);
    world.github.reviews.push({ id: 5, author, body: 'x', state: 'PENDING', commit: world.github.headSha, submittedAt: null });
    world.github.before.push({ on: /^DELETE /, run: () => void (world.github.reviews[0]!.state = 'COMMENTED') });
    await world.forge.post(world.ref, sent);
    expect(world.github.reviews.map(({ state }) => state)).toEqual(['COMMENTED', 'CHANGES_REQUESTED']);
  });

  test('D5: one that was given up, for another may run beside it, sends nothing more and leaves nothing that counts', async () => {
    await start();
    const sent = review({ fileComments: [{ path: 'a.ts', body: 'Too long.' }] });
    for (const on of [/^GET .*\/reviews/, /^POST .*\/reviews$/]) {
      const controller = new AbortController();
      world.github.before.push({ on, run: () => controller.abort() });
      await expect(world.forge.post(world.ref, sent, controller.signal)).rejects.toMatchObject({ kind: 'unavailable' });
      expect(submitted()).toEqual([]);
    }
    expect(posts()).toBe(1);
    await world.again().post(world.ref, sent);
    expect(world.github.reviews.map(({ state }) => state)).toEqual(['CHANGES_REQUESTED']);
  });

  test('a posting that dies before it is submitted leaves nothing that counts, and the next one posts', async () => {
    await start();
    const sent = review({ fileComments: [{ path: 'a.ts', body: 'Too long.' }] });
    world.github.faults.push(badGateway(/\/events$/));
    await expect(world.forge.post(world.ref, sent)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(submitted()).toEqual([]);
    expect(await world.forge.findPosted(world.ref, sent)).toBeNull();
    await world.again().post(world.ref, sent);
    expect(world.github.reviews.map(({ state }) => state)).toEqual(['CHANGES_REQUESTED']);
  });
});

describe('W15: verdicts and identities', () => {
  test.each([
    ['approve', 'APPROVED'],
    ['request_changes', 'CHANGES_REQUESTED'],
    ['comment', 'COMMENTED'],
  ] as const)('%s is %s', async (verdict, state) => {
    await start();
    await world.forge.post(world.ref, review({ verdict, comments: [] }));
    expect(submitted()[0]?.state).toBe(state);
  });

  test('an App cannot judge its own pull request: a comment that opens with the verdict, once', async () => {
    await start();
    world.github.pull.author = 'barista[bot]';
    await world.forge.post(world.ref, review({ body: 'Two things.' }));
    await world.forge.post(world.ref, review({ marker: 'quiet-fox/2/1' }));
    expect(
      submitted().map(({ state, body }) => [state, body.match(/\*\*Verdict: request changes\*\*/g)?.length, body.startsWith('**Verdict')]),
    ).toEqual([
      ['COMMENTED', 1, true],
      ['COMMENTED', 1, true],
    ]);
    expect(posts()).toBe(2);
  });

  test('GitHub refusing a verdict on its own pull request, which our reading missed, is met the same way', async () => {
    await start();
    const refusal = { message: 'Unprocessable Entity', errors: ['Can not approve your own pull request'] };
    world.github.faults.push({ on: /^POST .*\/reviews$/, status: 422, body: refusal, times: 1 });
    await world.forge.post(world.ref, review({ verdict: 'approve', body: 'Fine.' }));
    expect(submitted()[0]).toMatchObject({
      state: 'COMMENTED',
      body: expect.stringMatching(/^\*\*Verdict: approve\*\*\n\nFine\./) as string,
    });
  });

  test('the reviewer App posts, also on a pull request the operator opened, and any process finds it', async () => {
    await start({ reviewer: true });
    world.github.pull.author = 'barista[bot]';
    const { url } = await world.forge.post(world.ref, review());
    expect(submitted()[0]).toMatchObject({ author: 'barista-review[bot]', state: 'CHANGES_REQUESTED' });
    expect(await world.again().readBack(world.ref, review())).toEqual({ found: true, url, inBody: [], differences: [] });
  });

  test('W9: a reviewer App that is not installed is named at once with its repository', async () => {
    await start({ reviewer: true });
    world.reviewer!.installed = false;
    await expect(world.forge.post(world.ref, review())).rejects.toMatchObject({
      kind: 'refused',
      message: `The GitHub App barista-review is not installed on octo-org/hello. Install it at ${world.github.urls.web}/apps/barista-review/installations/new, or check the address.`,
    });
    expect(posts()).toBe(0);
  });

  test('where the owner allowed it the operator comments in its place', async () => {
    await start({ reviewer: true });
    world.reviewer!.installed = false;
    await world.forge.post(world.ref, review({ body: 'Two things.', as: { identity: null, commentInstead: true } }));
    expect(submitted()[0]).toMatchObject({
      author: 'barista[bot]',
      state: 'COMMENTED',
      body: expect.stringMatching(/^\*\*Verdict: request changes\*\*/) as string,
    });
  });
});

describe("D9: GitHub's limits of a review", () => {
  const sized = (more: Partial<ReviewToPost>) => aReview({ marker: 'm', headSha: '', ...more });
  const none = { openWithVerdict: false, unplaced: new Set<number>() };

  test('a body at the limit keeps its marker and says what was cut; GitHub takes it', async () => {
    await start();
    const sent = review({ body: 'x'.repeat(70_000), comments: [on(99, 'y'.repeat(5_000))] });
    await world.forge.post(world.ref, sent);
    const body = submitted()[0]?.body ?? '';
    expect(body.length).toBeLessThanOrEqual(BODY_LIMIT);
    expect(body).toMatch(/_Cut to the length GitHub takes: \d+ characters are left out\._\n\n<!-- barista:quiet-fox\/1\/2 -->$/);
  });

  test('a body whose every kind of part is too long still fits', () => {
    for (const length of [1_000, 65_000, 65_536, 200_000]) {
      const comments = Array.from({ length: 80 }, (_, at) => on(at + 1, '`'.repeat(3) + '\n' + 'z'.repeat(2_000)));
      const { body, comments: inline } = composeReview(sized({ body: '🙂'.repeat(length / 2), comments }), {
        ...none,
        unplaced: new Set([0, 1]),
      });
      expect(body.length).toBeLessThanOrEqual(BODY_LIMIT);
      expect(body.endsWith(markerOf('m'))).toBe(true);
      expect(inline).toHaveLength(78);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { detailsOf, whatOf } from '../../workflows/delivery/details.js';
import type { PullRequestHeard } from '../../workflows/delivery/heard.js';
import type { Shown } from '../../workflows/delivery/activities.js';
import { carries, isShown, LOOK_AGAIN_MS, mayOpen } from '../../workflows/delivery/lag.js';

const heard = (what: PullRequestHeard['what'], more: Partial<PullRequestHeard> = {}): PullRequestHeard => ({
  kind: 'pull_request',
  what,
  repository: 'github:github.com/1',
  key: 'github:github.com/1#7',
  url: 'https://github.com/o/r/pull/7',
  headSha: 'b'.repeat(40),
  draft: false,
  labels: [],
  ...more,
});
const shows = (more: Partial<Shown> = {}): Shown => ({ sha: 'b'.repeat(40), state: 'open', draft: false, labels: [], ...more });

test('P4: a head read that lags is read again after 2, 5, 15 and 60 seconds', () => {
  expect(LOOK_AGAIN_MS).toEqual([2_000, 5_000, 15_000, 60_000]);
});

describe('P4: whether a read shows what was heard', () => {
  test.each<[string, PullRequestHeard, Shown | null, boolean]>([
    ['the head that was heard', heard('pushed'), shows(), true],
    ['another head', heard('pushed'), shows({ sha: 'a'.repeat(40) }), false],
    ['nothing yet', heard('opened'), null, false],
    ['a delivery that names no head', heard('pushed', { headSha: null }), shows({ sha: 'a'.repeat(40) }), true],
    ['a branch that is gone', heard('closed'), shows({ sha: null, state: 'closed' }), true],
    ['closed, still open', heard('closed'), shows(), false],
    ['closed, merged meanwhile', heard('closed'), shows({ state: 'merged' }), true],
    ['merged, only closed yet', heard('merged'), shows({ state: 'closed' }), false],
    ['merged', heard('merged'), shows({ state: 'merged' }), true],
    ['reopened, still closed', heard('reopened'), shows({ state: 'closed' }), false],
    ['reopened', heard('reopened'), shows(), true],
    ['ready, still a draft', heard('ready'), shows({ draft: true }), false],
    ['ready', heard('ready'), shows(), true],
    ['ready, on a forge that does not say', heard('ready'), shows({ draft: null }), true],
    ['drafted', heard('drafted'), shows({ draft: true }), true],
    ['a label that is not there yet', heard('edited', { labels: ['review'] }), shows(), false],
    ['a label, in another case', heard('edited', { labels: ['Review'] }), shows({ labels: ['review', 'x'] }), true],
    ['labels, on a forge that does not say', heard('opened', { labels: ['review'] }), shows({ labels: null }), true],
  ])('%s', (_, delivery, shown, expected) => {
    expect(isShown(delivery, shown)).toBe(expected);
  });
});

test('what can open a room by itself', () => {
  const all = ['opened', 'pushed', 'closed', 'merged', 'reopened', 'edited', 'ready', 'drafted'] as const;
  expect(all.filter((what) => mayOpen(heard(what)))).toEqual(['opened', 'reopened', 'edited', 'ready']);
  expect([carries(['Review'], 'review'), carries([], 'review')]).toEqual([true, false]);
});

describe('what an operator reads', () => {
  const progress = { read: null, rooms: new Map(), openings: [], lookAgainAt: null };
  test('of a push that the forge does not show yet', () => {
    const at = Date.UTC(2030, 0, 1, 12, 0, 5);
    const rooms = new Map([
      ['r-1', 'knew'],
      ['r-2', 'gone'],
    ] as const);
    expect(detailsOf(heard('pushed'), { read: 'head `aaaaaaa`, open', rooms, openings: ['room opened'], lookAgainAt: at }))
      .toMatchInlineSnapshot(`
        "**pull request pushed** · https://github.com/o/r/pull/7
        - heard: head \`bbbbbbb\`
        - read: head \`aaaaaaa\`, open
        - room \`r-1\` knew it already
        - room \`r-2\` does not run and could not be told
        - room opened
        - the forge does not show it yet; looks again at 2030-01-01 12:00:05 UTC"
      `);
  });
  test('of the others', () => {
    const access = {
      kind: 'access',
      what: 'taken',
      repositories: null,
      identity: 'reviewer',
      account: 'octo-org',
      place: 'https://github.com',
      url: null,
    } as const;
    expect(detailsOf(access, progress)).toBe('**access taken** · reviewer App, every repository of octo-org');
    expect(detailsOf({ ...access, repositories: ['a', 'b'] }, progress)).toContain('2 repositories of octo-org');
    expect(detailsOf({ kind: 'ci', repository: 'github:github.com/1', headSha: 'b'.repeat(40), key: null }, progress)).toBe(
      '**CI** · github:github.com/1 at `bbbbbbb`',
    );
    expect(whatOf({ kind: 'ignored', reason: 'it is of our own App' })).toBe('ignored: it is of our own App');
  });
});

import { describe, expect, test } from 'vitest';
import { idleReaches } from '../../workflows/barista/idle.js';
import { chipsOf } from '../../workflows/barista/status.js';
import type { ClockedRoom } from '../support/clocked-room.js';
import { MINUTE, aRoom } from '../support/room.js';
import { aClockedRoom } from '../support/clocked-room.js';
import { SECOND, around, at, notes, opened, stepAt } from './support.js';

const whoIsReminded = (room: ClockedRoom, age: number): unknown => {
  const step = stepAt(room, age);
  return step.kind === 'act' && step.action.do === 'remindReviewers' ? step.action.reviewers : at(room, age);
};

describe('B2: round 1', () => {
  test('B2: opens once somebody reviews and the head has been quiet for 2 minutes', () => {
    const nobody = aClockedRoom();
    expect(at(nobody, 100)).toBe('wait');
    const room = aClockedRoom().join('ana');
    expect(around(room, 2)).toEqual(['wait: head_quiet 2', 'openRound', 'openRound']);
    expect(around(room.pass(1).push('b2'), 3)).toEqual(['wait: head_quiet 3', 'openRound', 'openRound']);
  });

  test('B2: opens at once where the head was quiet before anybody reviewed, also for a person who reviews', () => {
    const room = aClockedRoom().pass(60).join('pia');
    expect(at(room, 60)).toBe('wait');
    expect(at(room.roles({ pia: ['reviewer'] }), 60)).toBe('openRound');
  });

  test('B2: a push that nobody told of puts it off', () => {
    const room = aClockedRoom().join('ana').pass(1).pushUnheard('b2').pass(3);
    expect(notes(room, /opened/)).toEqual(['4 round 1 opened at b200000; reviewers: @ana']);
  });

  test('B2, B26: a room where Barista is off opens nothing until it is turned on', () => {
    const room = aClockedRoom({ barista: false }).join('ana').pass(60);
    expect(at(room, 60)).toBe('wait');
    expect(at(room.barista(true), 60)).toBe('openRound');
  });
});

describe('B3: closing as soon as everybody has submitted', () => {
  test('B3: the last review closes it', () => {
    const room = opened().submit('ana');
    expect(at(room, 2)).toMatch(/^wait/);
    expect(at(room.submit('bo'), 2)).toBe('closeRound');
  });

  const closes: [string, (room: ClockedRoom) => ClockedRoom, boolean][] = [
    ['a reviewer that has declined is not waited for', (room) => room.submit('ana').decline('bo'), true],
    ['nor one that declined until later', (room) => room.submit('ana').decline('bo', 'busy', room.now + MINUTE), true],
    ['nor one that has lost the role', (room) => room.submit('ana').roles({ bo: [] }), true],
    ['nor one that has left', (room) => room.submit('ana').leave('bo'), true],
    ['nor one that was deleted', (room) => room.submit('ana').delete('bo'), true],
    ['a reviewer that joins late is waited for', (room) => room.submit('ana').join('cy').submit('bo'), false],
    [
      'a person who got the role is waited for',
      (room) =>
        room
          .join('pia')
          .roles({ pia: ['reviewer'] })
          .submit('ana')
          .submit('bo'),
      false,
    ],
    ['a review by one that has lost the role counts', (room) => room.submit('ana').roles({ ana: [], bo: [] }), true],
    ['a review by one that has left counts', (room) => room.submit('bo').leave('bo').decline('ana'), true],
    ['a review that was deleted with its agent does not', (room) => room.submit('bo').decline('ana').delete('bo'), false],
    ['no review closes nothing', (room) => room.decline('ana').decline('bo'), false],
  ];
  test.each(closes)('B3: %s', (_what, happens, isClosed) => {
    expect(at(happens(opened()), 2) === 'closeRound').toBe(isClosed);
  });

  test('B3, S7: a review takes a decline back, and the close names who declined and who is missing', () => {
    const room = opened().join('cy').submit('ana').decline('bo').pass(30);
    expect(notes(room, /closed/)).toEqual(['32 round 1 closed: whoever is missing was idle for 30 minutes; without @cy; declined by @bo']);
    expect(at(opened().decline('ana').submit('bo').submit('ana'), 2)).toBe('closeRound');
  });
});

describe('B4, B5: idle time', () => {
  const window = 5 * MINUTE;
  const reaches = (spans: [number, number][], base: number, target: number): number =>
    idleReaches(
      spans.map(([from, last]) => ({ from: from * MINUTE, last: last * MINUTE })),
      base * MINUTE,
      window,
      target * MINUTE,
    ) / MINUTE;
  const table: [string, [number, number][], number, number, number][] = [
    ['silence', [], 2, 30, 32],
    ['one call at the base and silence', [[0, 0]], 0, 30, 35],
    ['a call a second before the end', [[30 - SECOND, 30 - SECOND]], 0, 30, 35],
    ['a call at the very end is too late', [[30, 30]], 0, 30, 30],
    [
      'two calls 5 minutes apart leave no idle time between',
      [
        [0, 0],
        [5, 5],
      ],
      0,
      30,
      40,
    ],
    [
      'two calls 6 minutes apart leave one minute',
      [
        [0, 0],
        [6, 6],
      ],
      0,
      30,
      40,
    ],
    ['a run of calls', [[10, 25]], 0, 30, 50],
    [
      'idle time adds up over the round',
      [
        [10, 10],
        [20, 20],
        [30, 30],
      ],
      0,
      30,
      45,
    ],
    ['a call before the base works into the round', [[1, 1]], 2, 10, 16],
    ['a run over the base', [[0, 8]], 2, 10, 23],
    ['calls long before the base count for nothing', [[0, 1]], 20, 10, 30],
  ];
  test.each(table)('B4, B5: %s', (_what, spans, base, target, expected) => {
    expect(reaches(spans, base, target)).toBeCloseTo(expected, 6);
  });

  test('B4: one call at minute 0 and silence closes at 35', () => {
    const room = opened().call('bo').submit('ana');
    expect(around(room, 2 + 35)).toEqual(['remindReviewers', 'closeRound', 'closeRound']);
    expect(notes(room.pass(60), /round 1 (opened|waits|closed)/)).toEqual([
      '2 round 1 opened at a100000; reviewers: @ana and @bo',
      '17 @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot',
      '37 round 1 closed: whoever is missing was idle for 30 minutes; without @bo',
    ]);
  });
});

describe('B6, B9: reminders, and closing on idle', () => {
  test('B9: a reminder at 10 minutes idle, B6: the close at 30', () => {
    const room = opened().submit('ana');
    expect(around(room, 12)).toEqual(['wait: remind_after 12, idle_close 32, round_cap 92', 'remindReviewers', 'remindReviewers']);
    expect(around(room.pass(11), 32)).toEqual(['wait: idle_close 32, round_cap 92', 'closeRound', 'closeRound']);
  });

  test('B9: several are reminded in one note, each once a round', () => {
    const room = opened().join('cy').pass(40);
    expect(notes(room, /waits for/)).toEqual([
      '12 @ana, @bo and @cy: round 1 waits for your review; submit it, or say with decline_review that you cannot',
    ]);
  });

  test('B9: nobody is reminded who is working, has declined or has submitted', () => {
    const room = opened().join('cy').pass(9).call('ana').decline('bo').submit('cy');
    expect(whoIsReminded(room, 12)).toMatch(/^wait/);
    expect(whoIsReminded(room, 17)).toEqual(['ag_ana']);
  });

  test('B27: a reminder overtaken by a close due at the same time is not posted', () => {
    const room = opened({ durations: { remindAfter: 30 * MINUTE } })
      .submit('ana')
      .pass(40);
    expect(notes(room, /waits for/)).toEqual([]);
  });

  test('B6: every one that is missing must have been idle for 30 minutes, the late joiner from when it joined', () => {
    const room = opened().submit('ana').pass(20).join('cy');
    expect(around(room, 22 + 30)).toEqual(['remindReviewers', 'closeRound', 'closeRound']);
    expect(at(room.pass(5).leave('cy'), 32)).toBe('closeRound');
  });

  test('B5: who gets the role back starts anew; who keeps it does not', () => {
    const room = opened().submit('ana').pass(20).roles({ bo: [] }).submit('ana', { summary: 'again' });
    const back = opened()
      .join('cy')
      .submit('ana')
      .pass(20)
      .roles({ bo: [] })
      .roles({ bo: ['reviewer'] })
      .decline('cy');
    expect(at(room, 22)).toBe('closeRound');
    expect(at(back, 51)).not.toBe('closeRound');
    expect(at(back, 52)).toBe('closeRound');
    const kept = opened()
      .submit('ana')
      .pass(20)
      .roles({ bo: ['reviewer', 'author'] });
    expect(at(kept, 32)).toBe('closeRound');
  });
});

describe('B7: the cap', () => {
  const working = (): ClockedRoom => {
    const room = opened().submit('ana');
    for (let minute = 0; minute < 88; minute += 4) room.pass(4).call('bo');
    return room;
  };

  test('B7: 90 minutes after the opening it closes, even while a reviewer works', () => {
    expect(around(working(), 92)).toEqual([expect.stringMatching(/^wait: .*round_cap 92$/), 'closeRound', 'closeRound']);
    expect(notes(working().pass(10), /closed/)).toEqual(['92 round 1 closed: 1 hour, 30 minutes are over; without @bo']);
  });

  test('B5, B7: a late joiner does not move the cap', () => {
    expect(at(working().join('cy'), 92)).toBe('closeRound');
  });
});

describe('B8: never without a review', () => {
  test('B8: past B6 and past B7 it stays open, one note mentions the owner, and the first review closes it', () => {
    const room = opened().pass(200);
    expect(notes(room, /has no review/)).toHaveLength(1);
    expect(room.said.find((note) => note.fact.type === 'NoReviewNoted')).toMatchObject({ at: 92, mentions: ['us_olga'] });
    expect(at(room.submit('bo'), room.age)).toBe('closeRound');
  });

  test('B8: past B6 alone the first review closes it too', () => {
    expect(at(opened().pass(31).submit('bo'), 33)).toBe('closeRound');
    expect(at(opened().pass(29).submit('bo'), 31)).toMatch(/^wait/);
  });

  test('B8: with nobody left to wait for the owner is told at once', () => {
    const room = opened().decline('ana').decline('bo').pass(0);
    expect(room.said.filter((note) => note.fact.type === 'NoReviewNoted')).toMatchObject([{ at: 2, mentions: ['us_olga'] }]);
    expect(at(room, 1_000)).toMatch(/^wait/);
  });

  test("B8: a decline's time passes: it is waited for again, idle from then", () => {
    const room = opened();
    room
      .submit('ana')
      .join('cy')
      .decline('bo', 'at lunch', room.now + 60 * MINUTE)
      .decline('cy', 'busy');
    const alone = opened({ bo: false });
    alone.decline('ana', 'at lunch', alone.now + 20 * MINUTE).pass(0);
    expect(at(room, 2)).toBe('closeRound');
    expect(at(alone, 21)).toMatch(/decline_until 22/);
    expect(around(alone, 22 + 10)).toEqual([expect.stringMatching(/^wait/), 'remindReviewers', 'remindReviewers']);
  });

  test('B8: a new reviewer starts idle from then, and a chip is up only while nobody else is waited for', () => {
    const chips = (room: ClockedRoom, age: number): string[] => chipsOf(room.state, room.calls, room.now + (age - room.age) * MINUTE);
    const room = opened({ bo: false }).pass(0);
    expect([chips(room, 32 - SECOND), chips(room, 32)]).toEqual([[], ['no review']]);
    room.pass(40).join('bo');
    expect([chips(room, 42), chips(room, 72 - SECOND), chips(room, 72)]).toEqual([[], [], ['no review']]);
    room.pass(1).call('bo');
    expect([chips(room, 76), chips(room, 77)]).toEqual([[], ['no review']]);
    expect(chips(opened().decline('ana').decline('bo'), 2)).toEqual(['no review']);
    expect(chips(opened().pullRequest('closed'), 50)).toEqual(['closed']);
    expect(chips(opened().barista(false), 50)).toEqual([]);
  });
});

describe('B26, P5: Barista off and on, the pull request closed and reopened in mid-round', () => {
  const stops: [string, (room: ClockedRoom) => ClockedRoom, (room: ClockedRoom) => ClockedRoom][] = [
    ['B26: turned off and on', (room) => room.barista(false), (room) => room.barista(true)],
    ['P5: closed and reopened', (room) => room.pullRequest('closed'), (room) => room.pullRequest('open')],
  ];
  test.each(stops)('%s: idle time, reminders and the cap count from then', (_what, stop, go) => {
    const room = stop(opened().submit('ana').pass(9));
    expect(at(room, 500)).not.toMatch(/remind|closeRound|openRound/);
    go(room.pass(60));
    expect(around(room, 71 + 10)).toEqual([expect.stringMatching(/^wait: .*round_cap 161$/), 'remindReviewers', 'remindReviewers']);
    expect(around(room.pass(11), 71 + 30)).toEqual([expect.stringMatching(/^wait/), 'closeRound', 'closeRound']);
  });

  test.each(stops)('%s: a round complete by B3 is closed at once', (_what, stop, go) => {
    const room = stop(opened()).submit('ana').submit('bo');
    expect(at(room, 100)).not.toBe('closeRound');
    expect(at(go(room.pass(50)), 52)).toBe('closeRound');
  });

  test('B26: nobody is reminded a second time in a round', () => {
    const room = opened().submit('ana').pass(15).barista(false).barista(true);
    expect(around(room, 27)).toEqual(Array(3).fill('wait: idle_close 47, round_cap 107'));
  });
});

describe('P2: a push in mid-round', () => {
  test('P2: one note a head, mentioning nobody; the round stays pinned and closes on its own rules', () => {
    const room = opened().pass(5).push('def5678', 3).hear().push('def5678', 3).submit('ana').submit('bo').pass(0);
    expect(notes(room, /head moved/)).toEqual([
      '7 head moved to def5678 (3 new commits). Barista closes this round on its own rules; the next round opens at the new head after that.',
    ]);
    expect(room.said.filter((note) => note.fact.type === 'HeadLearnt').map((note) => note.mentions)).toEqual([[]]);
    expect(room.state.round).toMatchObject({ headSha: expect.stringMatching(/^a1/) });
    expect(around(room, 9)).toEqual(['wait: head_quiet 9', 'openRound', 'openRound']);
  });

  test('P4: a head that nobody told of is noted before the close', () => {
    const room = opened().pushUnheard('b2').submit('ana').submit('bo').pass(0);
    expect(notes(room, /head moved|closed/)).toHaveLength(2);
    expect(notes(room.pass(5), /round 2 opened/)).toEqual(['4 round 2 opened at b200000; reviewers: @ana and @bo; 0 findings carried']);
  });
});

test('B1: agents may still open, close and go on where somebody asked them to, by the rules of O and N', () => {
  const room = opened().submit('ana');
  expect(room.refused((it) => it.open('ana')).code).toBe('round_open');
  expect(room.close('ana').state.round?.closed?.why).toBe('lead');
  expect(aRoom({ barista: true }).join('ana').open('ana').state.round?.number).toBe(1);
});

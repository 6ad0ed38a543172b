// What an operator reads of a room in the Temporal UI, and by which rooms are searched for: true after each step, not only after calls.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE, type SkippedTime, type TimedRoom, commit, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

/** @ada builds, @ben leads and reviews, @cyd reviews; round 1 open at minute 2. */
async function duel(): Promise<TimedRoom> {
  const room = await time.room({ recipe: 'build_duel' });
  for (const name of ['ada', 'ben', 'cyd']) await room.join(name);
  await room.roles({ ag_ben: ['lead', 'reviewer'], ag_cyd: ['reviewer'] });
  await room.minutes(2);
  await room.eventually(/round 1 opened/);
  return room;
}

/** What an operator sees of the room now; times as its age in minutes, those of the details left to the clocks. */
async function seen(room: TimedRoom) {
  await room.settled();
  const { typedSearchAttributes } = await room.handle.describe();
  const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  const clocks = await room.clocks();
  // The deadline that rooms are searched by is the one that the clocks name.
  expect(attributes['BaristaNextDeadline'] ?? null).toEqual(clocks.length === 0 ? null : new Date(Math.min(...clocks.map(({ at }) => at))));
  return {
    phase: attributes['BaristaPhase'] as string,
    waitingOn: (attributes['BaristaWaitingOn'] ?? []) as string[],
    chips: (attributes['BaristaChips'] ?? []) as string[],
    clocks: clocks.map(({ name, at }) => `${name} ${room.ageAt(at)}`),
    details: (await room.details())
      .replaceAll(/minute \d+: /g, '')
      .split('\n')
      .slice(1),
  };
}

test('the Temporal UI says why the room waits, for whom, and until when', async () => {
  const room = await (await time.room()).opens('ana', 'bo');
  await room.submit('ana');
  const { typedSearchAttributes } = await room.handle.describe();
  const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(attributes).toMatchObject({ BaristaPhase: 'reviewing', BaristaRound: 1, BaristaWaitingOn: ['@bo'] });
  expect(await room.clocks()).toMatchObject([{ name: 'remind_after' }, { name: 'idle_close' }, { name: 'round_cap' }]);
  expect(await room.details()).toMatchInlineSnapshot(`
    "**reviewing** · local:/repo?base=main&head=topic
    - waiting for @bo to submit
    - waits on @bo
    - round 1, open, at \`a100000\`
    - minute 12: remind @bo (\`remind_after\`)
    - minute 32: close on idle (\`idle_close\`)
    - minute 92: close at the cap (\`round_cap\`)"
  `);
});

test('B14: once one of two windows is over, it says for whom the other one runs, and the draft still waits', async () => {
  const room = await duel();
  await room.submit('ben', 'request_changes', [{}]);
  await room.submit('cyd', 'request_changes', [{}]);
  await room.eventually(/round 1 closed/);
  await room.answer('ada', 'f1', 'reject');
  await room.minutes(10);
  await room.answer('ada', 'f2', 'reject');
  expect(await seen(room)).toEqual({
    phase: 'waiting_for_answers',
    waitingOn: ['@ben', '@cyd'],
    chips: [],
    clocks: ['uphold_window 32', 'uphold_window 42'],
    details: [
      '- waiting for answers to findings',
      '- waits on @ben and @cyd',
      '- round 1, closed, at `a100000`',
      '- @ben may uphold f1 (`uphold_window`)',
      '- @cyd may uphold f2 (`uphold_window`)',
    ],
  });
  await room.minutes(25);
  expect(await seen(room)).toEqual({
    phase: 'waiting_for_answers',
    waitingOn: ['@cyd'],
    chips: [],
    clocks: ['uphold_window 42'],
    details: [
      '- waiting for answers to findings',
      '- waits on @cyd',
      '- round 1, closed, at `a100000`',
      '- @cyd may uphold f2 (`uphold_window`)',
    ],
  });
  expect(room.said(/draft the review/)).toEqual([]);
});

test('S7, B26: without Barista too it says whom the round waits for once a decline is over', async () => {
  const room = await time.room({ barista: false });
  await room.join('ben');
  await room.join('cyd');
  const head = { sha: commit('a1'), baseSha: commit('ba'), state: 'open', knownSeq: 1, move: null } as const;
  await room.send({ type: 'openRound', by: 'ag_ben', head });
  await room.send({ type: 'declineReview', by: 'ag_cyd', reason: 'busy', until: room.openedAt + 10 * MINUTE });
  expect(await seen(room)).toMatchObject({ waitingOn: ['@ben'], clocks: ['decline_until 10'] });
  await room.minutes(11);
  expect(await seen(room)).toMatchObject({ waitingOn: ['@ben', '@cyd'], clocks: [] });
});

test('from joining to the posted review it says in each phase whom it waits for, and until when', async () => {
  const room = await time.room({ recipe: 'build_duel' });
  const lines: string[] = [];
  const look = async (): Promise<void> => {
    const { phase, waitingOn, chips, clocks, details } = await seen(room);
    const names = clocks.map((clock) => clock.replace(/ .*/, ''));
    lines.push(`${phase}: ${waitingOn.join(' ') || '-'} [${chips.join(', ')}] ${details[0]} (${names.join(', ')})`);
  };
  await look();
  await room.join('ada');
  await room.join('ben');
  await look();
  await room.minutes(2);
  await room.eventually(/round 1 opened/);
  await look();
  await room.minutes(31);
  await look();
  await room.submit('ben', 'request_changes', [{}]);
  await room.eventually(/round 1 closed/);
  await look();
  await room.answer('ada', 'f1', 'accept');
  await room.minutes(24 * 60);
  await look();
  await room.push('a2');
  await look();
  await room.minutes(3);
  await room.submit('ben', 'approve');
  await room.eventually(/round 2 closed/);
  await look();
  await room.resolve('ben', 'f1', 'fixed');
  await room.eventually(/draft the review/);
  await look();
  await room.draft('ben');
  await look();
  await room.send({ type: 'postDraft', by: 'us_olga' });
  await room.eventually(/is posted/);
  await look();
  await room.push('a2', { state: 'merged' });
  await look();
  expect(lines).toMatchInlineSnapshot(`
    [
      "waiting_for_crew: - [] - waiting for a reviewer to join ()",
      "waiting_for_crew: - [] - waiting for the head to be quiet (head_quiet)",
      "reviewing: @ben [] - waiting for @ben to submit (remind_after, idle_close, round_cap)",
      "reviewing: @ben [no review] - waiting for @ben to submit (round_cap)",
      "waiting_for_push: @ada [] - waiting for a push with the fixes (fixes_not_pushed)",
      "waiting_for_push: @ada [fixes not pushed] - waiting for a push with the fixes ()",
      "waiting_for_push: - [] - waiting for the head to be quiet (head_quiet)",
      "waiting_for_answers: @ben [] - waiting for answers to findings (verify_window)",
      "drafting: @ben [] - waiting for @ben to draft the review (draft_reminder, draft_handoff)",
      "drafted: @olga [] - waiting for the owner to post the draft ()",
      "posted: - [] - the review is posted; the next push opens a round ()",
      "stopped: - [merged] - the pull request is merged (room_end)",
    ]
  `);
});

import type { SkippedTime, TimedRoom } from '../support/skipped-time.js';

/**
 * One life of a room for each shape its control flow can take. `record.test.ts` lives them and keeps their
 * histories; `replay.test.ts` replays what was kept on every run, so that a change which would break rooms in
 * flight is seen before it is deployed.
 */
export const SHAPES: Readonly<Record<string, (time: SkippedTime) => Promise<TimedRoom>>> = {
  'quiet panel to posted': async (time) => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.submit('ana', 'approve');
    await room.submit('bo', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ana');
    await room.send({ type: 'postDraft', by: 'us_olga' });
    await room.eventually(/is posted/);
    await room.end();
    return room;
  },
  'idle reviewer': async (time) => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.submit('ana');
    await room.minutes(5);
    await room.call('bo');
    await room.minutes(50);
    return room;
  },
  'no review, then the cap': async (time) => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(120);
    await room.submit('ana');
    await room.eventually(/round 1 closed/);
    return room;
  },
  'push in mid-round, next round, fixes': async (time) => {
    const room = await time.room({ recipe: 'build_duel' });
    await room.join('ada');
    await room.join('ben');
    await room.minutes(3);
    await room.submit('ben', 'request_changes', [{}, { severity: 'nit' }]);
    await room.eventually(/round 1 closed/);
    await room.answer('ada', 'f1', 'accept');
    await room.minutes(5);
    await room.push('a2');
    await room.minutes(3);
    await room.push('a3');
    await room.resolve('ben', 'f1', 'fixed');
    await room.submit('ben', 'approve');
    await room.eventually(/round 2 closed/);
    await room.minutes(10);
    return room;
  },
  'nobody drafts': async (time) => {
    const room = await time.room();
    for (const name of ['ana', 'bo', 'cy']) await room.join(name);
    await room.minutes(3);
    for (const name of ['ana', 'bo', 'cy']) await room.submit(name, 'approve');
    await room.eventually(/draft the review/);
    await room.minutes(120);
    return room;
  },
  'fixes never pushed, final draft': async (time) => {
    const room = await time.room({ recipe: 'build_duel' });
    await room.join('ada');
    await room.join('ben');
    await room.minutes(3);
    await room.submit('ben', 'request_changes', [{}]);
    await room.eventually(/round 1 closed/);
    await room.answer('ada', 'f1', 'accept');
    await room.minutes(25 * 60);
    await room.send({ type: 'finalDraft', by: 'us_olga' });
    await room.eventually(/draft the review/);
    await room.draft('ben');
    await room.minutes(1);
    return room;
  },
  'by hand, without Barista': async (time) => {
    const room = await time.room({ barista: false });
    await room.join('ana');
    const head = { ...room.head, knownSeq: 1 };
    await room.send({ type: 'openRound', by: 'ag_ana', head });
    await room.submit('ana');
    await room.send({ type: 'closeRound', by: 'ag_ana', head });
    await room.send({ type: 'setBarista', by: 'us_olga', enabled: true });
    await room.minutes(90);
    await room.send({ type: 'archive', by: 'us_olga' });
    await room.handle.result();
    return room;
  },
  'the forge away, then merged': async (time) => {
    const room = await time.room();
    await room.join('ana');
    room.forgeAway = true;
    await room.minutes(10);
    room.forgeAway = false;
    await room.minutes(2);
    await room.push('a1', { state: 'merged' });
    await room.minutes(8 * 24 * 60);
    return room;
  },
};

// P4, B27: what Barista decides it reads the ground of first, and by then the room may be another: it is decided again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HEAD_SIGNAL, SILENCE_SIGNAL } from '../../workflows/messages.js';
import { type SkippedTime, type TimedRoom, commit, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

const panel = async (...names: string[]): Promise<TimedRoom> => (await time.room()).opens(...names);

/** Round 1 is closed, with f1 of @bo, and @ana is asked to draft it as it is. */
async function asked(): Promise<TimedRoom> {
  const room = await panel('ana', 'bo', 'cy');
  await room.submit('ana', 'approve');
  await room.submit('cy', 'approve');
  await room.submit('bo', 'request_changes', [{}]);
  await room.eventually(/round 1 closed/);
  await room.send({ type: 'finalDraft', by: 'us_olga' });
  await room.eventually(/@ana: draft the review/);
  return room;
}

describe('what happens while Barista reads', () => {
  test('B2: a push while the head is read for round 1 puts it off', async () => {
    const room = await time.room();
    await room.join('ana');
    room.during.head = () => room.push('a2');
    await room.minutes(3);
    expect(room.said(/opened at/)).toEqual([]);
    await room.minutes(2);
    expect(room.said(/opened at/)).toEqual([expect.stringMatching(/^4 barista: round 1 opened at a200000/)]);
  });

  test('B9: a reviewer that submits while it is read who works is not reminded', async () => {
    const room = await panel('ana', 'bo');
    room.during.calls = () => room.submit('bo');
    await room.minutes(11);
    expect(room.said(/waits for your review/)).toEqual([expect.stringMatching(/barista: @ana: round 1 waits/)]);
  });

  test('B26: Barista turned off while the head is read for a close closes nothing', async () => {
    const room = await panel('ana');
    room.during.head = () => room.send({ type: 'setBarista', by: 'us_olga', enabled: false });
    await room.submit('ana');
    await room.minutes(60);
    expect(room.said(/round 1 closed/)).toEqual([]);
  });

  test('B28: a draft saved while the head is read for a hand-off ends it', async () => {
    const room = await asked();
    room.during.head = () => room.draft('ana');
    await room.minutes(120);
    expect(room.said(/is lead|assembled/)).toEqual(['0 @ana is lead + reviewer']);
    expect((await room.state()).draft).toMatchObject({ draftedBy: 'ag_ana' });
  });

  test('B20: a draft saved while one is assembled stays', async () => {
    const room = await asked();
    room.during.draft = () => room.draft('cy');
    await room.minutes(120);
    expect((await room.state()).draft).toMatchObject({ draftedBy: 'ag_cy', version: 1 });
  });

  test('B20, R6: an agent deleted while the draft is assembled leaves it too', async () => {
    const room = await asked();
    room.during.draft = () => room.send({ type: 'deleteAgent', by: 'us_olga', agent: 'ag_bo' });
    await room.minutes(120);
    expect((await room.state()).draft).toMatchObject({ assembled: true, findings: [], version: 1 });
  });

  test('B20: a finding settled while the draft is assembled is none in it', async () => {
    const room = await asked();
    room.during.draft = () => room.resolve('bo', 'f1', 'withdrawn');
    await room.minutes(120);
    expect((await room.state()).draft).toMatchObject({ assembled: true, findings: [], version: 1 });
  });

  test('R12: a pull request reopened with nobody telling of it keeps its room', async () => {
    const room = await panel('ana');
    // The watch of this test looks every 12 hours, so not in the hour before the end.
    await room.minutes(6 * 60);
    await room.push('a1', { state: 'closed' });
    await room.minutes(7 * 24 * 60 - 60);
    room.head = { ...room.head, state: 'open' };
    await room.minutes(120);
    expect(room.said(/the room has ended|reopened/)).toEqual([expect.stringMatching(/barista: the pull request was reopened/)]);
  });

  test('R12: one that was reopened so and cannot be read for a while at the end keeps its room', async () => {
    const room = await panel('ana');
    await room.minutes(6 * 60);
    await room.push('a1', { state: 'closed' });
    await room.minutes(7 * 24 * 60 - 60);
    room.head = { ...room.head, state: 'open' };
    room.forgeAway = true;
    await room.minutes(90);
    room.forgeAway = false;
    // It is read again every 15 minutes.
    await room.minutes(20);
    expect(room.said(/the room has ended|reopened/)).toEqual([expect.stringMatching(/barista: the pull request was reopened/)]);
  });

  test('R12: a room whose pull request cannot be read any more ends all the same', async () => {
    const room = await panel('ana');
    await room.push('a1', { state: 'merged' });
    room.forgeAway = true;
    await room.minutes(7 * 24 * 60 + 60);
    expect(room.said(/the room has ended/)).toHaveLength(1);
  });
});

test('B6, B29: while the forge is broken the database is asked again as soon as ever', async () => {
  const room = await panel('ana', 'bo');
  await room.submit('ana');
  await room.minutes(25);
  room.forgeAway = true;
  await room.tell(SILENCE_SIGNAL, { brokenSince: await room.now(), trouble: 'unavailable' });
  await room.settled();
  room.databaseAway = true;
  await room.minutes(10);
  expect(room.said(/round 1 closed/)).toEqual([]);
  room.databaseAway = false;
  await room.minutes(1);
  expect(room.said(/round 1 closed/)).toEqual([expect.stringMatching(/bo had been idle for 30 minutes|the head could not be checked/)]);
});

test('D5: the database is away for hours as the owner posts: the review is posted once it is back', async () => {
  const room = await panel('ana');
  await room.submit('ana');
  await room.eventually(/@ana: draft the review/);
  await room.draft('ana');
  room.databaseAway = true;
  await room.send({ type: 'postDraft', by: 'us_olga' });
  await room.minutes(3 * 60);
  expect((await room.state()).draft!.posting).toMatchObject({ status: 'posting' });
  room.databaseAway = false;
  await room.minutes(2);
  expect(room.said(/posting the review failed|is posted/)).toEqual([expect.stringMatching(/is posted/)]);
  expect(room.posted).toHaveLength(1);
});

describe('the head is looked at again at once', () => {
  /** As a delivery tells of it that was read before the room learnt of what it knows now. */
  const late = (room: TimedRoom): Promise<void> => room.tell(HEAD_SIGNAL, { ...room.head, knownSeq: 1 });

  test('P4: where a reading comes after another one that it may be newer than', async () => {
    const room = await panel('ana', 'bo');
    await room.push('a2');
    await room.settled();
    room.head = { ...room.head, sha: commit('a3') };
    await late(room);
    await room.minutes(1);
    expect(room.said(/head moved/).map((note) => note.slice(0, 30))).toEqual([
      '2 barista: head moved to a2000',
      '2 barista: head moved to a3000',
    ]);
  });

  test('P4: where what Barista reads for a step crosses one that it may be newer than, and the step is off', async () => {
    const room = await panel('ana');
    const told = { ...room.head, sha: commit('a2'), knownSeq: 1 };
    room.head = { ...room.head, sha: commit('a3') };
    room.during.head = async () => {
      await room.tell(HEAD_SIGNAL, told);
      await room.send({ type: 'setBarista', by: 'us_olga', enabled: false });
    };
    await room.submit('ana');
    await room.minutes(1);
    expect(room.said(/head moved|closed/).map((note) => note.slice(0, 21))).toEqual(['2 barista: head moved', '2 head moved to a3000']);
  });

  test('P4, P5: an old reading reopens nothing', async () => {
    const room = await panel('ana', 'bo');
    const old = { ...room.head, knownSeq: 1 };
    await room.push('a1', { state: 'merged' });
    await room.settled();
    await room.tell(HEAD_SIGNAL, old);
    await room.minutes(60);
    expect(room.said(/pull request/)).toEqual([expect.stringMatching(/the pull request was merged/)]);
  });

  test('P4: a change of head_poll acts from then on', async () => {
    const room = await panel('ana', 'bo');
    room.head = { ...room.head, sha: commit('a2'), move: { commits: 1, rewritten: false } };
    await room.send({ type: 'setBarista', by: 'us_olga', durations: { headPoll: 60_000 } });
    await room.minutes(1);
    expect(room.said(/head moved/)).toHaveLength(1);
  });

  test('B29: where a delivery said that it cannot be read, and it can', async () => {
    const room = await panel('ana', 'bo');
    await room.tell(SILENCE_SIGNAL, { brokenSince: await room.now(), trouble: 'refused' });
    await room.minutes(1);
    expect(room.told().map((line) => line.split(' ')[1])).toEqual(['forge_broken']);
    expect((await room.state()).head.brokenSince).toBeNull();
  });
});

import type { WorkflowHandle } from '@temporalio/client';
import { PULL_REQUEST, heardOf, shown, type SkippedDeliveries } from '../support/skipped-deliveries.js';
import { HEAD_SIGNAL } from '../../workflows/messages.js';
import { commit, type SkippedTime, type TimedRoom } from '../support/skipped-time.js';

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
  'a reading told late': async (time) => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(3);
    await room.push('a2');
    await room.settled();
    room.head = { ...room.head, sha: commit('a3') };
    await room.tell(HEAD_SIGNAL, { ...room.head, knownSeq: 1 });
    await room.minutes(1);
    await room.end();
    return room;
  },
  // The run that went on; the one before it is the same code up to its end.
  'gone on as a new run': async (time) => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(2);
    const { runId } = await room.handle.describe();
    for (let take = 0; (await room.handle.describe()).runId === runId; take++) {
      await room.submit('ana', 'comment', [{ body: `take ${take}` }]);
      if (take % 50 === 49) await room.minutes(0.1);
    }
    await room.minutes(40);
    await room.end();
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

/** One life of a delivery for each shape its control flow can take, as {@link SHAPES}. */
export const DELIVERY_SHAPES: Readonly<Record<string, (world: SkippedDeliveries) => Promise<WorkflowHandle>>> = {
  'delivery of a push that shows late': async (world) => {
    await world.room();
    world.forge = (seconds) => shown(seconds < 5 ? 'a1' : 'a2');
    return ended(await world.comes(heardOf('pushed')));
  },
  'delivery that opens rooms': async (world) => {
    world.owners = ['us_olga', 'us_kim'];
    return ended(await world.comes(heardOf('opened')));
  },
  'delivery of access taken': async (world) => {
    const room = await world.room();
    world.pullRequests = [PULL_REQUEST];
    world.forge = () => ({ kind: 'unread', trouble: 'refused', why: 'The App is not installed.', rooms: [room] });
    const { repository } = PULL_REQUEST;
    return ended(
      await world.comes({
        kind: 'access',
        what: 'taken',
        repositories: [repository],
        identity: 'operator',
        account: 'octo-org',
        place: 'https://github.com',
        url: null,
      }),
    );
  },
};

async function ended(handle: WorkflowHandle): Promise<WorkflowHandle> {
  await handle.result();
  return handle;
}

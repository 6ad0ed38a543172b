import { DefaultPayloadConverter } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RoomInput, ROOM_WORKFLOW } from '../../workflows/messages.js';
import { type SkippedTime, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

describe('a room outlives what runs it', () => {
  test('continue-as-new keeps the room, its outbox and its clocks, and loses no call', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(2);
    const first = await room.handle.describe();
    for (let n = 0; n < 200; n++) await room.submit('ana', 'comment', [{ body: `take ${n}` }]);
    await room.minutes(0.1);
    const later = await room.handle.describe();
    expect(later.runId).not.toBe(first.runId);
    expect((await room.state()).findings).toMatchObject([{ id: 'f200', body: 'take 199' }]);
    expect(await room.state()).toEqual(room.readModel);
    await room.minutes(40);
    expect(room.said(/round 1 closed/)).toEqual([expect.stringMatching(/^32/)]);
  });

  test('a state in mid-round goes through the payload converter unchanged, and a room starts from it', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.submit('ana', 'request_changes', [{}]);
    const state = await room.state();
    const converter = new DefaultPayloadConverter();
    expect(converter.fromPayload(converter.toPayload(state)!)).toEqual(state);
    await room.handle.terminate();
    const input: RoomInput = { kind: 'resume', state, outbox: { from: state.seq, events: [] } };
    await time.env.client.workflow.start(ROOM_WORKFLOW, { workflowId: room.handle.workflowId, taskQueue: 'barista', args: [input] });
    await room.submit('bo');
    await room.eventually(/round 1 closed/);
  });

  test('R12: a room ends 7 days after the merge, with all it said projected', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(3);
    await room.push('a1', { state: 'merged' });
    await room.minutes(7 * 24 * 60 + 1);
    expect(room.said(/merged/)).toEqual([
      '3 barista: the pull request was merged; the clocks stop',
      '10083 the room has ended: the pull request was merged',
    ]);
    await expect.poll(async () => (await room.handle.describe()).status.name).toBe('COMPLETED');
  });

  test('R12: an archived room completes, and a stray fault in a call fails that call alone', async () => {
    const room = await time.room();
    await room.join('ana');
    await expect(
      room.send({ type: 'submitReview', by: 'ag_ana', verdict: 'comment', summary: 's', findings: null, references: [] } as never),
    ).rejects.toThrow();
    await room.join('bo');
    await room.send({ type: 'archive', by: 'us_olga' });
    await room.handle.result();
    expect((await room.handle.describe()).status.name).toBe('COMPLETED');
  });
});

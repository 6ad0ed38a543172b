import { expect, test } from 'vitest';
import { recordedRounds, recordOf, recordsOf } from '../../workflows/room/record.js';
import { aRoom } from '../support/room.js';

const twoRounds = () =>
  aRoom()
    .join('ana', 'grok')
    .open('ana')
    .submit('ana', { findings: [{}] })
    .submit('grok', { findings: [{}] })
    .close('ana')
    .push('b2')
    .open('ana');

test('K1: what a round was stays known once the next one opens', () => {
  const room = twoRounds();
  const [first] = recordedRounds(recordsOf(room.records));
  expect(first!.reviews.map(({ by }) => by)).toEqual(['ag_ana', 'ag_grok']);
  expect(room.state.round!.reviews).toEqual([]);
  expect(recordOf(aRoom().state)).toBeNull();
});

test("R6: a deleted agent's reviews and findings leave earlier rounds too", () => {
  const record = recordsOf(twoRounds().delete('grok').records).get(1)!;
  expect(record.round.reviews.map(({ by }) => by)).toEqual(['ag_ana']);
  expect(record.findings.map(({ id }) => id)).toEqual(['f1']);
});

test("D6: a draft is in its own round's record only", () => {
  const room = aRoom().join('ana').open('ana').submit('ana').close('ana').draft('ana').push('b2').open('ana').post();
  expect(recordOf(room.state)!.draft).toBeNull();
  expect(recordsOf(room.records).get(1)!.draft!.posting.status).toBe('posted');
});

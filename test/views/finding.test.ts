import { expect, test } from 'vitest';
import { findingView, unsettledFindings } from '../../mcp-server/views/finding.js';
import { aRoom, HEAD, idOf, sha } from '../support/room.js';
import { viewOf } from './around.js';

const duel = () => aRoom({ recipe: 'build_duel' }).join('dora', 'grok').open('grok');

test('a finding on the wire is spelt as the contract has it', () => {
  const room = duel().submit('grok', {
    findings: [
      { path: 'src/a.ts', line: 7, severity: 'minor', body: 'off by one', outsideDiff: true },
      { line: null, side: 'old' },
    ],
  });
  room.after(1).answer('dora', 'f1', 'reject', 'it is not');
  expect(findingView(room.snapshot, idOf('dora'), 'f1')).toEqual({
    id: 'f1',
    path: 'src/a.ts',
    line: 7,
    side: 'new',
    severity: 'minor',
    body: 'off by one',
    raised_in_round: 1,
    raised_by: 'ag_grok',
    raised_by_name: 'grok',
    raised_on: HEAD,
    state: 'rejected',
    answers: [
      {
        kind: 'reject',
        by: 'ag_dora',
        by_name: 'dora',
        as: 'author',
        reason: 'it is not',
        round: 1,
        commit: HEAD,
        at: '2030-01-07T12:01:00.000Z',
      },
    ],
    references: [],
    needs_fix: false,
    standing: 'rejected',
    outside_diff: true,
  });
  const wholeFile = findingView(room.snapshot, idOf('dora'), 'f2');
  expect(wholeFile).toMatchObject({ side: 'old', state: 'open', needs_fix: true, standing: 'needs_fix' });
  expect(wholeFile).not.toHaveProperty('line');
  expect(wholeFile).not.toHaveProperty('start_line');
});

test('S1: a range is shown by its first line too, with every round that carries it', () => {
  const room = duel().submit('grok', { findings: [{ startLine: 3, line: 7 }] });
  expect(findingView(room.snapshot, idOf('dora'), 'f1')).toMatchObject({ start_line: 3, line: 7 });
  room.close('grok').push('b2').open('grok');
  expect(viewOf(room, 'grok').carried).toMatchObject([{ id: 'f1', start_line: 3, line: 7 }]);
});

test('a finding that is not there, or hidden from the reader, is null alike', () => {
  const room = aRoom()
    .join('ana', 'grok')
    .open('ana')
    .submit('grok', { findings: [{}] });
  expect(findingView(room.snapshot, idOf('ana'), 'f1')).toBeNull();
  expect(findingView(room.snapshot, idOf('ana'), 'f9')).toBeNull();
  expect(findingView(room.snapshot, idOf('grok'), 'f1')).not.toBeNull();
});

test('K2: carried findings show their answers and the references of closed rounds, never those of the open one', () => {
  const room = duel().roles({ dora: ['author', 'reviewer'], grok: ['lead', 'reviewer'] });
  room
    .submit('grok', { findings: [{}] })
    .submit('dora')
    .close('grok')
    .answer('dora', 'f1', 'accept');
  room
    .push('b2')
    .open('grok')
    .submit('dora', { references: [['f1', 'dispute', 'not here']] });
  const carried = () => viewOf(room, 'dora').carried;
  expect(carried()).toHaveLength(1);
  expect(carried()[0]).toMatchObject({
    id: 'f1',
    raised_in_round: 1,
    raised_by: 'ag_grok',
    raised_by_name: 'grok',
    raised_on: HEAD,
    references: [],
  });
  expect(carried()[0]!.answers.map(({ kind, commit }) => ({ kind, commit }))).toEqual([{ kind: 'accept', commit: HEAD }]);
  expect(viewOf(room, 'dora').reviews[0]!.references).toEqual([{ finding_id: 'f1', stance: 'dispute', note: 'not here' }]);
  room.submit('grok').close('grok');
  expect(carried()[0]!.references).toMatchObject([{ stance: 'dispute', note: 'not here', by: 'ag_dora', by_name: 'dora', round: 2 }]);
  room.push('c3').open('grok');
  expect(carried()[0]!.references).toHaveLength(1);
});

test('A6: in panel an answer given while the round is open shows only as answered, but to whoever gave it', () => {
  const room = aRoom()
    .join('ana', 'grok', 'dora')
    .roles({ dora: ['author'] })
    .open('ana')
    .submit('ana', { findings: [{}, {}] })
    .submit('grok');
  room.answer('dora', 'f1', 'reject', 'SECRET').resolve('ana', 'f2', 'withdrawn', 'SECRET');
  expect(findingView(room.snapshot, idOf('grok'), 'f1')).toMatchObject({ state: 'open', answers: [], answered: true, needs_fix: true });
  expect(findingView(room.snapshot, idOf('grok'), 'f2')).toMatchObject({ state: 'open', answers: [], resolved: true });
  expect(findingView(room.snapshot, idOf('grok'), 'f1')).not.toHaveProperty('resolved');
  expect(JSON.stringify(viewOf(room, 'grok'))).not.toContain('SECRET');
  expect(JSON.stringify(viewOf(room, 'olga'))).not.toContain('SECRET');
  expect(findingView(room.snapshot, idOf('dora'), 'f1')).toMatchObject({ state: 'rejected', answers: [{ reason: 'SECRET' }] });
  room.close('ana');
  const shown = findingView(room.snapshot, idOf('grok'), 'f1');
  expect(shown).toMatchObject({ state: 'rejected', answers: [{ reason: 'SECRET' }] });
  expect(shown).not.toHaveProperty('answered');
});

test('C5: the since view has the findings carried into an open round, and every unsettled one after it', () => {
  const room = duel()
    .submit('grok', { findings: [{}, {}] })
    .resolve('grok', 'f2', 'withdrawn');
  const ids = () => unsettledFindings(room.snapshot, idOf('dora')).map(({ id }) => id);
  expect(ids()).toEqual([]);
  room.close('grok');
  expect(ids()).toEqual(['f1']);
  room
    .push('b2')
    .open('grok')
    .submit('grok', { findings: [{}] });
  expect(ids()).toEqual(['f1']);
  expect(unsettledFindings(room.snapshot, idOf('dora'))[0]!.raised_on).toBe(HEAD);
  room.close('grok');
  expect(ids()).toEqual(['f1', 'f3']);
  expect(room.state.round!.headSha).toBe(sha('b2'));
});

import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../workflows/room/state.js';
import { MINUTE, type FindingInput, type ReviewInput, type TestRoom, aRoom } from '../support/room.js';

const opened = (): TestRoom =>
  aRoom()
    .join('ana', 'grok', 'pia')
    .roles({ pia: ['author'] })
    .open('ana');
/** Round 2, with ana's f1 (line 10) and f2 (the whole file) carried. */
const carried = (): TestRoom =>
  opened()
    .submit('ana', { findings: [{ line: 10 }, { line: null }] })
    .close('ana')
    .push('b2')
    .open('ana');
const many = (count: number, finding: FindingInput = {}): FindingInput[] => Array.from({ length: count }, () => finding);

describe('submitting', () => {
  test('S1: a review is stored with its findings, each with an id of its own', () => {
    const room = opened().submit('grok', { verdict: 'request_changes', findings: [{ severity: 'blocker' }, { line: null, side: 'old' }] });
    expect(room.result).toEqual({
      review: 'v1',
      verdict: 'request_changes',
      findings: ['f1', 'f2'],
      replaced: false,
      warnings: [],
      possibleDuplicates: [],
    });
    expect(room.state.findings).toMatchObject([
      { id: 'f1', raisedBy: 'ag_grok', raisedIn: 1, raisedOn: room.state.head.sha, severity: 'blocker', side: 'new', answers: [] },
      { id: 'f2', line: null, side: 'old' },
    ]);
  });

  test('S1: a finding of a range keeps its first line; one of one line has none', () => {
    const room = opened().submit('grok', { findings: [{ startLine: 3, line: 7 }, { line: 7 }] });
    expect(room.state.findings).toMatchObject([{ startLine: 3, line: 7 }, { line: 7 }]);
    expect(room.state.findings[1]).not.toHaveProperty('startLine');
  });

  test.each([
    [{ startLine: 3, line: null }, 'findings[1].start_line needs line, the last line of the range.'],
    [{ startLine: 8, line: 7 }, 'findings[1].start_line must be before line 7.'],
    [{ startLine: 0, line: 7 }, 'findings[1].start_line must be before line 7.'],
  ])('S6: the range %o is refused, and nothing is stored', (finding, message) => {
    expect(opened().refused((it) => it.submit('grok', { findings: [{}, finding] }))).toEqual({
      code: 'invalid',
      message,
      field: 'findings[1].start_line',
    });
  });

  test.each([
    ['at_line', 'at line 7 alone'],
    ['in_body', 'in the body of the review'],
  ] as const)('D9: a range that does not lie in one hunk (%s) is stored with a warning', (leavesHunk, where) => {
    const room = opened().submit('grok', { findings: [{}, { path: 'b.ts', startLine: 3, line: 7, leavesHunk }] });
    expect(room.result['warnings']).toEqual([
      `findings[1]: lines 3-7 of b.ts do not lie in one hunk of the diff, so its comment will stand ${where}.`,
    ]);
    expect(room.state.findings[1]).toMatchObject({ startLine: 3, line: 7 });
  });

  test('S5: after the close it is refused, and told to submit in the next round', () => {
    const room = opened().submit('ana').close('ana');
    expect(room.refused((it) => it.submit('grok'))).toMatchObject({ code: 'round_closed', hint: expect.stringContaining('next round') });
  });

  test('S5: before round 1 there is nothing to review', () => {
    expect(
      aRoom()
        .join('ana')
        .refused((it) => it.submit('ana')).code,
    ).toBe('no_open_round');
  });

  test('S6: at most 200 findings a review, and nothing is stored of one with more', () => {
    const room = opened();
    expect(room.refused((it) => it.submit('ana', { findings: many(201) }))).toMatchObject({ code: 'invalid', field: 'findings' });
    expect(room.submit('ana', { findings: many(200) }).state.findings).toHaveLength(200);
  });

  test('S6: a room holds 1 500 unsettled findings; more is refused with the number', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const room = aRoom()
      .join('ana', 'grok', ...names)
      .open('ana');
    for (const name of names.slice(0, 7)) room.submit(name, { findings: many(200) });
    room.submit('h', { findings: many(99) });
    expect(room.refused((it) => it.submit('grok', { findings: many(2) }))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('1499'),
    });
    expect(room.submit('grok', { findings: many(1) }).state.findings).toHaveLength(LIMITS.unsettledFindings);
    room.submit('h', { findings: many(99, { severity: 'nit' }) });
    expect(room.submit('ana').result).toMatchObject({ replaced: false });
    expect(room.resolve('grok', 'f1500', 'withdrawn').submit('ana', { findings: many(1) }).state.findings).toHaveLength(1_501);
  });

  test('S6: a finding outside the diff is taken, and marked', () => {
    expect(opened().submit('ana', { findings: [{ outsideDiff: true }] }).state.findings[0]!.outsideDiff).toBe(true);
  });

  const approvals: [FindingInput['severity'], number][] = [
    ['blocker', 1],
    ['major', 1],
    ['minor', 0],
    ['nit', 0],
  ];
  test.each(approvals)('S8: an approve with a %s is stored with %i warnings', (severity, warnings) => {
    const room = opened().submit('ana', { verdict: 'approve', findings: [{ severity: severity! }] });
    expect(room.result['warnings']).toHaveLength(warnings);
    expect(room.state.round!.reviews).toHaveLength(1);
  });

  test('S8: only an approve disagrees with its findings', () => {
    expect(opened().submit('ana', { verdict: 'comment', findings: [{ severity: 'blocker' }] }).result['warnings']).toEqual([]);
  });
});

describe('replacing', () => {
  test('S2: submitting again replaces the review; its findings are gone and their ids never used again', () => {
    const room = opened()
      .submit('ana', { findings: [{}, {}] })
      .submit('grok', { findings: [{}] })
      .submit('ana', { findings: [{ line: 5 }] });
    expect(room.result).toMatchObject({ review: 'v3', findings: ['f4'], replaced: true });
    expect(room.state.findings.map((finding) => finding.id)).toEqual(['f3', 'f4']);
    expect(room.state.round!.reviews.map((review) => review.by)).toEqual(['ag_grok', 'ag_ana']);
    expect(room.refused((it) => it.answer('pia', 'f1', 'accept')).code).toBe('not_found');
  });

  test('S2: replacing leaves the findings carried from earlier rounds alone', () => {
    const room = carried()
      .submit('ana', { findings: [{ line: 99 }] })
      .submit('ana');
    expect(room.state.findings.map((finding) => finding.id)).toEqual(['f1', 'f2']);
  });

  const stops: [string, string, (room: TestRoom) => TestRoom][] = [
    ['frozen', "it was shown another's review", (room) => room.submit('ana').reveal('grok')],
    ['answered', 'one of its findings was answered', (room) => room.answer('pia', 'f2', 'accept')],
    ['answered', 'one of its findings was resolved', (room) => room.resolve('grok', 'f1', 'withdrawn')],
    ['round_closed', 'the round was closed', (room) => room.submit('ana').close('ana')],
  ];
  test.each(stops)('S2: refused as %s once %s', (code, _why, stop) => {
    const room = stop(opened().submit('grok', { findings: [{}, {}] }));
    expect(room.refused((it) => it.submit('grok', { verdict: 'approve' })).code).toBe(code);
    expect(room.state.round!.reviews.find((review) => review.by === 'ag_grok')!.id).toBe('v1');
  });

  test('S2: answers to carried findings of the reviewer do not stop it', () => {
    const room = carried().submit('ana').answer('pia', 'f1', 'accept').resolve('ana', 'f2', 'fixed');
    expect(room.submit('ana', { verdict: 'approve' }).result).toMatchObject({ replaced: true });
  });
});

describe('references', () => {
  const bad: [string, ReviewInput['references'], string][] = [
    ['a finding of this round', [['f3', 'agree']], 'references[0].finding_id'],
    ['a finding that is not there', [['f9', 'agree']], 'references[0].finding_id'],
    [
      'a finding twice',
      [
        ['f1', 'agree'],
        ['f1', 'dispute'],
      ],
      'references[1].finding_id',
    ],
  ];
  test.each(bad)('S3: %s is refused', (_what, references, field) => {
    const room = carried().submit('grok', { findings: [{}] });
    expect(room.refused((it) => it.submit('ana', { references: references! }))).toMatchObject({ code: 'invalid', field });
  });

  test('S3: in round 1 nothing is carried, so nothing can be referenced', () => {
    const room = opened().submit('grok', { findings: [{}] });
    expect(room.refused((it) => it.submit('ana', { references: [['f1', 'agree']] })).code).toBe('invalid');
  });

  test('S3: a settled finding of an earlier round is not carried', () => {
    const room = opened()
      .submit('ana', { findings: [{}] })
      .resolve('ana', 'f1', 'fixed')
      .close('ana')
      .open('ana');
    expect(room.refused((it) => it.submit('ana', { references: [['f1', 'agree']] })).code).toBe('invalid');
  });

  test('S3: one settled since the opening may still be referenced', () => {
    const room = carried()
      .resolve('ana', 'f1', 'fixed')
      .submit('grok', { references: [['f1', 'agree', 'still there']] });
    expect(room.state.round!.reviews[0]!.references).toMatchObject([{ finding: 'f1', stance: 'agree' }]);
  });

  test('S3: at most 200', () => {
    const room = aRoom()
      .join('ana', 'grok')
      .open('ana')
      .submit('ana', { findings: many(200) })
      .submit('grok', { findings: many(1) });
    room.close('ana').open('ana');
    const all = Array.from({ length: 201 }, (_, n): [string, 'agree'] => [`f${n + 1}`, 'agree']);
    expect(room.refused((it) => it.submit('ana', { references: all })).message).toContain('at most 200');
    expect(room.submit('ana', { references: all.slice(1) }).state.round!.reviews[0]!.references).toHaveLength(200);
  });

  test('S3: references are replaced with the review', () => {
    const room = carried()
      .submit('grok', {
        references: [
          ['f1', 'agree'],
          ['f2', 'dispute'],
        ],
      })
      .submit('grok', { references: [['f2', 'agree']] });
    expect(room.state.round!.reviews[0]!.references.map(({ finding, stance }) => [finding, stance])).toEqual([['f2', 'agree']]);
  });

  test("B16: a raiser's dispute of its own finding gets a warning that tells it to withdraw", () => {
    const mine = carried().submit('ana', { references: [['f1', 'dispute']] }).result['warnings'];
    expect(mine).toEqual(['You dispute your own finding f1: withdraw it with resolve_finding if it does not apply.']);
    expect(carried().submit('grok', { references: [['f1', 'dispute']] }).result['warnings']).toEqual([]);
  });
});

describe('possible duplicates', () => {
  const table: [FindingInput, string[]][] = [
    [{ line: 10 }, ['f1']],
    [{ line: 7 }, ['f1']],
    [{ line: 13 }, ['f1']],
    [{ line: 6 }, []],
    [{ line: 14 }, []],
    // A range is as near as its nearest line.
    [{ startLine: 13, line: 40 }, ['f1']],
    [{ startLine: 2, line: 30 }, ['f1']],
    [{ startLine: 2, line: 7 }, ['f1']],
    [{ startLine: 14, line: 40 }, []],
    [{ startLine: 2, line: 6 }, []],
    [{ line: null }, ['f2']],
    [{ line: 10, path: 'src/b.ts' }, []],
    [{ line: null, path: 'src/b.ts' }, []],
  ];
  test.each(table)('S4: %o sits on %j, and is stored anyway', (finding, expected) => {
    const room = carried().submit('grok', { findings: [{ path: 'other.ts' }, finding] });
    expect(room.result['possibleDuplicates']).toEqual(expected.map((id) => ({ index: 1, finding: id })));
    expect(room.state.findings).toHaveLength(4);
  });

  test('S4: neither a settled finding nor one of this round counts', () => {
    const room = carried()
      .resolve('ana', 'f1', 'fixed')
      .submit('ana', { findings: [{ line: 50 }] });
    expect(room.submit('grok', { findings: [{ line: 10 }, { line: 50 }] }).result['possibleDuplicates']).toEqual([]);
  });

  test('S4: of many carried findings in one place the nearest few are named, so that no answer is too large for a room to give', () => {
    const room = opened()
      .submit('ana', { findings: [...many(100, { line: 12 }), { line: 10 }, ...many(99, { line: 12 })] })
      .submit('grok', { findings: many(200, { line: 12 }) })
      .close('ana')
      .push('b2')
      .open('ana');
    const answer = room.submit('grok', { findings: many(200, { line: 10 }) }).result['possibleDuplicates'] as { finding: string }[];
    expect(answer).toHaveLength(200 * 5);
    expect(answer[0]!.finding).toBe('f101');
  });
});

describe('declining', () => {
  test('S7: it is kept with its reason and time, and a later review takes it back', () => {
    const room = opened();
    const until = room.now + 99 * MINUTE;
    expect(room.decline('grok', 'no access', until).state.round!.declines).toEqual([
      { by: 'ag_grok', at: room.now, reason: room.stage('ag_grok', 'no access'), until },
    ]);
    expect(room.submit('grok').state.round!.declines).toEqual([]);
  });

  test('S7: declining again replaces the reason; the same again is no event', () => {
    const room = opened().decline('grok').after(1).decline('grok', 'still no access');
    expect(room.state.round!.declines).toMatchObject([{ at: room.now }]);
    const { state } = room;
    expect(room.after(1).decline('grok', 'still no access').state).toBe(state);
  });

  test('S7: refused after submitting, and once the round is closed', () => {
    expect(
      opened()
        .submit('grok')
        .refused((it) => it.decline('grok')).code,
    ).toBe('conflict');
    expect(
      opened()
        .submit('ana')
        .close('ana')
        .refused((it) => it.decline('grok')).code,
    ).toBe('round_closed');
  });

  test('S7: its end is to come, and at most a year away, for no clock runs until just any time', () => {
    const room = opened();
    expect(room.refused((it) => it.decline('grok', 'earlier', it.now))).toMatchObject({ code: 'invalid', field: 'until' });
    expect(room.refused((it) => it.decline('grok', 'never', it.now + LIMITS.declineFor + 1))).toMatchObject({
      code: 'invalid',
      field: 'until',
    });
    expect(room.decline('grok', 'from now on', room.now + 1).state.round!.declines).toHaveLength(1);
    expect(room.decline('grok', 'in a year', room.now + LIMITS.declineFor).state.round!.declines).toHaveLength(1);
  });

  test('S7: a decline is of one round', () => {
    expect(opened().decline('grok').submit('ana').close('ana').open('ana').state.round!.declines).toEqual([]);
  });
});

describe('S9: a submit that is repeated', () => {
  const review: ReviewInput = { verdict: 'approve', findings: [{ line: 10, severity: 'major' }], references: [['f2', 'agree', 'yes']] };
  const since: [string, (room: TestRoom) => TestRoom][] = [
    ['nothing happened', (room) => room],
    ['it was frozen', (room) => room.submit('ana').reveal('grok')],
    ['its finding was answered', (room) => room.answer('pia', 'f3', 'accept')],
    ['the carried finding it sits on was settled', (room) => room.resolve('ana', 'f1', 'fixed')],
    ['the round was closed', (room) => room.submit('ana').close('ana')],
    ['it lost the role', (room) => room.roles({ grok: ['author'] })],
  ];
  test.each(since)('S9: gets the first result after %s', (_what, happens) => {
    const room = carried().submit('grok', review);
    const { result } = room;
    expect(result).toMatchObject({ findings: ['f3'], warnings: [expect.any(String)], possibleDuplicates: [{ index: 0, finding: 'f1' }] });
    happens(room.after(1));
    const { state } = room;
    expect(room.after(1).submit('grok', review).state).toBe(state);
    expect(room.result).toEqual(result);
  });

  const others: [string, ReviewInput][] = [
    ['verdict', { ...review, verdict: 'comment' }],
    ['summary', { ...review, summary: 'another' }],
    ['line', { ...review, findings: [{ line: 11, severity: 'major' }] }],
    ['start of the range', { ...review, findings: [{ startLine: 9, line: 10, severity: 'major' }] }],
    ['severity', { ...review, findings: [{ line: 10, severity: 'minor' }] }],
    ['side', { ...review, findings: [{ line: 10, severity: 'major', side: 'old' }] }],
    ['path', { ...review, findings: [{ line: 10, severity: 'major', path: 'b.ts' }] }],
    ['body', { ...review, findings: [{ line: 10, severity: 'major', body: 'another' }] }],
    ['number of findings', { ...review, findings: [] }],
    ['stance', { ...review, references: [['f2', 'dispute', 'yes']] }],
    ['note', { ...review, references: [['f2', 'agree']] }],
    ['number of references', { ...review, references: [] }],
  ];
  test.each(others)('S9: with another %s it is new', (_what, other) => {
    const room = carried().submit('grok', review).submit('grok', other);
    expect(room.result).toMatchObject({ replaced: true, review: 'v3' });
  });

  test('S9: in the next round the same review is new', () => {
    const same: ReviewInput = { verdict: 'approve' };
    expect(opened().submit('ana', same).close('ana').open('ana').submit('ana', same).result).toMatchObject({
      review: 'v2',
      replaced: false,
    });
  });

  test('S9: a new request id makes an equal review new, a known one makes another review a repeat', () => {
    const room = carried().submit('grok', { ...review, requestId: 'r1' });
    const { result } = room;
    expect(room.submit('grok', { ...review, requestId: 'r2' }).result).toMatchObject({ replaced: true, findings: ['f4'] });
    const { state } = room;
    expect(room.submit('grok', { verdict: 'comment', requestId: 'r1' }).state).toBe(state);
    expect(room.result).toEqual(result);
  });
});

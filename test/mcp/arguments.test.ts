import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { check, InvalidInput } from '../../mcp-server/schema/check.js';
import {
  draftFields,
  durations,
  findings,
  references,
  repositoryPath,
  roles,
  room,
  toDurations,
  verdict,
} from '../../mcp-server/schema/fields.js';

const review = z.strictObject({ room, verdict, summary: z.string(), findings, references, force: z.boolean().optional() });
const finding = { path: 'a.ts', line: 3, severity: 'minor', body: 'x' };

function refused(schema: z.ZodType, input: unknown): InvalidInput {
  try {
    check(schema, input);
  } catch (error) {
    if (error instanceof InvalidInput) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('arguments that clients mangle are taken (MEASURED: the SDK refuses them)', () => {
  test('arrays, objects, numbers and booleans sent as JSON strings', () => {
    const taken = check(review, {
      room: 'r',
      verdict: 'comment',
      summary: 's',
      findings: JSON.stringify([{ ...finding, line: '3' }]),
      references: '[{"finding_id":"f1","stance":"agree"}]',
      force: 'true',
    });
    expect(taken.findings).toEqual([finding]);
    expect(taken.references).toEqual([{ finding_id: 'f1', stance: 'agree' }]);
    expect(taken.force).toBe(true);
  });

  test('an entry of an array sent as a JSON string', () => {
    const taken = check(review, { room: 'r', verdict: 'comment', summary: 's', findings: [JSON.stringify(finding)] });
    expect(taken.findings).toEqual([finding]);
  });

  test('null for an absent field, at any depth', () => {
    const taken = check(review, {
      room: 'r',
      verdict: 'comment',
      summary: 's',
      findings: [{ ...finding, line: null, side: null }],
      references: null,
    });
    expect(taken).toEqual({ room: 'r', verdict: 'comment', summary: 's', findings: [{ path: 'a.ts', severity: 'minor', body: 'x' }] });
  });

  test('a string that looks like JSON stays a string where a string is meant', () => {
    const taken = check(review, { room: '17', verdict: 'comment', summary: '{"a":1}', findings: [{ ...finding, body: '[1]' }] });
    expect(taken).toMatchObject({ room: '17', summary: '{"a":1}', findings: [{ body: '[1]' }] });
  });
});

describe('S6: bad input is refused whole, naming each field', () => {
  test('every wrong field at once, as it is spelt on the wire', () => {
    const error = refused(review, {
      verdict: 'fine',
      summary: 5,
      findings: [finding, { ...finding, line: 0, severity: 'bad', body: ' ' }],
    });
    expect(error.code).toBe('invalid');
    expect(error.field).toBe('room');
    expect(error.fields).toEqual([
      { field: 'room', message: 'is required' },
      { field: 'verdict', message: 'must be one of approve, comment, request_changes' },
      { field: 'summary', message: 'must be a string, not a number' },
      { field: 'findings[1].line', message: 'must be 1 or more' },
      { field: 'findings[1].severity', message: 'must be one of blocker, major, minor, nit' },
      { field: 'findings[1].body', message: 'must not be empty' },
    ]);
  });

  test('unknown arguments are refused by name, with the known ones (MEASURED: the SDK drops them)', () => {
    const error = refused(review, { room: 'r', verdict: 'comment', summary: 's', findings: [{ ...finding, lines: 3 }], verdikt: 'x' });
    expect(error.fields).toEqual([
      { field: 'findings[0].lines', message: 'unknown field; known are: path, line, start_line, side, severity, body' },
      { field: 'verdikt', message: 'unknown field; known are: room, verdict, summary, findings, references, force' },
    ]);
  });

  test.each([
    [{ start_line: 3 }, { field: 'findings[0].start_line', message: 'needs line, the last line of the range' }],
    [
      { start_line: 8, line: 7 },
      { field: 'findings[0].start_line', message: 'must not be after line, the last line of the range' },
    ],
    [
      { start_line: 0, line: 7 },
      { field: 'findings[0].start_line', message: 'must be 1 or more' },
    ],
    [
      { start_line: 'three', line: 7 },
      { field: 'findings[0].start_line', message: 'must be a number, not a string' },
    ],
  ])('the range %j is refused, in a review and in a draft, beside whatever else is wrong', (range, wrong) => {
    const { line: _, ...whole } = finding;
    const bad = [{ ...whole, ...range, body: '' }];
    const fields = [wrong, { field: 'findings[0].body', message: 'must not be empty' }];
    const byField = (one: { field: string }, other: { field: string }) => one.field.localeCompare(other.field);
    const draft = z.strictObject(draftFields);
    for (const error of [
      refused(review, { room: 'r', verdict: 'comment', summary: 's', findings: bad }),
      refused(draft, { verdict: 'comment', body: 'b', findings: bad }),
    ])
      expect([...error.fields].sort(byField)).toEqual([...fields].sort(byField));
  });

  test('a range is taken, also one of one line', () => {
    for (const range of [
      { start_line: 3, line: 7 },
      { start_line: '3', line: 3 },
    ])
      expect(check(findings, [{ ...finding, ...range }])).toEqual([{ ...finding, ...range, start_line: 3 }]);
  });

  test.each(['/etc/passwd', '../x', 'a/../b', 'a//b', './a', 'a/', '', 'a\0b', 'a\ud800b'])('F4: the path %j is refused', (path) => {
    expect(refused(z.strictObject({ path: repositoryPath('p') }), { path }).field).toBe('path');
  });

  test.each(['a b.ts', '-x', 'ä/"q".ts', '..a/b..', 'a\\b'])('F4: the odd path %j is a path', (path) => {
    expect(check(z.strictObject({ path: repositoryPath('p') }), { path })).toEqual({ path });
  });

  test('too many findings, a body that is too long, and a line that is no whole number', () => {
    const many = refused(review, { room: 'r', verdict: 'comment', summary: 's', findings: Array.from({ length: 201 }, () => finding) });
    expect(many.fields).toEqual([{ field: 'findings', message: 'has more than 200 entries' }]);
    const long = refused(review, {
      room: 'r',
      verdict: 'comment',
      summary: 's',
      findings: [{ ...finding, body: 'x'.repeat(10_001), line: 1.5 }],
    });
    expect(long.fields).toEqual([
      { field: 'findings[0].line', message: 'must be a whole number, not a number' },
      { field: 'findings[0].body', message: 'has more than 10000 characters' },
    ]);
  });

  test('S3: a finding is referenced once', () => {
    const twice = [1, 2].map(() => ({ finding_id: 'f1', stance: 'agree' }));
    expect(refused(z.strictObject({ references }), { references: twice }).fields).toEqual([
      { field: 'references', message: 'names a finding more than once' },
    ]);
  });

  test('a refusal of thousands of wrong fields stays short, and holds nothing of what was sent', () => {
    const error = refused(z.strictObject(draftFields), {
      verdict: 'comment',
      body: 'b',
      findings: Array.from({ length: 1_000 }, () => ({ ...finding, severity: 'sEcReT' })),
    });
    expect(error.message.length).toBeLessThan(10_000);
    expect(error.message).not.toContain('sEcReT');
    expect(error.message).toMatch(/and 960 more\.$/);
  });

  test('names like __proto__ are refused like any other', () => {
    const error = refused(
      review,
      JSON.parse('{"room":"r","verdict":"comment","summary":"s","findings":[],"__proto__":{"x":1},"constructor":1}'),
    );
    expect(error.fields.map(({ field }) => field)).toContain('constructor');
    expect(error.fields.map(({ field }) => field)).toContain('__proto__');
  });
});

test('B26: durations are whole ISO 8601 seconds and reach the room in milliseconds', () => {
  const taken = check(durations, { idle_close: 'PT30M', head_poll: 'PT2S', fixes_not_pushed: 'P1D' });
  expect(toDurations(taken)).toEqual({ idleClose: 1_800_000, headPoll: 2_000, fixesNotPushed: 86_400_000 });
  const error = refused(durations, { idle_close: '30', head_poll: 'PT0.5S', round_cap: 'PT0S', working_window: '-PT5M', nap: 'PT1S' });
  expect(error.fields.map(({ field }) => field).sort()).toEqual(['head_poll', 'idle_close', 'nap', 'round_cap', 'working_window']);
});

test('R3: roles are named by participant, from the closed list', () => {
  expect(check(z.strictObject({ roles }), { roles: { ag_1: '["lead"]', us_2: [] } })).toEqual({ roles: { ag_1: ['lead'], us_2: [] } });
  expect(refused(z.strictObject({ roles }), { roles: { ag_1: ['boss'] } }).field).toBe('roles.ag_1[0]');
  expect(refused(z.strictObject({ roles }), { roles: {} }).field).toBe('roles');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editOf, placeOf, textOf } from '../../cli/draft/text.js';
import type { WireDraft } from '../../mcp-server/views/draft.js';
import { SEVERITIES, VERDICTS } from '../../workflows/room/words.js';

type Finding = WireDraft['findings'][number];

const finding = (more: Partial<Finding> = {}): Finding => ({
  path: 'src/a.ts',
  line: 6,
  start_line: 4,
  side: 'new',
  severity: 'major',
  body: 'Why?',
  raised_by: ['ag_1'],
  agreed_by: [],
  disputed_by: [],
  finding_ids: ['f1'],
  ...more,
});

const draft = (more: Partial<WireDraft> = {}): WireDraft => ({
  round: 1,
  head_sha: 'a'.repeat(40),
  verdict: 'comment',
  body: 'Nearly there.',
  findings: [finding()],
  standing: [],
  coverage: [],
  declined: [],
  drafted_by: 'ag_1',
  drafted_by_name: '@ana',
  drafted_at: '2026-01-01T00:00:00.000Z',
  assembled: false,
  notice: null,
  stale: false,
  edited: false,
  version: 3,
  status: 'draft',
  failure: null,
  posted_at: null,
  url: null,
  unplaced: [],
  ...more,
});

const whatIsIn = ({ version, verdict, body, findings }: WireDraft) => ({ version, verdict, body, findings });

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('%% verdict: approve', '%%% x', '\\%% y', '\\\\%%', '', '  ', 'word', '\r', '{'), { maxLength: 6 })
    .map((lines) => lines.join('\n')),
);
const lines = fc.oneof(
  fc.constant({}),
  fc.nat(99).map((line) => ({ line: line + 1 })),
  fc.tuple(fc.nat(99), fc.nat(9)).map(([start, more]) => ({ start_line: start + 1, line: start + 1 + more })),
);
const anyFinding = fc
  .tuple(
    fc.constantFrom('a.ts', 'a b/c.ts', 'odd:7', 'old x', ' a', 'two\nlines', 'u\u2028'),
    lines,
    fc.constantFrom('new' as const, 'old' as const),
    fc.constantFrom(...SEVERITIES),
    text,
  )
  .map(([path, place, side, severity, body]): Finding => {
    const { line: _line, start_line: _start, ...rest } = finding({ path, side, severity, body });
    return { ...rest, ...place };
  });
const anyDraft = fc
  .tuple(fc.constantFrom(...VERDICTS), text, fc.array(anyFinding, { maxLength: 4 }), fc.nat(99))
  .map(([verdict, body, findings, version]) => draft({ verdict, body, findings, version }));

test('D4: a draft that nobody touched is read back to the letter, whatever stands in it and however the editor ends its lines', () => {
  fc.assert(
    fc.property(anyDraft, fc.boolean(), (one, isWindows) => {
      const written = textOf('a-1', one);
      expect(editOf(isWindows ? written.replaceAll('\n', '\r\n') : written, one)).toEqual(whatIsIn(one));
    }),
  );
});

test('D4: verdict, body, severity and place are changed where they stand; who raised a finding stays with it', () => {
  const one = draft({ findings: [finding(), finding({ path: 'b.ts', body: 'B', finding_ids: ['f2'] })] });
  const edited = textOf('a-1', one)
    .replace('verdict: comment', 'verdict: approve')
    .replace('Nearly there.', 'Done.\n\nThank you.')
    .replace('finding 2: major b.ts:4-6', 'finding 2: nit old b.ts:9');
  expect(editOf(edited, one)).toEqual({
    version: 3,
    verdict: 'approve',
    body: 'Done.\n\nThank you.',
    findings: [finding(), { ...without(finding({ path: 'b.ts', body: 'B', finding_ids: ['f2'] })), line: 9, side: 'old', severity: 'nit' }],
  });
});

const without = ({ start_line: _, ...rest }: Finding) => rest;

test('D4: a finding is left out with its line, a new one is added, and their order is free', () => {
  const one = draft({ findings: [finding({ body: 'A' }), finding({ body: 'B' }), finding({ body: 'C' })] });
  const [top, first, , third] = textOf('a-1', one).split(/^(?=%% finding)/m);
  const edited = [top, third, '%% finding new: minor c d.ts\nNew.\n', first].join('');
  expect(editOf(edited, one).findings).toEqual([
    finding({ body: 'C' }),
    { path: 'c d.ts', side: 'new', severity: 'minor', body: 'New.' },
    finding({ body: 'A' }),
  ]);
});

test.each([
  [
    'a line of ours that is none',
    '%% verdict: comment',
    '%% verdikt: comment',
    'Line 5 of the text cannot be read: begin it with \\%% if it is your own text.',
  ],
  ['a verdict that is none', 'verdict: comment', 'verdict: fine', 'The verdict must be one of approve, comment, request_changes.'],
  [
    'no verdict',
    '%% verdict: comment',
    '',
    'Line 6 of the text cannot be read: a text stands below the line %% verdict: or a line %% finding.',
  ],
  [
    'a severity that is none',
    'finding 1: major',
    'finding 1: bad',
    'Line 8 of the text cannot be read: it is %% finding NUMBER: SEVERITY PLACE',
  ],
  [
    'a finding that is not there',
    'finding 1:',
    'finding 2:',
    'Line 8 of the text cannot be read: the draft has no finding 2; a new one is called new.',
  ],
  ['one that is there twice', 'Why?', 'Why?\n%% finding 1: nit a.ts\nX', 'Finding 1 stands there twice.'],
  ['another version', 'version: 3', 'version: 2', 'The draft has changed: it is version 3, and this text is of 2. Edit it anew.'],
  ['no version', '%% version: 3', '', 'There must be one line %% version: in the text.'],
])('%s is named with what to do', (_, from, to, says) => {
  expect(() => editOf(textOf('a-1', draft()).replace(from, to), draft())).toThrow(says);
});

test('a place says its side, its range, its line or the file alone', () => {
  expect(placeOf(finding())).toBe('src/a.ts:4-6');
  expect(placeOf(without(finding({ side: 'old' })))).toBe('old src/a.ts:6');
  expect(placeOf({ path: 'a.ts', side: 'new' })).toBe('a.ts');
});

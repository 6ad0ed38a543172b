import { describe, expect, test } from 'vitest';
import { finished } from '../../activities/markdown.js';
import { BESIDE_LIMIT, postedReview, type ToPost } from '../../activities/posted-body.js';
import type { Place } from '../../activities/context/places.js';
import { recordsOf } from '../../workflows/room/record.js';
import { aRoom, type DraftInput, type TestRoom } from '../support/room.js';

const drafted = (input: DraftInput) =>
  aRoom()
    .join('ana', 'grok', 'codex')
    .open('ana')
    .submit('ana', { findings: [{ severity: 'blocker', body: 'it falls\nover' }] })
    .submit('grok', { findings: [{ severity: 'nit', path: 'b.ts', line: null, body: 'a name' }] })
    .decline('codex', 'on leave')
    .close('ana')
    .draft('ana', input)
    .startPosting();

/** Each finding where it wants to be: at its lines, or at its file. */
const wished = (room: TestRoom): Place[] =>
  room.state.draft!.findings.map(({ path, line, startLine, side }) =>
    line === null ? { at: 'file', path } : { at: 'lines', path, line, ...(startLine !== undefined && { startLine }), side },
  );

const post = (room: TestRoom, more: Partial<ToPost> = {}) =>
  postedReview({
    state: room.state,
    records: recordsOf(room.records),
    draft: room.state.draft!,
    text: room.text,
    coverage: ['@ana read all 2 files through Barista', '@grok did not read through Barista'],
    places: wished(room),
    limit: 60_000,
    ...more,
  });

test('D4, D7, G1: one body with the standing, who read what and who declined, and a comment a line', () => {
  const room = drafted({
    verdict: 'request_changes',
    body: 'Two things.',
    findings: [
      { line: 10, severity: 'blocker', body: 'it falls over', raisedBy: ['ag_ana'], agreedBy: ['ag_grok'] },
      { path: 'far.ts', line: 99, severity: 'minor', body: 'first line\nsecond', disputedBy: ['ag_grok'] },
      { path: 'b.ts', line: null, severity: 'nit', body: 'a name' },
    ],
  });
  const [first] = wished(room);
  const review = post(room, { places: [first!, { at: 'body' }, { at: 'body' }] });
  expect(review).toMatchObject({ verdict: 'request_changes', unplaced: [1, 2], cut: 0 });
  expect(review.fileComments).toEqual([]);
  expect(review.comments).toEqual([
    { path: 'src/a.ts', line: 10, side: 'new', body: '**blocker** it falls over\n\n_raised by `@ana`; agreed by `@grok`_' },
  ]);
  expect(review.body).toMatchInlineSnapshot(`
    "**Verdict: request changes**

    Two things.

    ### Findings without a place in the diff

    - \`far.ts:99\`: **minor** first line
      second
      
      _disputed by \`@grok\`_
    - \`b.ts\`: **nit** a name

    ### Standing of the findings

    - **needs a fix** \`src/a.ts:10\` (blocker, raised by \`@ana\`): it falls over
    - **nit** \`b.ts\` (nit, raised by \`@grok\`): a name

    ### Reviewers

    - \`@ana\` read all 2 files through Barista
    - \`@grok\` did not read through Barista
    - \`@codex\` declined: on leave"
  `);
});

test('B20: the notice of an assembled draft is never posted', () => {
  const room = drafted({});
  expect(post(room, { draft: { ...room.state.draft!, assembled: true } }).body).not.toContain('assembled');
});

test('D7: what stood at the posting is posted, whatever the findings are since', () => {
  const room = drafted({});
  room.resolve('ana', 'f1', 'withdrawn').resolve('grok', 'f2', 'fixed').push('b2').open('ana');
  expect(post(room).body).toContain('**needs a fix** `src/a.ts:10` (blocker, raised by `@ana`): it falls over');
  expect(post(room.delete('grok')).body).toContain('**nit**: a finding of a deleted agent');
});

test('nobody is called on the forge by a name of the room, nor everybody; whom else the drafter means is left alone', () => {
  const findings = [{ line: 10, body: '@codex is right, @grok is not' }];
  const review = post(drafted({ body: 'Thanks @octocat, says @ana to @all', findings }));
  expect(review.body).toContain('Thanks @octocat, says `@ana` to `@all`');
  expect(review.body.replace('@octocat', '')).not.toMatch(/(?<!`)@/);
  expect(review.comments[0]!.body).toContain('`@codex` is right, `@grok` is not');
});

test('D7: what a finding has in HTML folds nothing of the standing below it', () => {
  const room = drafted({ findings: [] });
  const folded = `<details>\n<summary>Why</summary>\n${'x '.repeat(200)}</details>`;
  const { body } = post(room, { text: (id) => (id === room.state.findings[0]!.body ? folded : room.text(id)) });
  expect(body).toContain('(blocker, raised by `@ana`): &lt;details> &lt;summary>Why');
  expect(finished(body)).toBe(body);
});

test('D7: however a text ends its lines, what it leaves open is closed', () => {
  const { body } = post(drafted({ body: 'Fine.\r```ts\rconst a = 1;\r\n<details>' }));
  expect(body).toContain('Fine.\n```ts\nconst a = 1;\n<details>\n```\n\n### Standing');
});

test('D9: a body over the limit is trimmed by priority, blockers last, and says how much', () => {
  const severities = ['nit', 'minor', 'major', 'blocker'] as const;
  const input = (size: number): DraftInput => ({
    body: `BODY${'b'.repeat(1_000)}`,
    findings: severities.map((severity) => ({ line: null, severity, body: `${severity.toUpperCase()}-REMARK ${'x'.repeat(size)}` })),
  });
  const nowhere = severities.map((): Place => ({ at: 'body' }));
  const has = (body: string) => severities.filter((severity) => body.includes(`${severity.toUpperCase()}-REMARK`));

  for (const limit of [6_000, 5_000, 4_000, 3_000, 2_000, 1_500]) {
    const { body, cut } = post(drafted(input(1_000)), { limit, places: nowhere });
    expect(body.length).toBeLessThanOrEqual(limit);
    // Whatever is there, everything graver is there too.
    expect(has(body)).toEqual(severities.slice(severities.length - has(body).length));
    expect(has(body)).toContain('blocker');
    expect(cut > 0).toBe(body.includes('_Cut to the length'));
  }
  expect(has(post(drafted(input(1_000)), { limit: 6_000, places: nowhere }).body)).toEqual(severities);
  const { body, cut } = post(drafted(input(1_000)), { limit: 4_000, places: nowhere });
  expect(body).toContain(`_Cut to the length that can be posted: ${cut} characters`);
  expect(body).not.toContain('NIT-REMARK');
});

test("D9: a blocker longer than the whole body is cut, not left out, and a line's comment fits too", () => {
  const room = drafted({ body: 'b', findings: [{ severity: 'blocker', body: `GRAVE ${'\u{1F600}'.repeat(5_000)}` }] });
  const inBody = post(room, { limit: 3_000, places: [{ at: 'body' }] });
  expect(inBody.body.length).toBeLessThanOrEqual(3_000);
  expect(inBody.body).toContain('GRAVE');
  expect(inBody.body).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  const [comment] = post(room, { limit: 3_000 }).comments;
  expect(comment!.body.length).toBeLessThanOrEqual(3_000);
  expect(comment!.body).toMatch(/ \[…\]$/);
});

describe('D4: each finding stands in one place', () => {
  const everywhere = (review: ReturnType<typeof post>) => [
    review.body,
    ...review.comments.map(({ body }) => body),
    ...review.fileComments.map(({ body }) => body),
  ];

  test('at its lines, beside its file, or in the body', () => {
    const room = drafted({
      findings: [
        { line: 10, body: 'AT-A-LINE' },
        { startLine: 3, line: 7, body: 'AT-A-RANGE' },
        { line: null, body: 'ON-A-FILE' },
        { path: 'far.ts', startLine: 3, line: 7, side: 'old', body: 'NOWHERE' },
      ],
    });
    const review = post(room, { places: [...wished(room).slice(0, 3), { at: 'body' }] });
    expect(review.comments).toMatchObject([
      { path: 'src/a.ts', line: 10, body: '**major** AT-A-LINE' },
      { path: 'src/a.ts', startLine: 3, line: 7, body: '**major** AT-A-RANGE' },
    ]);
    expect(review.fileComments).toEqual([{ path: 'src/a.ts', body: '**major** ON-A-FILE' }]);
    expect(review.unplaced).toEqual([3]);
    expect(review.body).toContain('### Findings without a place in the diff\n\n- `far.ts:3-7` (old): **major** NOWHERE');
    for (const finding of ['AT-A-LINE', 'AT-A-RANGE', 'ON-A-FILE', 'NOWHERE'])
      expect(everywhere(review).filter((text) => text.includes(finding))).toHaveLength(1);
  });

  test('D9: a range of which only the last line has a place says which lines it is about', () => {
    const room = drafted({
      findings: [
        { startLine: 3, line: 7, body: 'first' },
        { startLine: 3, line: 7, side: 'old', body: 'second' },
      ],
    });
    const at = (side: 'new' | 'old'): Place => ({ at: 'lines', path: 'src/a.ts', line: 7, side });
    expect(post(room, { places: [at('new'), at('old')] }).comments.map(({ body }) => body)).toEqual([
      '**major** (lines 3-7) first',
      '**major** (lines 3-7 of the old file) second',
    ]);
  });

  test('D9: what it suggests for a range is offered for no other lines', () => {
    const suggested = '```suggestion\nall of it\n```';
    const room = drafted({ findings: [{ startLine: 3, line: 7, body: suggested }] });
    const at = (startLine?: number): Place => ({ at: 'lines', path: 'src/a.ts', line: 7, ...(startLine && { startLine }), side: 'new' });
    expect(post(room, { places: [at(3)] }).comments[0]!.body).toContain(suggested);
    expect(post(room, { places: [at()] }).comments[0]!.body).toContain('(lines 3-7)\n\n```\nall of it\n```');
  });

  test('D9: what the forge refuses of it moves into the body, and nothing else does', () => {
    const room = drafted({
      findings: [
        { line: 1, body: 'KEPT' },
        { line: 2, body: 'REFUSED' },
        { line: null, body: 'FILE' },
      ],
    });
    const review = post(room);
    const body = review.bodyWithout(new Set([1, 2]));
    expect(body).toContain('### Findings without a place in the diff\n\n- `src/a.ts:2`: **major** REFUSED\n- `src/a.ts`: **major** FILE');
    expect(body).not.toContain('KEPT');
    expect(review.bodyWithout(new Set())).toBe(review.body);
  });
});

describe('D9: with very many findings the gravest stand beside the diff, and the body says so', () => {
  const severities = ['nit', 'minor', 'major', 'blocker'] as const;
  const many = (count: number): DraftInput => ({
    findings: Array.from({ length: count }, (_, index) => ({
      line: index % 5 === 0 ? null : index,
      severity: severities[index % 4]!,
      body: `NUMBER-${index}.`,
    })),
  });

  test('blockers first, then in the order of the draft', () => {
    const room = drafted(many(60));
    const review = post(room);
    const beside = [...review.comments, ...review.fileComments].map(({ body }) => body);
    expect(beside).toHaveLength(BESIDE_LIMIT);
    const wanted = ['blocker', 'major', 'minor'].flatMap((severity) =>
      room.state.draft!.findings.flatMap((finding, index) => (finding.severity === severity ? [`**${severity}** NUMBER-${index}.`] : [])),
    );
    expect([...beside].sort()).toEqual(wanted.slice(0, BESIDE_LIMIT).sort());
    expect(review.comments.map(({ body }) => body)).toEqual(
      wanted.slice(0, BESIDE_LIMIT).filter((text) => review.comments.some(({ body }) => body === text)),
    );
    const [, further = ''] = review.body.split('### Further findings\n\n');
    expect(further).toMatch(/^_The 40 gravest stand beside the diff\._\n\n- /);
    for (let index = 0; index < 60; index++) {
      const text = `NUMBER-${index}.`;
      expect(review.body.includes(text)).toBe(!beside.some((body) => body.includes(text)));
    }
    expect(review.unplaced).toEqual([]);
  });

  test('a refused one moves into the body, and none of the rest is taken for placed instead', () => {
    const review = post(drafted(many(60)));
    const [first] = review.comments;
    const body = review.bodyWithout(new Set([0]));
    expect(body).toContain(first!.body);
    for (const { body: text } of review.comments.slice(1)) expect(body).not.toContain(text);
    expect(body.match(/NUMBER-\d+\./g)).toHaveLength(21);
  });

  test('40 are none too many', () => {
    expect(post(drafted(many(40))).body).not.toContain('Further findings');
  });

  test('over the limit of the body a blocker that the forge refused is cut last', () => {
    const room = drafted({
      body: `BODY${'b'.repeat(2_000)}`,
      findings: [
        { line: 1, severity: 'nit', body: `SMALL ${'x'.repeat(500)}` },
        { line: 2, severity: 'blocker', body: `GRAVE ${'x'.repeat(500)}` },
      ],
    });
    const body = post(room, { limit: 1_500 }).bodyWithout(new Set([0, 1]));
    expect(body).toContain('GRAVE');
    expect(body).not.toContain('SMALL');
    expect(body.length).toBeLessThanOrEqual(1_500);
  });
});

test.each(['```ts\nconst a = 1;', '<!-- only for the author', '<details>\n<summary>More</summary>', '<pre>\nas it is', '~~~~\ncode'])(
  'D7: whatever the drafter leaves open (%j), the standing below it is shown',
  (open) => {
    const { body } = post(drafted({ body: `Fine.\n\n${open}` }));
    const [before = '', after] = body.split('### Standing of the findings');
    expect(after).toContain('needs a fix');
    expect(finished(before)).toBe(before);
  },
);

test('our own lines call nobody, whatever a finding or a path has in it', () => {
  const room = drafted({ findings: [{ path: 'a`@mallory.ts\n# Title', line: 1, body: 'x' }] });
  const { body } = post(room, { places: [{ at: 'body' }] });
  expect(body).toContain('- `` a`@mallory.ts\ufffd# Title:1 ``: **major** x');
});

test.each([
  '```suggestion\nreturn 1;\n```',
  '- one\n- two',
  '> said before',
  '# Title',
  '1. first',
  '<details>\n\nlong\n\n</details>',
  '    code',
])('D9: a remark that opens with %j stands below its severity, so that who raised it is no part of it', (text) => {
  const room = drafted({ findings: [{ line: 10, severity: 'major', body: text, raisedBy: ['ag_ana'] }] });
  expect(post(room).comments[0]!.body).toBe(`**major**\n\n${text}\n\n_raised by \`@ana\`_`);
  expect(post(room, { places: [{ at: 'body' }] }).body).toContain(`- \`src/a.ts:10\`: **major**\n  \n  ${text.replaceAll('\n', '\n  ')}`);
});

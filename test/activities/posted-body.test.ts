import { expect, test } from 'vitest';
import { postedReview, type ToPost } from '../../activities/posted-body.js';
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

const post = (room: TestRoom, more: Partial<ToPost> = {}) =>
  postedReview({
    state: room.state,
    records: recordsOf(room.records),
    draft: room.state.draft!,
    text: room.text,
    coverage: ['@ana read all 2 files through Barista', '@grok did not read through Barista'],
    placed: room.state.draft!.findings.map(() => true),
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
  const review = post(room, { placed: [true, false, true] });
  expect(review).toMatchObject({ verdict: 'request_changes', unplaced: [1, 2], cut: 0 });
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

test("our own lines call nobody on the forge, and the drafter's text is left alone", () => {
  const { body } = post(drafted({ body: 'Thanks @octocat' }));
  expect(body).toContain('Thanks @octocat');
  expect(body.replace('@octocat', '')).not.toMatch(/(?<!`)@/);
});

test('D9: a body over the limit is trimmed by priority, blockers last, and says how much', () => {
  const severities = ['nit', 'minor', 'major', 'blocker'] as const;
  const input = (size: number): DraftInput => ({
    body: `BODY${'b'.repeat(1_000)}`,
    findings: severities.map((severity) => ({ line: null, severity, body: `${severity.toUpperCase()}-REMARK ${'x'.repeat(size)}` })),
  });
  const has = (body: string) => severities.filter((severity) => body.includes(`${severity.toUpperCase()}-REMARK`));

  for (const limit of [6_000, 5_000, 4_000, 3_000, 2_000, 1_500]) {
    const { body, cut } = post(drafted(input(1_000)), { limit });
    expect(body.length).toBeLessThanOrEqual(limit);
    // Whatever is there, everything graver is there too.
    expect(has(body)).toEqual(severities.slice(severities.length - has(body).length));
    expect(has(body)).toContain('blocker');
    expect(cut > 0).toBe(body.includes('_Cut to the length'));
  }
  expect(has(post(drafted(input(1_000)), { limit: 6_000 }).body)).toEqual(severities);
  const { body, cut } = post(drafted(input(1_000)), { limit: 4_000 });
  expect(body).toContain(`_Cut to the length that can be posted: ${cut} characters`);
  expect(body).not.toContain('NIT-REMARK');
});

test("D9: a blocker longer than the whole body is cut, not left out, and a line's comment fits too", () => {
  const room = drafted({ body: 'b', findings: [{ severity: 'blocker', body: `GRAVE ${'\u{1F600}'.repeat(5_000)}` }] });
  const inBody = post(room, { limit: 3_000, placed: [false] });
  expect(inBody.body.length).toBeLessThanOrEqual(3_000);
  expect(inBody.body).toContain('GRAVE');
  expect(inBody.body).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  const [comment] = post(room, { limit: 3_000 }).comments;
  expect(comment!.body.length).toBeLessThanOrEqual(3_000);
  expect(comment!.body.endsWith(' […]')).toBe(true);
});

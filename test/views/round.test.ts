import { describe, expect, test } from 'vitest';
import { roundView } from '../../mcp-server/views/round.js';
import type { Refusal } from '../../workflows/room/refusal.js';
import { aRoom, HEAD, idOf, sha } from '../support/room.js';
import { around, viewOf } from './around.js';

const crew = () => aRoom().join('ana', 'grok', 'codex');

test('V1: before round 1 there is no round, and the answer says what comes', () => {
  const view = viewOf(crew(), 'ana');
  expect(view).toMatchObject({
    round: null,
    submitted: [],
    missing: [],
    reviews: [],
    carried: [],
    draft: null,
    current_pr_head_sha: null,
    head_moved: null,
  });
  expect(view.next_steps).not.toBe('');
});

test('V1: a round says its state, who holds which role, who has submitted and who has not', () => {
  const view = viewOf(crew().open('ana').submit('grok').decline('codex', 'no time'), 'ana');
  expect(view.round).toMatchObject({
    number: 1,
    state: 'open',
    round_head_sha: HEAD,
    opened_at: '2030-01-07T12:00:00.000Z',
    closed_at: null,
  });
  expect(view.roles.lead).toEqual([{ id: 'ag_ana', name: 'ana' }]);
  expect(view.roles.reviewer.map(({ name }) => name)).toEqual(['ana', 'grok', 'codex']);
  expect(view.submitted).toEqual([{ id: 'ag_grok', name: 'grok' }]);
  expect(view.missing.map(({ name }) => name)).toEqual(['ana', 'codex']);
  expect(view.declined).toEqual([{ id: 'ag_codex', name: 'codex', reason: 'no time', until: null }]);
});

test('V1: an earlier round is shown as it was, a round that never was is not found', () => {
  const room = crew()
    .open('ana')
    .submit('ana', { findings: [{}] })
    .submit('grok')
    .submit('codex')
    .close('ana')
    .push('b2')
    .open('ana');
  const first = viewOf(room, 'grok', { round: 1 });
  expect(first.round).toMatchObject({ number: 1, state: 'closed' });
  expect(first.reviews.map((review) => review.by_name)).toEqual(['ana', 'grok', 'codex']);
  expect(first.reviews[0]!.findings.map(({ id }) => id)).toEqual(['f1']);
  expect(() => viewOf(room, 'grok', { round: 3 })).toThrow(expect.objectContaining({ code: 'not_found', field: 'round' }) as Refusal);
});

test('V2: a reviewer that has not submitted sees no other review; one that has sees them all, so does who is no reviewer', () => {
  const room = crew()
    .join('pia')
    .open('ana')
    .submit('grok', { findings: [{}] })
    .submit('ana');
  expect(viewOf(room, 'codex')).toMatchObject({ reviews: [], hidden_reviews: 2 });
  expect(viewOf(room, 'ana').reviews.map(({ by }) => by)).toEqual(['ag_grok', 'ag_ana']);
  expect(viewOf(room, 'pia').reviews).toHaveLength(2);
  expect(viewOf(room.submit('codex').close('ana'), 'codex')).toMatchObject({ hidden_reviews: 0, reviews: { length: 3 } });
});

test('V2: an owner who reviews sees no other review either before submitting', () => {
  const room = crew()
    .roles({ olga: ['reviewer'] })
    .open('ana')
    .submit('grok', { findings: [{}] });
  expect(viewOf(room, 'olga')).toMatchObject({ reviews: [], hidden_reviews: 1 });
});

describe('V2: nothing of a hidden review is in what its reader is answered', () => {
  const SECRETS = ['HIDDEN-SUMMARY', 'HIDDEN-BODY', 'HIDDEN-NOTE', 'HIDDEN-REASON', 'hidden/path.ts', '"v4"', '"f3"', '"request_changes"'];
  const hiding = (recipe: 'panel' | 'build_duel') => {
    const room = aRoom({ recipe, barista: true }).join('ana', 'grok', 'codex', 'pia', 'dora');
    room.roles({ ana: ['lead', 'reviewer'], grok: ['reviewer'], codex: ['reviewer'], dora: ['author'], olga: ['reviewer'], pia: [] });
    // Round 1: grok's f1 is rejected and upheld, ana's f2 accepted.
    room
      .open('ana')
      .submit('grok', { findings: [{ body: 'old one' }] })
      .submit('ana', { findings: [{ body: 'old two' }] })
      .submit('codex')
      .decline('olga');
    room.close('ana').answer('dora', 'f1', 'reject', 'no').answer('dora', 'f2', 'accept').push('b2').open('ana');
    // Round 2: grok submits; its agree turns f1 into a dispute, its dispute stands on f2.
    return room
      .submit('grok', {
        verdict: 'request_changes',
        summary: 'HIDDEN-SUMMARY',
        findings: [{ path: 'hidden/path.ts', body: 'HIDDEN-BODY', severity: 'blocker' }],
        references: [
          ['f1', 'agree', 'HIDDEN-NOTE'],
          ['f2', 'dispute', 'HIDDEN-NOTE 2'],
        ],
      })
      .answer('dora', 'f3', 'reject', 'HIDDEN-REASON');
  };

  for (const recipe of ['panel', 'build_duel'] as const) {
    for (const reader of ['ana', 'codex', 'olga']) {
      test(`${recipe}: @${reader}, who has not submitted`, () => {
        const room = hiding(recipe);
        expect(room.state.round!.reviews.map(({ id }) => id)).toEqual(['v4']);
        for (const query of [{}, { findings: 'open' as const }, { findings: 'mine' as const }, { page: 1, maxChars: 6_000 }]) {
          const answer = JSON.stringify(viewOf(room, reader, query));
          for (const secret of SECRETS) expect(answer).not.toContain(secret);
        }
        const view = viewOf(room, reader);
        expect(view.hidden_reviews).toBe(1);
        // Neither the agree nor the answer it would dispute shows in f1's state.
        expect(view.carried.map(({ id, state, references, needs_fix }) => ({ id, state, references, needs_fix }))).toEqual([
          { id: 'f1', state: 'rejected', references: [], needs_fix: false },
          { id: 'f2', state: 'accepted', references: [], needs_fix: false },
        ]);
        expect(view.chips).toEqual([]);
      });
    }
  }

  test('whoever may see it does, so the test above looks for the right words', () => {
    for (const recipe of ['panel', 'build_duel'] as const) {
      const own = JSON.stringify(viewOf(hiding(recipe), 'grok'));
      for (const secret of SECRETS.filter((word) => recipe === 'build_duel' || word !== 'HIDDEN-REASON')) expect(own).toContain(secret);
      const other = JSON.stringify(viewOf(hiding(recipe), 'pia'));
      expect(other).toContain('HIDDEN-BODY');
    }
  });
});

test('V2: that a hidden review is there keeps the chip `no review` away for its reader too', () => {
  const room = aRoom({ barista: true }).join('ana', 'grok').open('ana').submit('grok').after(95);
  expect(viewOf(room, 'ana').chips).toEqual([]);
});

test("V3: a reviewer that has read another's review is frozen, in the open round and after", () => {
  const room = crew().open('ana').submit('ana').submit('grok').reveal('grok');
  const frozen = () => viewOf(room, 'grok').reviews.map(({ by_name, frozen, revealed }) => ({ by_name, frozen, revealed }));
  const expected = [
    { by_name: 'ana', frozen: false, revealed: false },
    { by_name: 'grok', frozen: true, revealed: true },
  ];
  expect(frozen()).toEqual(expected);
  room.close('ana');
  expect(frozen()).toEqual(expected);
});

test("V4: head_moved compares the head with the round's commit, and is null where either is not known", () => {
  const room = crew().open('ana');
  expect(viewOf(room, 'ana')).toMatchObject({ current_pr_head_sha: HEAD, head_moved: false, head_read_at: '2030-01-07T12:00:00.000Z' });
  expect(viewOf(room.pushUnheard('b2'), 'ana')).toMatchObject({ current_pr_head_sha: sha('b2'), head_moved: true });
  expect(viewOf(room, 'ana', {}, { head: null })).toMatchObject({ current_pr_head_sha: null, head_moved: null, head_read_at: null });
  room.submit('ana').close('ana');
  expect(viewOf(room, 'ana')).toMatchObject({ current_pr_head_sha: null, head_moved: null });
  expect(viewOf(room.push('c3').open('ana'), 'ana', { round: 1 })).toMatchObject({ current_pr_head_sha: null, head_moved: null });
});

test("V5: ci of the round's commit is handed on", () => {
  const ci = { state: 'unknown', summary: 'Checks are not accepted', url: 'https://forge.example/settings' };
  expect(viewOf(crew().open('ana'), 'ana', {}, { ci }).ci).toEqual(ci);
});

test('V6: next_steps names whom the round waits for, hidden reviews counted', () => {
  const room = crew().open('ana').submit('grok').submit('ana');
  expect(viewOf(room, 'ana').next_steps).toContain('@codex');
  expect(viewOf(room, 'ana').next_steps).not.toContain('@grok');
});

test('V7: nothing is left once the draft is saved, and not before', () => {
  const room = crew().open('ana').submit('ana').submit('grok').submit('codex').close('ana');
  expect(viewOf(room, 'grok').nothing_for_you).toBe(false);
  expect(viewOf(room.draft('ana'), 'grok').nothing_for_you).toBe(true);
});

test('findings: mine and open leave out the others, and the reviews stay', () => {
  const room = aRoom({ recipe: 'build_duel' }).join('dora', 'grok', 'ana').open('ana');
  room
    .submit('grok', { findings: [{}, {}] })
    .resolve('grok', 'f1', 'withdrawn')
    .roles({ ana: ['lead', 'reviewer'] })
    .submit('ana', { findings: [{}] });
  const ids = (findings: 'all' | 'mine' | 'open') =>
    viewOf(room, 'ana', { findings }).reviews.map((review) => review.findings.map(({ id }) => id));
  expect(ids('all')).toEqual([['f1', 'f2'], ['f3']]);
  expect(ids('mine')).toEqual([[], ['f3']]);
  expect(ids('open')).toEqual([['f2'], ['f3']]);
});

test('G1: a review stands with what its reviewer was shown', () => {
  const view = viewOf(crew().open('ana').submit('ana'), 'ana');
  expect(view.reviews[0]).toMatchObject({ finding_count: 0, coverage: '@ana read 1 of 2 files through Barista; not: b.ts' });
  expect(view.coverage[0]).toMatchObject({
    participant: 'ag_ana',
    shown: 1,
    partial: 0,
    not_shown: 1,
    files: [{ path: 'b.ts', state: 'not_shown' }],
  });
});

test('R6: what a deleted agent said is in no round any more', () => {
  const room = crew()
    .open('ana')
    .submit('ana')
    .submit('grok', { findings: [{ body: 'GONE' }] })
    .submit('codex')
    .close('ana')
    .push('b2')
    .open('ana')
    .delete('grok');
  for (const round of [1, 2]) expect(JSON.stringify(viewOf(room, 'ana', { round }))).not.toMatch(/GONE|grok/);
});

describe('V9: the answer is paged like the pull request', () => {
  const long = (name: string) =>
    aRoom()
      .join('ana', 'grok')
      .open('ana')
      .submit('ana', {
        summary: 's'.repeat(3_000),
        findings: Array.from({ length: 40 }, (_, at) => ({ line: at + 1, body: `${name} "${at}" ${'x\n'.repeat(300)}` })),
      })
      .submit('grok', { summary: 'é'.repeat(10_000), findings: [{ body: `\u0001${'y'.repeat(9_999)}` }] })
      .close('ana')
      .draft('ana', {
        body: `# Review\n${'long line \u{1F600}\n'.repeat(3_000)}end`,
        findings: Array.from({ length: 30 }, (_, at) => ({ line: at + 1, findings: [`f${at + 1}`] })),
      });

  for (const maxChars of [6_000, 20_000, 48_000]) {
    test(`at ${maxChars} characters every page fits and together they are the whole`, () => {
      const room = long('n');
      const page = (number: number) => roundView(room.snapshot, idOf('grok'), { page: number, maxChars }, around(room), room.now);
      const count = page(1).page_count;
      const pages = Array.from({ length: count }, (_, at) => page(at + 1));
      for (const [at, each] of pages.entries()) {
        expect(JSON.stringify(each).length).toBeLessThanOrEqual(maxChars);
        expect(each).toMatchObject({ page: at + 1, page_count: count, last_page: at === count - 1 });
        expect(each.next_steps).toBe(pages[0]!.next_steps);
      }
      const reviews = pages.flatMap((each) => each.reviews);
      expect(reviews.filter((review) => review.continued === undefined).map(({ by }) => by)).toEqual(['ag_ana', 'ag_grok']);
      expect(reviews.flatMap((review) => review.findings).map(({ id }) => id)).toEqual(Array.from({ length: 41 }, (_, at) => `f${at + 1}`));
      const drafts = pages.flatMap((each) => each.draft ?? []);
      expect(drafts.map(({ body }) => body).join('')).toBe(viewOf(room, 'grok').draft!.body);
      expect(drafts.flatMap(({ findings }) => findings)).toHaveLength(30);
      expect(drafts.flatMap(({ standing }) => standing)).toHaveLength(41);
      expect(pages.flatMap((each) => each.coverage.flatMap(({ files }) => files))).toHaveLength(2);
    });
  }

  test('a text longer than its page says how much of it was cut', () => {
    const room = long('n');
    const page = (number: number) => roundView(room.snapshot, idOf('grok'), { page: number, maxChars: 6_000 }, around(room), room.now);
    const pages = Array.from({ length: page(1).page_count }, (_, at) => page(at + 1));
    const summary = pages.flatMap((each) => each.reviews).find((review) => review.by === 'ag_grok' && !review.continued)!.summary!;
    const [, left] = /\[cut: (\d+) more characters\]$/.exec(summary)!;
    expect(summary.indexOf('\n[cut') + Number(left)).toBe(10_000);
  });

  test('a page past the last is empty, and the last', () => {
    const room = long('n');
    const view = viewOf(room, 'grok', { page: 99, maxChars: 48_000 });
    expect(view).toMatchObject({ page: 99, last_page: true, reviews: [], carried: [], coverage: [], submitted: [] });
    expect(view).not.toHaveProperty('draft');
  });

  test('a crew that fills a page, and a finding answered again and again, still fit', () => {
    const names = Array.from({ length: 60 }, (_, at) => `reviewer-with-a-rather-long-name-${at}`);
    const room = aRoom({ recipe: 'panel' })
      .join('ana', ...names)
      .roles({ ana: ['lead', 'reviewer', 'author'] })
      .open('ana');
    room.submit('ana', { findings: [{ body: 'b'.repeat(9_000) }] }).close('ana');
    for (let at = 0; at < 40; at++) room.answer('ana', 'f1', at % 2 ? 'accept' : 'reject', `because ${at} ${'r'.repeat(500)}`);
    const view = (page: number) => roundView(room.snapshot, idOf('ana'), { page, maxChars: 6_000 }, around(room), room.now);
    const pages = Array.from({ length: view(1).page_count }, (_, at) => view(at + 1));
    for (const page of pages) expect(JSON.stringify(page).length).toBeLessThanOrEqual(6_000);
    expect(pages.flatMap((page) => page.missing)).toHaveLength(60);
    const [finding] = pages.flatMap((page) => page.reviews.flatMap((review) => review.findings));
    expect(finding!.answers.at(-1)!.reason).toContain('because 39');
    expect(finding).toMatchObject({ left_out: 40 - finding!.answers.length });
  });

  test('a posted draft whose findings had no place on long paths still fits', () => {
    const findings = Array.from({ length: 12 }, (_, at) => ({ path: `${'folder/'.repeat(200)}${at}.ts`, line: 1 }));
    const room = aRoom().join('ana').open('ana').submit('ana').close('ana').draft('ana', { findings });
    room.post(
      'https://forge.example/r/1',
      findings.map((_, at) => at),
    );
    for (const maxChars of [6_000, 48_000]) {
      const view = (page: number) => roundView(room.snapshot, idOf('ana'), { page, maxChars }, around(room), room.now);
      const pages = Array.from({ length: view(1).page_count }, (_, at) => view(at + 1));
      for (const page of pages) expect(JSON.stringify(page).length).toBeLessThanOrEqual(maxChars);
      expect(pages.flatMap((page) => page.draft?.findings ?? [])).toHaveLength(12);
    }
  });
});

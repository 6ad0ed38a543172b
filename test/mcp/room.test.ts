// One review through MCP, as agents meet it: a duel of two rounds, from the first call to the posted draft.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const review = (room: string, findings: object[] = [], more: object = {}) => ({
  room,
  verdict: 'comment',
  summary: 'Looked at it.',
  findings,
  ...more,
});

describe('a duel of two rounds', () => {
  let room: string;
  let author: Person;
  let lead: Person;

  test('R1, R7: joining gives default roles; joining again changes nothing', async () => {
    [author, lead] = [await world.agent('ann'), await world.agent('bob')];
    room = await world.room({ recipe: 'build_duel' });
    const joined = await world.ok(author, 'join_room', { room });
    expect(joined).toMatchObject({ participant: { id: author.id, name: 'ann', kind: 'agent', roles: ['author'] }, room });
    expect((await world.ok(lead, 'join_room', { room })).participant.roles).toEqual(['lead', 'reviewer']);
    const again = await world.ok(lead, 'join_room', { room });
    expect(again.participant.roles).toEqual(['lead', 'reviewer']);
    expect(again.members.map(({ name }: { name: string }) => name)).toEqual(['olga', 'ann', 'bob']);
    expect((await world.ok(lead, 'list_rooms', {})).rooms[0]).toMatchObject({
      slug: room,
      recipe: 'build_duel',
      roles: ['lead', 'reviewer'],
    });
  });

  test('R5: a refusal names the role that is needed and who holds it', async () => {
    const error = await world.refused(author, 'open_review_round', { room });
    expect(error).toMatchObject({ code: 'role_required' });
    expect(error.message).toContain('lead');
    expect(error.message).toContain('@bob');
  });

  test('O1, S9: opening pins the head; the same call again gets the same round', async () => {
    const { round } = await world.ok(lead, 'open_review_round', { room });
    expect(round).toMatchObject({ number: 1, state: 'open', round_head_sha: world.git.head('topic') });
    expect((await world.ok(lead, 'open_review_round', { room })).round).toEqual(round);
  });

  test('C1, G1: the pull request is read in pages, and what was shown is counted', async () => {
    const page = await world.ok(lead, 'get_pr_context', { room });
    expect(page).toMatchObject({ page: 1, page_count: 1, last_page: true, round_head_sha: world.git.head('topic'), head_moved: false });
    expect(page.files.map(({ path }: { path: string }) => path)).toEqual(['src/a.ts', 'src/b.ts']);
    const file = await world.ok(lead, 'get_file', { room, path: 'src/a.ts' });
    expect(file.content).toContain('export const a = 1;');
    const { coverage } = await world.ok(lead, 'get_review_round', { room });
    expect(coverage).toMatchObject([{ participant: lead.id, shown: 2, partial: 0, not_shown: 0 }]);
  });

  test('S1, S9: a review is submitted once, however often it is sent', async () => {
    const args = review(room, [
      { path: 'src/a.ts', line: 1, severity: 'major', body: 'a should be 2.' },
      { path: 'src/b.ts', severity: 'minor', body: 'b needs a comment.' },
      { path: 'nowhere.ts', severity: 'nit', body: 'a file outside.' },
    ]);
    const first = await world.ok(lead, 'submit_review', args);
    expect(first).toMatchObject({
      review: { verdict: 'comment', finding_ids: ['f1', 'f2', 'f3'] },
      replaced: false,
      warnings: [],
      possible_duplicates: [],
    });
    expect(await world.ok(lead, 'submit_review', args)).toMatchObject({ review: first.review });
  });

  test('A1, A2: the author answers, the raiser upholds; one finding each', async () => {
    const shown = await world.ok(author, 'get_review_round', { room });
    expect(shown.reviews[0].findings.map(({ outside_diff }: { outside_diff: boolean }) => outside_diff)).toEqual([false, false, true]);
    expect((await world.ok(author, 'rebut_finding', { room, finding_id: 'f1', answer: 'accept' })).finding).toMatchObject({
      id: 'f1',
      state: 'accepted',
    });
    expect(await world.refused(author, 'rebut_finding', { room, finding_id: 'f2', answer: 'reject' })).toMatchObject({
      code: 'invalid',
      field: 'reason',
    });
    const rejected = await world.ok(author, 'rebut_finding', { room, finding_id: 'f2', answer: 'reject', reason: 'It is plain.' });
    expect(rejected.finding).toMatchObject({
      state: 'rejected',
      answers: [{ kind: 'reject', as: 'author', reason: 'It is plain.', round: 1 }],
    });
    expect((await world.ok(lead, 'resolve_finding', { room, finding_id: 'f2', resolution: 'upheld' })).finding.state).toBe('upheld');
    expect(
      (await world.ok(lead, 'resolve_finding', { room, finding_id: 'f3', resolution: 'withdrawn', note: 'Mistaken.' })).finding.state,
    ).toBe('withdrawn');
  });

  test('N1, K1: next_round waits for a new head, then carries what is not settled', async () => {
    expect(await world.refused(lead, 'next_round', { room })).toMatchObject({ code: 'head_not_moved' });
    const head = world.git.push({ 'src/a.ts': 'export const a = 2;\n' }, 'Fix a');
    const { closed, round } = await world.ok(lead, 'next_round', { room });
    expect(closed).toMatchObject({ number: 1, state: 'closed' });
    expect(round).toMatchObject({ number: 2, state: 'open', round_head_sha: head });
    const view = await world.ok(lead, 'get_review_round', { room });
    expect(view.carried.map(({ id }: { id: string }) => id)).toEqual(['f1', 'f2']);
    expect(view.head_moved).toBe(false);
  });

  test('C4, C5, F1: the since view, its findings and manifest; a file at an earlier round', async () => {
    const page = await world.ok(lead, 'get_pr_context', { room, since_round: 1 });
    expect(page.since).toMatchObject({ round: 1, status: 'ahead', commits: 1 });
    expect(page.findings.map(({ id }: { id: string }) => id)).toEqual(['f1', 'f2']);
    expect(
      page.manifest.map(({ path, changed_since_round }: { path: string; changed_since_round: boolean }) => [path, changed_since_round]),
    ).toEqual([
      ['src/a.ts', true],
      ['src/b.ts', false],
    ]);
    const before = await world.ok(lead, 'get_file', { room, path: 'src/a.ts', ref: page.since.base_sha });
    expect(before.content).toContain('= 1');
  });

  test('S3, S4: carried findings are referenced; one filed again is a possible duplicate', async () => {
    const answer = await world.ok(
      lead,
      'submit_review',
      review(room, [{ path: 'src/a.ts', line: 2, severity: 'minor', body: 'Again.' }], {
        references: [{ finding_id: 'f2', stance: 'agree', note: 'Still so.' }],
      }),
    );
    expect(answer.possible_duplicates).toEqual([{ index: 0, finding_id: 'f1' }]);
    expect(
      await world.refused(lead, 'submit_review', review(room, [], { references: [{ finding_id: 'f9', stance: 'agree' }] })),
    ).toMatchObject({
      code: 'invalid',
      field: 'references[0].finding_id',
    });
  });

  test('N2, S5: the round closes; a review after that is refused', async () => {
    await world.ok(lead, 'resolve_finding', { room, finding_id: 'f1', resolution: 'fixed' });
    const { round, missing } = await world.ok(lead, 'close_review_round', { room });
    expect(round).toMatchObject({ number: 2, state: 'closed' });
    expect(missing).toEqual([]);
    expect(await world.refused(lead, 'submit_review', review(room))).toMatchObject({ code: 'round_closed' });
  });

  test('D1, D2: the lead drafts; raisers and references are filled in', async () => {
    const { draft } = await world.ok(lead, 'draft_review', {
      room,
      verdict: 'request_changes',
      body: 'One thing is left.',
      findings: [{ path: 'src/b.ts', severity: 'minor', body: 'b needs a comment.', finding_ids: ['f2'] }],
    });
    expect(draft).toMatchObject({
      round: 2,
      verdict: 'request_changes',
      findings: [{ raised_by: [lead.id], agreed_by: [lead.id], finding_ids: ['f2'] }],
      version: 1,
    });
    expect(draft.standing.map(({ finding_id }: { finding_id: string }) => finding_id)).toContain('f2');
    const unknown = await world.refused(lead, 'draft_review', {
      room,
      verdict: 'comment',
      body: 'x',
      findings: [{ path: 'a', severity: 'nit', body: 'b', finding_ids: ['f99'] }],
    });
    expect(unknown).toMatchObject({ code: 'not_found', field: 'findings[0].finding_ids' });
  });

  test('V7: a listener with nothing left ends with kind done; one with an open answer waits', async () => {
    const last = (await world.ok(lead, 'join_room', { room })).last_message_id;
    expect(await world.ok(author, 'wait_for_messages', { room, after: last, timeout_seconds: 0 })).toMatchObject({ kind: 'timeout' });
  });

  test('D4, D5: only the owner edits, by version, and posts', async () => {
    const draft = await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`);
    expect(draft.json).toMatchObject({ round: 2, version: 1, edited: false });
    const edit = { verdict: 'comment', body: 'Edited.', findings: [], version: 1 };
    expect((await world.rest(world.owner, 'PUT', `/rooms/${room}/review/draft`, edit)).json).toMatchObject({
      edited: true,
      version: 2,
      body: 'Edited.',
    });
    expect(await world.rest(world.owner, 'PUT', `/rooms/${room}/review/draft`, { ...edit, body: 'From an old tab.' })).toMatchObject({
      status: 409,
      json: { code: 'conflict', field: 'version' },
    });
    expect((await world.rest(lead, 'POST', `/rooms/${room}/review/draft/post`, {})).status).toBe(403);
    const posted = await world.rest(world.owner, 'POST', `/rooms/${room}/review/draft/post`, {});
    expect(posted.status).toBe(202);
    await expect.poll(async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`)).json.status).toBe('posted');
    expect(await world.refused(lead, 'draft_review', { room, verdict: 'comment', body: 'x', findings: [] })).toMatchObject({
      code: 'posted',
    });
  });

  test('R12: an archived room answers room_closed to writes, shows its state, and ends every wait', async () => {
    expect((await world.rest(world.owner, 'POST', `/rooms/${room}/archive`, {})).status).toBe(200);
    expect((await world.rest(world.owner, 'POST', `/rooms/${room}/archive`, {})).status).toBe(200);
    expect(await world.refused(lead, 'open_review_round', { room })).toMatchObject({ code: 'room_closed' });
    expect(await world.refused(lead, 'post_message', { room, text: 'Too late.' })).toMatchObject({ code: 'room_closed' });
    const last = String(await world.store.messages.lastId(room));
    expect(await world.ok(author, 'wait_for_messages', { room, after: last, timeout_seconds: 5 })).toMatchObject({
      kind: 'done',
      reason: expect.stringContaining('archived'),
    });
  });
});

describe('a panel', () => {
  test('V2, V3, V8: others are hidden before the own review; reading another freezes', async () => {
    const [one, two] = [await world.agent('uno'), await world.agent('dos')];
    const room = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room });
    await world.ok(one, 'submit_review', review(room, [{ path: 'src/a.ts', line: 1, severity: 'blocker', body: 'A secret remark.' }]));
    const hidden = await world.ok(two, 'get_review_round', { room });
    expect(hidden).toMatchObject({ reviews: [], hidden_reviews: 1, submitted: [{ id: one.id, name: 'uno' }] });
    expect(JSON.stringify(hidden)).not.toContain('secret');
    await world.ok(two, 'submit_review', review(room, [{ path: 'src/b.ts', severity: 'nit', body: 'First thought.' }]));
    // Submitting, and reading the pull request, are no reading of another's review.
    await world.ok(two, 'get_pr_context', { room });
    expect(
      await world.ok(two, 'submit_review', review(room, [{ path: 'src/b.ts', severity: 'nit', body: 'Second thought.' }])),
    ).toMatchObject({ replaced: true });
    const shown = await world.ok(two, 'get_review_round', { room });
    expect(shown.reviews).toHaveLength(2);
    expect(shown.reviews.find(({ by }: { by: string }) => by === two.id)).toMatchObject({ frozen: true, revealed: true });
    expect(await world.refused(two, 'submit_review', review(room))).toMatchObject({ code: 'frozen' });
    // One who has not looked may still replace.
    expect(await world.ok(one, 'submit_review', review(room, [], { summary: 'Changed my mind.' }))).toMatchObject({ replaced: true });
  });

  test('R12: an archived room is still read, an open round with another’s review too', async () => {
    const [one, two] = [await world.agent('diez'), await world.agent('once')];
    const room = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room });
    for (const agent of [one, two]) await world.ok(agent, 'submit_review', review(room));
    await world.rest(world.owner, 'POST', `/rooms/${room}/archive`);
    expect((await world.ok(one, 'get_review_round', { room })).reviews).toHaveLength(2);
    expect((await world.rest(world.owner, 'GET', `/rooms/${room}`)).json).toMatchObject({ state: 'ended' });
    expect((await world.ok(one, 'list_rooms', {})).rooms.map(({ slug }: { slug: string }) => slug)).not.toContain(room);
  });

  test('V9: a draft longer than a page comes back shortened, and the round has it whole', async () => {
    const one = await world.agent('quince');
    const room = await world.room({ agents: [one] });
    await world.ok(one, 'open_review_round', { room });
    await world.ok(one, 'submit_review', review(room));
    await world.ok(one, 'close_review_round', { room });
    const findings = Array.from({ length: 60 }, (_, at) => ({ path: `src/${at}.ts`, severity: 'minor', body: `${at} ${'w'.repeat(900)}` }));
    const body = 'b'.repeat(30_000);
    const answer = await world.ok(one, 'draft_review', { room, verdict: 'comment', body, findings });
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(48_000);
    expect(answer.draft.findings).toHaveLength(60);
    const stored = await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`);
    expect(stored.json).toMatchObject({ body, findings: findings.map(({ body }) => ({ body })) });
    const pages = [await world.ok(one, 'get_review_round', { room })];
    while (!pages.at(-1).last_page) pages.push(await world.ok(one, 'get_review_round', { room, page: pages.length + 1 }));
    expect(pages.map((page) => page.draft?.body ?? '').join('')).toBe(body);
  });

  test('S7: a reviewer declines; a later review takes it back', async () => {
    const [one, two] = [await world.agent('tres'), await world.agent('quatro')];
    const room = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room });
    expect(await world.ok(two, 'decline_review', { room, reason: 'No time.', until: new Date(Date.now() + 3_600_000) })).toMatchObject({
      declined: true,
    });
    expect((await world.ok(one, 'get_review_round', { room })).declined).toMatchObject([
      { id: two.id, name: 'quatro', reason: 'No time.' },
    ]);
    expect(await world.refused(two, 'decline_review', { room, reason: 'Never.', until: '9999-12-31T23:59:59Z' })).toMatchObject({
      code: 'invalid',
      field: 'until',
    });
    await world.ok(two, 'submit_review', review(room));
    expect((await world.ok(one, 'get_review_round', { room })).declined).toEqual([]);
  });

  test('S9: a request id alone decides what is a repeat, and may be used for two different calls', async () => {
    const one = await world.agent('cinco');
    const room = await world.room({ agents: [one] });
    await world.ok(one, 'open_review_round', { room, request_id: 'once' });
    const first = await world.ok(
      one,
      'submit_review',
      review(room, [{ path: 'src/a.ts', severity: 'nit', body: 'A' }], { request_id: 'once' }),
    );
    const other = await world.ok(
      one,
      'submit_review',
      review(room, [{ path: 'src/a.ts', severity: 'nit', body: 'B' }], { request_id: 'once' }),
    );
    expect(other.review).toEqual(first.review);
  });

  test('S9: a request id gets the first result also when the finding it settled has left with its round', async () => {
    const [one, two] = [await world.agent('trece'), await world.agent('catorce')];
    const room = await world.room({ recipe: 'build_duel', agents: [one, two] });
    await world.ok(two, 'open_review_round', { room });
    await world.ok(two, 'submit_review', review(room, [{ path: 'src/a.ts', line: 1, severity: 'minor', body: 'Not so.' }]));
    const args = { room, finding_id: 'f1', resolution: 'withdrawn', request_id: 'first' };
    await world.ok(two, 'resolve_finding', args);
    world.git.push({ 'src/a.ts': 'export const a = 4;\n' });
    await world.ok(two, 'next_round', { room });
    expect((await world.ok(two, 'resolve_finding', args)).finding).toMatchObject({ id: 'f1', state: 'withdrawn', answers: [{ round: 1 }] });
  });

  test('R7: leaving takes the roles and keeps the reviews', async () => {
    const one = await world.agent('seis');
    const room = await world.room({ agents: [one] });
    expect(await world.ok(one, 'leave_room', { room })).toEqual({ left: true });
    expect(await world.ok(one, 'leave_room', { room })).toEqual({ left: true });
    expect(await world.refused(one, 'get_review_round', { room })).toMatchObject({ code: 'not_a_member' });
    expect((await world.ok(one, 'join_room', { room })).participant.roles).toEqual(['lead', 'reviewer']);
    const pat = await world.person('pat');
    await world.rest(world.owner, 'POST', `/rooms/${room}/people`, { user_id: pat.id });
    for (const _ of ['once', 'again']) expect(await world.ok(pat, 'leave_room', { room })).toEqual({ left: true });
    expect(await world.refused(pat, 'get_review_round', { room })).toMatchObject({ code: 'not_found' });
  });

  test('B4: review calls are recorded, refused ones too; polling alone is not', async () => {
    const [one, two] = [await world.agent('siete'), await world.agent('ocho')];
    const room = await world.room({ agents: [one, two] });
    await world.ok(one, 'open_review_round', { room });
    await world.ok(two, 'get_review_round', { room });
    expect(await world.store.spans.spans(room, 1)).toEqual([]);
    await world.refused(two, 'submit_review', { room, verdict: 'none' });
    expect((await world.store.spans.spans(room, 1)).map(({ participant }) => participant)).toEqual([two.id]);
    await world.ok(one, 'get_pr_context', { room });
    const [before] = (await world.store.spans.spans(room, 1)).filter(({ participant }) => participant === one.id);
    await world.ok(one, 'get_review_round', { room });
    const [after] = (await world.store.spans.spans(room, 1)).filter(({ participant }) => participant === one.id);
    expect(after!.last).toBeGreaterThan(before!.last);
  });

  test('B4: looking at the round is work after any call that reads, one that was refused or showed no file too', async () => {
    const one = await world.agent('doce');
    const room = await world.room({ agents: [one] });
    await world.ok(one, 'open_review_round', { room });
    await world.refused(one, 'get_file', { room, path: 'nowhere.ts' });
    const before = await world.store.spans.spans(room, 1);
    const view = await world.ok(one, 'get_review_round', { room });
    expect((await world.store.spans.spans(room, 1))[0]!.last).toBeGreaterThan(before[0]!.last);
    expect(view.coverage[0].line).toBe('@doce did not read through Barista');
  });

  test('V4, P1: a push is seen by the next reader, and told to the room', async () => {
    const one = await world.agent('nueve');
    const room = await world.room({ agents: [one] });
    const { round } = await world.ok(one, 'open_review_round', { room });
    const head = world.git.push({ 'src/c.ts': 'export {};\n' }, 'Add c');
    await expect.poll(async () => (await world.ok(one, 'get_review_round', { room })).current_pr_head_sha).toBe(head);
    const view = await world.ok(one, 'get_review_round', { room });
    expect(view).toMatchObject({ head_moved: true, round: { round_head_sha: round.round_head_sha } });
    await expect
      .poll(async () => JSON.stringify((await world.ok(one, 'wait_for_messages', { room, timeout_seconds: 0 })).messages))
      .toContain('head_moved');
  });
});

test('S6, C9: where the listing has gaps, a path that it does not name is not called outside the pull request', async () => {
  const { git } = world;
  git.checkout('main').branch('many');
  for (let n = 0; n <= 10_000; n++) git.write(`many/f${String(n).padStart(5, '0')}`, 'x\n');
  git.commit('Many files');
  git.checkout('topic');
  const pullRequest = git.pullRequest.replace('head=topic', 'head=many');
  const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: pullRequest, barista: false });
  expect(opened.status, opened.text).toBe(201);
  const room: string = opened.json.slug;
  const ida = await world.agent('ida');
  await world.ok(ida, 'join_room', { room });
  await world.ok(ida, 'open_review_round', { room });
  expect((await world.ok(ida, 'get_pr_context', { room })).gaps).toHaveLength(1);
  await world.ok(ida, 'submit_review', review(room, [{ path: 'many/f10000', line: 1, severity: 'nit', body: 'the last one' }]));
  const { reviews } = await world.ok(ida, 'get_review_round', { room });
  expect(reviews[0].findings).toMatchObject([{ path: 'many/f10000', outside_diff: false }]);
});

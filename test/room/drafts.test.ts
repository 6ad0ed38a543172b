import { describe, expect, test } from 'vitest';
import { OWNER, type DraftInput, type TestRoom, aRoom } from '../support/room.js';

/** Round 1, closed, with f1 of ana and f2 of grok; ana leads, paul is a person without a role. No Barista. */
const closed = (input = {}): TestRoom =>
  aRoom(input)
    .join('ana', 'grok', 'paul')
    .open('ana')
    .submit('ana', { findings: [{}] })
    .submit('grok', { findings: [{}] })
    .close('ana');
const drafted = (): TestRoom => closed().draft('ana', { findings: [{ findings: ['f1', 'f2'] }] });

describe('drafting', () => {
  test('D1: the lead drafts the latest round, once it is closed', () => {
    const room = closed().draft('ana', { verdict: 'request_changes', findings: [{ raisedBy: ['ag_ana'], agreedBy: ['ag_grok'] }] });
    expect(room.result).toEqual({ round: 1, version: 1 });
    expect(room.state.draft).toMatchObject({
      round: 1,
      headSha: room.state.round!.headSha,
      verdict: 'request_changes',
      draftedBy: 'ag_ana',
      assembled: false,
      edited: false,
      findings: [{ raisedBy: ['ag_ana'], agreedBy: ['ag_grok'], disputedBy: [] }],
      posting: { status: 'draft', failure: null },
    });
  });

  test('D1: a merged range keeps its first line, in an edit too; one that is none is refused in both', () => {
    const range = { startLine: 3, line: 7 };
    const room = closed().draft('ana', { findings: [range] });
    expect(room.state.draft!.findings).toMatchObject([range]);
    for (const bad of [
      { startLine: 3, line: null },
      { startLine: 8, line: 7 },
    ]) {
      const refusal = { code: 'invalid', field: 'findings[0].start_line' };
      expect(room.refused((it) => it.draft('ana', { findings: [bad] }))).toMatchObject(refusal);
      expect(room.refused((it) => it.edit({ findings: [bad] }))).toMatchObject(refusal);
    }
    expect(room.edit({ findings: [{ startLine: 4, line: 7 }] }).state.draft!.findings).toMatchObject([{ startLine: 4, line: 7 }]);
  });

  const early: [string, () => TestRoom, string][] = [
    ['before round 1', () => aRoom().join('ana'), 'no_open_round'],
    ['while the round is open', () => aRoom().join('ana').open('ana').submit('ana'), 'round_open'],
    ['once the next round is open', () => closed().push('b2').open('ana'), 'round_open'],
  ];
  test.each(early)('D1: not %s', (_when, room, code) => {
    expect(room().refused((it) => it.draft('ana')).code).toBe(code);
  });

  test('B18: in a Barista room an agent waits to be asked; a person who leads never does', () => {
    const room = closed({ barista: true });
    expect(room.refused((it) => it.draft('ana')).code).toBe('too_soon');
    expect(room.roles({ paul: ['lead'] }).draft('paul').state.draft!.draftedBy).toBe('us_paul');
  });

  const ids: [string, DraftInput['findings'], string, string?][] = [
    ['a finding under two merged findings', [{ findings: ['f1'] }, { findings: ['f2', 'f1'] }], 'findings[1].finding_ids'],
    ['a finding twice under one', [{ findings: ['f1', 'f1'] }], 'findings[0].finding_ids'],
    ['a finding that never was', [{ findings: ['f1'] }, { findings: ['f7'] }], 'findings[1].finding_ids', 'not_found'],
    ['more than 50 under one', [{ findings: Array.from({ length: 51 }, (_, n) => `f${n + 1}`) }], 'findings[0].finding_ids'],
  ];
  test.each(ids)('D2: %s is refused, in a draft and in an edit', (_what, findings, field, code = 'invalid') => {
    expect(closed().refused((it) => it.draft('ana', { findings: findings! }))).toMatchObject({ code, field });
    expect(drafted().refused((it) => it.edit({ findings: findings! }))).toMatchObject({ code, field });
  });

  test('V2: an edit while the next round is open is told the same of a finding hidden from its owner as of one that never was', () => {
    const room = drafted().push('b2').open('ana');
    room.submit('grok', { findings: [{}] });
    const refusal = (id: string) => room.refused((it) => it.edit({ findings: [{ findings: [id] }] }));
    expect(room.state.findings.map((finding) => finding.id)).toContain('f3');
    expect(refusal('f3')).toEqual({ ...refusal('f9'), message: refusal('f9').message.replace('f9', 'f3') });
    expect(refusal('f3').code).toBe('not_found');
  });

  test('D2: findings of earlier rounds may be named, settled ones too, but not those of a replaced review', () => {
    const room = closed().resolve('ana', 'f1', 'fixed').push('b2').open('ana');
    room
      .submit('ana', { findings: [{}] })
      .submit('ana', { findings: [{ line: 20 }] })
      .close('ana');
    expect(room.refused((it) => it.draft('ana', { findings: [{ findings: ['f3'] }] })).code).toBe('not_found');
    expect(room.draft('ana', { findings: [{ findings: ['f1', 'f2', 'f4'] }] }).result).toEqual({ round: 2, version: 1 });
  });
});

describe('drafting again', () => {
  test('D3: another draft replaces it, edited or not', () => {
    const room = drafted().draft('ana', { body: 'second' });
    expect(room.state.draft).toMatchObject({ version: 2, edited: false, body: room.stage('ag_ana', 'second') });
    room.edit({ body: 'mine' });
    expect(room.state.draft).toMatchObject({ version: 3, edited: true, draftedBy: 'ag_ana' });
    expect(room.draft('ana', { body: 'third' }).state.draft).toMatchObject({ version: 4, edited: false });
  });

  test('S9: the current, unedited draft again is a repeat, also once it is posted', () => {
    const same: DraftInput = { findings: [{ findings: ['f1', 'f2'] }] };
    const room = drafted();
    const { state } = room;
    expect(room.draft('ana', same).state).toBe(state);
    expect(room.result).toEqual({ round: 1, version: 1 });
    expect(room.post().draft('ana', same).result).toEqual({ round: 1, version: 1 });
  });

  test('S9: an owner who leads and drafts what it has edited the draft to drafts anew', () => {
    const room = closed()
      .roles({ olga: ['lead'] })
      .draft('olga', { body: 'first' })
      .edit({ body: 'second' })
      .draft('olga', { body: 'second' });
    expect(room.state.draft).toMatchObject({ version: 3, edited: false });
  });

  test("S9: after the owner's edit, by another lead, or with a request id, it is new", () => {
    const same: DraftInput = { findings: [{ findings: ['f1', 'f2'] }] };
    expect(drafted().edit({ body: 'mine' }).draft('ana', same).state.draft!.version).toBe(3);
    expect(
      drafted()
        .roles({ grok: ['lead'] })
        .draft('grok', same).state.draft,
    ).toMatchObject({ version: 2, draftedBy: 'ag_grok' });
    expect(drafted().draft('ana', { ...same, requestId: 'r1' }).state.draft!.version).toBe(2);
  });

  test('D6: a newer round has a draft of its own, which takes the place of the older one', () => {
    const room = drafted().push('b2').open('ana');
    expect(room.state.draft!.round).toBe(1);
    room.submit('ana').close('ana').draft('ana');
    expect(room.state.draft).toMatchObject({ round: 2, version: 2, headSha: room.state.round!.headSha });
  });

  test('D6: an older round’s draft may be edited and posted, against its own commit, until a newer is saved', () => {
    const room = drafted();
    const { headSha } = room.state.draft!;
    room.push('b2').open('ana').edit({ body: 'mine' }).post();
    expect(room.state.draft).toMatchObject({ round: 1, headSha, posting: { status: 'posted' } });
    room.submit('ana').close('ana').draft('ana');
    expect(room.state.draft).toMatchObject({ round: 2, posting: { status: 'draft' } });
  });

  test('D5: an older round’s draft on its way to the forge is not overtaken', () => {
    const room = drafted().startPosting().push('b2').open('ana').submit('ana').close('ana');
    expect(room.refused((it) => it.draft('ana')).code).toBe('conflict');
    expect(room.emit({ type: 'DraftPosted', url: null, unplaced: [] }).draft('ana').state.draft!.round).toBe(2);
  });
});

describe("the owner's edit", () => {
  test('D4: only the owner edits and posts', () => {
    const room = drafted();
    const draft = { verdict: 'approve', body: 'tx', findings: [] } as const;
    expect(room.refused((it) => it.run({ type: 'editDraft', by: 'ag_ana', draft, version: 1 })).code).toBe('role_required');
    expect(room.refused((it) => it.run({ type: 'postDraft', by: 'ag_ana' })).code).toBe('role_required');
    expect(room.roles({ paul: ['lead'] }).refused((it) => it.run({ type: 'postDraft', by: 'us_paul' })).code).toBe('role_required');
  });

  test('D4: an edit of an old version is refused, so that two tabs do not overwrite each other', () => {
    const room = drafted().edit({ body: 'one tab' }, 1);
    expect(room.refused((it) => it.edit({ body: 'the other tab' }, 1))).toMatchObject({ code: 'conflict', field: 'version' });
    const { state } = room;
    expect(room.edit({ body: 'one tab' }, 1).state).toBe(state);
    expect(room.result).toEqual({ round: 1, version: 2 });
  });

  test('D4: there is nothing to edit or post before a draft', () => {
    expect(closed().refused((it) => it.edit({}, 0)).code).toBe('not_found');
    expect(closed().refused((it) => it.startPosting()).code).toBe('not_found');
  });
});

describe('posting', () => {
  const changes: [string, (room: TestRoom) => TestRoom][] = [
    ['a draft', (room) => room.draft('ana', { body: 'another' })],
    ['an edit', (room) => room.edit({ body: 'another' })],
    ['a second post', (room) => room.startPosting()],
  ];
  test.each(changes)('D5: while it is being posted, %s is refused', (_what, change) => {
    expect(drafted().startPosting().refused(change).code).toBe('conflict');
  });

  test.each(changes)('D8: once it is posted, %s is refused', (_what, change) => {
    expect(drafted().post().refused(change).code).toBe('posted');
  });

  test('D5: a failure gives the draft back with its reason, to be posted again', () => {
    const room = drafted().startPosting().emit({ type: 'PostingFailed', reason: 'the forge refused' });
    expect(room.state.draft!.posting).toEqual({ status: 'draft', failure: 'the forge refused' });
    expect(room.post().state.draft!.posting.status).toBe('posted');
  });

  test('D5: a post of an old version is refused', () => {
    const room = drafted().edit({ body: 'mine' });
    expect(room.refused((it) => it.run({ type: 'postDraft', by: OWNER, version: 1 })).code).toBe('conflict');
    expect(room.run({ type: 'postDraft', by: OWNER, version: 2 }).state.draft!.posting.status).toBe('posting');
  });

  test('D7: the standings are fixed with the posting, and stay with what was posted', () => {
    const room = drafted().resolve('ana', 'f1', 'fixed').post(null, [0]);
    expect(room.state.draft!.posting).toEqual({
      status: 'posted',
      at: room.now,
      url: null,
      standing: [{ finding: 'f2', standing: 'needs_fix' }],
      unplaced: [0],
    });
  });

  test('V2, D7: an older draft posted while a round is open tells nothing of its hidden reviews', () => {
    const room = drafted()
      .push('b2')
      .open('ana')
      .submit('ana', { findings: [{}], references: [['f1', 'agree']] })
      .startPosting();
    expect(room.state.draft!.posting).toMatchObject({
      standing: [
        { finding: 'f1', standing: 'not_verified' },
        { finding: 'f2', standing: 'not_verified' },
      ],
    });
  });

  test('D8: answers are still taken once it is posted', () => {
    expect(drafted().post().resolve('grok', 'f2', 'withdrawn').result).toEqual({ finding: 'f2' });
  });
});

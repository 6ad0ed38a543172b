import { describe, expect, test } from 'vitest';
import { holders } from '../../workflows/room/members.js';
import type { Recipe, Role } from '../../workflows/room/words.js';
import { OWNER, type TestRoom, aRoom, idOf } from '../support/room.js';

const rolesOf = (room: TestRoom, name: string): readonly Role[] => room.state.participants.find((known) => known.id === idOf(name))!.roles;
const crew = (room: TestRoom, ...names: string[]): string => names.map((name) => rolesOf(room, name).join('+') || '-').join(' ');
const duel = (): TestRoom => aRoom({ recipe: 'build_duel' });

describe('default roles', () => {
  const table: [Recipe, number, string][] = [
    ['panel', 1, 'lead+reviewer'],
    ['panel', 2, 'lead+reviewer reviewer'],
    ['panel', 3, 'lead+reviewer reviewer reviewer'],
    ['panel', 4, 'lead+reviewer reviewer reviewer reviewer'],
    ['build_duel', 1, 'author'],
    ['build_duel', 2, 'author lead+reviewer'],
    ['build_duel', 3, 'author reviewer lead'],
    ['build_duel', 4, 'author reviewer lead reviewer'],
  ];
  test.each(table)('R1: %s with %i agents', (recipe, agents, expected) => {
    const names = ['ana', 'grok', 'kim', 'lee'].slice(0, agents);
    expect(crew(aRoom({ recipe }).join(...names), ...names)).toBe(expected);
  });

  test('R1: agents without a role do not count, and neither do those that left', () => {
    const room = aRoom().join('ana').roles({ ana: [] }).join('grok');
    expect(crew(room, 'ana', 'grok')).toBe('- lead+reviewer');
    expect(crew(room.leave('grok').join('kim'), 'kim')).toBe('lead+reviewer');
  });

  test('R2: people get no default role, and may hold any', () => {
    const room = aRoom().join('pia', 'paul');
    expect(crew(room, 'olga', 'pia', 'paul')).toBe('- - -');
    expect(crew(room.roles({ pia: ['lead', 'reviewer', 'author'] }), 'pia')).toBe('lead+reviewer+author');
  });

  test('R4: the owner adds an agent before it connects, and it has its default role at once', () => {
    const room = aRoom().run({ type: 'join', by: OWNER, participant: { id: idOf('ana'), name: 'ana', kind: 'agent' } });
    expect(crew(room, 'ana')).toBe('lead+reviewer');
    expect(crew(room.join('ana'), 'ana')).toBe('lead+reviewer');
  });

  test('R4: nobody but the owner brings somebody else in', () => {
    const room = aRoom().join('ana');
    const { code } = room.refused((it) =>
      it.run({ type: 'join', by: idOf('ana'), participant: { id: 'ag_kim', name: 'kim', kind: 'agent' } }),
    );
    expect(code).toBe('role_required');
  });

  test('R10: a default never makes a second lead where a person leads', () => {
    expect(
      crew(
        aRoom()
          .join('pia')
          .roles({ pia: ['lead'] })
          .join('ana'),
        'ana',
      ),
    ).toBe('reviewer');
    expect(
      crew(
        duel()
          .join('pia')
          .roles({ pia: ['lead'] })
          .join('ana', 'grok', 'kim'),
        'ana',
        'grok',
        'kim',
      ),
    ).toBe('author reviewer reviewer');
  });

  test('R10: a person who leads beside the second agent keeps the lead from changing hands by a default', () => {
    const room = duel()
      .join('ana', 'grok', 'pia')
      .roles({ pia: ['lead'] })
      .join('kim');
    expect(crew(room, 'grok', 'kim', 'pia')).toBe('lead+reviewer reviewer lead');
  });

  test('R10: where the author and the lead are left, a newcomer reviews', () => {
    const room = duel().join('ana', 'grok', 'kim').leave('grok').join('lee');
    expect(crew(room, 'ana', 'kim', 'lee')).toBe('author lead reviewer');
  });

  test('R11: a default never takes a role that was set by hand', () => {
    const room = duel()
      .join('ana', 'grok')
      .roles({ grok: ['reviewer'] })
      .roles({ grok: ['lead', 'reviewer'] })
      .join('kim');
    expect(crew(room, 'grok', 'kim')).toBe('lead+reviewer reviewer');
  });
});

describe('changing recipe and roles', () => {
  test('R3: only the owner does; an agent, also one that leads, is refused', () => {
    const room = aRoom()
      .join('ana', 'pia')
      .roles({ pia: ['lead'] });
    for (const by of ['ana', 'pia']) {
      expect(room.refused((it) => it.roles({ ana: ['author'] }, by)).code).toBe('role_required');
      expect(room.refused((it) => it.run({ type: 'setRecipe', by: idOf(by), recipe: 'build_duel' })).code).toBe('role_required');
      expect(room.refused((it) => it.run({ type: 'setBarista', by: idOf(by), enabled: true })).code).toBe('role_required');
      expect(room.refused((it) => it.run({ type: 'archive', by: idOf(by) })).code).toBe('role_required');
      expect(room.refused((it) => it.run({ type: 'deleteAgent', by: idOf(by), agent: idOf('ana') })).code).toBe('role_required');
    }
  });

  test("R3: changing the recipe changes nobody's roles", () => {
    const room = aRoom().join('ana', 'grok').run({ type: 'setRecipe', by: OWNER, recipe: 'build_duel' });
    expect(room.state.recipe).toBe('build_duel');
    expect(crew(room, 'ana', 'grok')).toBe('lead+reviewer reviewer');
    expect(crew(room.join('kim'), 'kim')).toBe('lead');
  });

  test('R3: whoever is not named keeps its roles, and the same roles again are no change', () => {
    const room = aRoom()
      .join('ana', 'grok')
      .roles({ grok: ['author', 'lead', 'author'] });
    expect(crew(room, 'ana', 'grok')).toBe('lead+reviewer lead+author');
    const { seq } = room.state;
    expect(room.roles({ grok: ['lead', 'author'] }).state.seq).toBe(seq);
  });

  test('R3: roles go to present participants only, all or none', () => {
    const room = aRoom().join('ana', 'grok').leave('grok');
    expect(room.refused((it) => it.roles({ ana: [], grok: ['lead'] }))).toMatchObject({ code: 'not_found', field: 'roles.ag_grok' });
    expect(crew(room, 'ana')).toBe('lead+reviewer');
  });

  test('B5: keeping the reviewer role through a change keeps the time it was got', () => {
    const room = aRoom()
      .join('ana')
      .after(7)
      .roles({ ana: ['reviewer', 'author'] });
    const since = (): number | null => room.state.participants.find((known) => known.id === 'ag_ana')!.reviewerSince;
    expect(since()).toBe(room.now - 7 * 60_000);
    expect((room.roles({ ana: [] }), since())).toBeNull();
    expect((room.after(1).roles({ ana: ['reviewer'] }), since())).toBe(room.now);
  });
});

describe('R5: roles are enforced on the tools', () => {
  const calls: [string, Role, (room: TestRoom) => unknown][] = [
    ['open_review_round', 'lead', (room) => room.open('nobody')],
    ['next_round', 'lead', (room) => room.next('nobody')],
    ['close_review_round', 'lead', (room) => room.close('nobody')],
    ['draft_review', 'lead', (room) => room.draft('nobody')],
    ['submit_review', 'reviewer', (room) => room.submit('nobody')],
    ['decline_review', 'reviewer', (room) => room.decline('nobody')],
    ['rebut_finding', 'author', (room) => room.answer('nobody', 'f1', 'accept')],
  ];
  const members = (): TestRoom =>
    aRoom()
      .join('ana', 'grok', 'pia', 'nobody')
      .roles({ nobody: [], pia: ['author'] })
      .open('ana')
      .submit('ana', { findings: [{}] });

  test.each(calls)('R5: %s needs the role %s and says who holds it', (_tool, role, call) => {
    const room = members();
    const refusal = room.refused(call);
    expect(refusal.code).toBe('role_required');
    expect(refusal.message).toContain(`the role ${role}`);
    for (const holder of holders(room.state, role)) expect(refusal.message).toContain(`@${holder.name}`);
  });

  test.each(calls)('R5: %s is for members', (_tool, _role, call) => {
    expect(members().leave('nobody').refused(call).code).toBe('not_a_member');
  });

  test('R5: where nobody holds the role, the refusal says so', () => {
    const room = aRoom().join('ana').roles({ ana: [] });
    expect(room.refused((it) => it.open('ana')).message).toBe('This needs the role lead. Nobody holds it.');
  });

  test('R5: resolve_finding is for the reviewer who raised the finding', () => {
    const room = members();
    expect(room.refused((it) => it.resolve('pia', 'f1', 'fixed'))).toMatchObject({
      code: 'role_required',
      message: 'Only @ana, who raised finding f1, can resolve it.',
    });
    expect(room.roles({ ana: ['lead'] }).refused((it) => it.resolve('ana', 'f1', 'withdrawn')).message).toContain('the role reviewer');
    expect(room.roles({ ana: ['reviewer'] }).resolve('ana', 'f1', 'withdrawn').result).toEqual({ finding: 'f1' });
  });

  test('R5: tools go by role, not by recipe: a panel with an author takes its answers', () => {
    expect(members().answer('pia', 'f1', 'accept').result).toEqual({ finding: 'f1' });
  });
});

describe('leaving, coming back, being deleted', () => {
  test('R6: a deleted agent takes its reviews and findings along, carried ones too, and the room goes on', () => {
    const room = aRoom().join('ana', 'grok').open('ana');
    room
      .submit('ana', { findings: [{}] })
      .submit('grok', { findings: [{}, {}] })
      .close('ana')
      .push('b2')
      .open('ana');
    expect(room.state.round!.carried).toEqual(['f1', 'f2', 'f3']);
    room
      .submit('ana', {
        references: [
          ['f2', 'agree'],
          ['f1', 'agree'],
        ],
      })
      .delete('grok');
    expect(room.state.round!.carried).toEqual(['f1']);
    expect(room.state.findings.map((finding) => finding.id)).toEqual(['f1']);
    expect(room.state.round!.reviews[0]!.references.map((reference) => reference.finding)).toEqual(['f1']);
    expect(room.refused((it) => it.answer('ana', 'f2', 'accept')).code).toBe('role_required');
    expect(room.close('ana').result).toEqual({ round: 2, missing: [] });
  });

  test('R6: a deleted agent is no longer waited for, nor missing from a round that closed without it', () => {
    const room = aRoom().join('ana', 'grok', 'kim').open('ana').submit('ana').submit('kim').delete('kim').close('ana').delete('grok');
    expect(room.state.round!.closed!.missing).toEqual([]);
    expect(room.state.round!.reviews.map((review) => review.by)).toEqual(['ag_ana']);
  });

  test('R6: its ids leave an unposted draft, also one whose posting fails later; a posted one keeps them', () => {
    const drafted = (): TestRoom =>
      aRoom()
        .join('ana', 'grok')
        .open('ana')
        .submit('ana')
        .submit('grok', { findings: [{}] })
        .close('ana')
        .draft('ana', { findings: [{ findings: ['f1'], raisedBy: ['ag_grok'], agreedBy: ['ag_ana'] }] });
    const without = { findings: [], raisedBy: [], agreedBy: ['ag_ana'], body: drafted().state.draft!.findings[0]!.body };
    expect(drafted().delete('grok').state.draft!.findings[0]).toMatchObject(without);
    const failed = drafted().startPosting().delete('grok').emit({ type: 'PostingFailed', reason: 'no' });
    expect(failed.state.draft!.findings[0]).toMatchObject(without);
    expect(drafted().startPosting().delete('grok').state.draft!.posting).toMatchObject({ standing: [] });
    expect(drafted().post().delete('grok').state.draft!.findings[0]).toMatchObject({ findings: ['f1'], raisedBy: ['ag_grok'] });
  });

  test('R6: only agents are deleted, and one the room does not know changes nothing', () => {
    const room = aRoom().join('ana', 'pia');
    expect(room.refused((it) => it.run({ type: 'deleteAgent', by: OWNER, agent: 'us_pia' })).code).toBe('invalid');
    const before = room.state;
    expect(room.delete('kim').state).toBe(before);
  });

  test('R7: joining while in the room is no joining: roles stay, also none', () => {
    const room = aRoom()
      .join('ana', 'grok')
      .roles({ ana: [], grok: ['author'] });
    const before = room.state;
    expect(room.join('ana', 'grok').state).toBe(before);
    expect(room.result).toEqual({ participant: 'ag_grok' });
  });

  test('R7: who leaves loses its roles, its review stays, and coming back is joining anew', () => {
    const room = aRoom()
      .join('ana', 'grok')
      .open('ana')
      .submit('ana', { findings: [{}] })
      .leave('ana');
    expect(crew(room, 'ana', 'grok')).toBe('- reviewer');
    expect(room.state.round!.reviews.map((review) => review.by)).toEqual(['ag_ana']);
    expect(room.state.findings.map((finding) => finding.id)).toEqual(['f1']);
    expect(crew(room.join('ana'), 'ana')).toBe('reviewer');
    expect(room.state.participants.filter((known) => known.kind === 'agent').map((known) => known.name)).toEqual(['grok', 'ana']);
    expect(room.submit('ana', { verdict: 'approve' }).result).toMatchObject({ replaced: true });
  });

  test('R7: leaving twice changes nothing, and a stranger cannot leave', () => {
    const room = aRoom().join('ana').leave('ana');
    const before = room.state;
    expect(room.leave('ana').state).toBe(before);
    expect(room.refused((it) => it.leave('kim')).code).toBe('not_a_member');
  });

  test('R7: an owner who has left still owns the room', () => {
    expect(
      crew(
        aRoom()
          .join('ana')
          .leave('olga')
          .roles({ ana: ['author'] }),
        'ana',
      ),
    ).toBe('author');
  });
});

describe('the end of a room', () => {
  test('R12: writes are refused once the room is archived, save a repeat by its request id', () => {
    const room = aRoom().join('ana').open('ana', 'first').run({ type: 'archive', by: OWNER });
    expect(room.state.ended).toEqual({ at: room.now, reason: 'archived' });
    for (const call of [(it: TestRoom) => it.submit('ana'), (it: TestRoom) => it.join('kim'), (it: TestRoom) => it.roles({ ana: [] })]) {
      expect(room.refused(call).code).toBe('room_closed');
    }
    expect(room.open('ana', 'first').result).toEqual({ round: 1 });
  });

  test('R7, R12, S9: whoever is in a room that has ended is still told so when it joins again, and whoever had left when it leaves again', () => {
    const room = aRoom().join('ana', 'kim').leave('kim').run({ type: 'archive', by: OWNER });
    const { state } = room;
    expect(room.join('ana').result).toEqual({ participant: 'ag_ana' });
    expect(room.state).toBe(state);
    expect(room.refused((it) => it.join('kim')).code).toBe('room_closed');
    expect(room.leave('kim').state).toBe(state);
    expect(room.refused((it) => it.leave('ana')).code).toBe('room_closed');
  });

  test('R12: a room is not archived from under a posting', () => {
    const room = aRoom().join('ana').open('ana').submit('ana').close('ana').draft('ana').startPosting();
    expect(room.refused((it) => it.run({ type: 'archive', by: OWNER })).code).toBe('conflict');
  });

  test('R6: an agent is deleted from a room that has ended too', () => {
    const room = aRoom().join('ana').run({ type: 'archive', by: OWNER }).delete('ana');
    expect(room.state.participants.map((known) => known.name)).toEqual(['olga']);
  });
});

describe('Barista turned on and off', () => {
  test('B26: its clocks count from when it was turned on, and a change of durations is none', () => {
    const room = aRoom({ barista: true }).after(5).barista(false).after(5).barista(true);
    expect(room.state.barista).toEqual({ enabled: true, since: room.now });
    const { since } = room.after(5).barista(true, { headQuiet: 1_000 }).state.barista;
    expect(since).toBe(room.now - 5 * 60_000);
    expect(room.state.durations.headQuiet).toBe(1_000);
    const before = room.state;
    expect(room.barista(true, { headQuiet: 1_000 }).state).toBe(before);
  });
});

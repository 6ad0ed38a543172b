import { expect, test } from 'vitest';
import { draftView } from '../../mcp-server/views/draft.js';
import { aRoom, HEAD, idOf, OWNER, sha, type TestRoom } from '../support/room.js';
import { around, viewOf } from './around.js';

const closed = () =>
  aRoom()
    .join('ana', 'grok', 'codex')
    .open('ana')
    .submit('ana', { findings: [{ severity: 'blocker', body: 'it\nfalls over' }] })
    .submit('grok', { findings: [{ severity: 'nit' }] })
    .decline('codex', 'on leave')
    .close('ana');

const draftOf = (room: TestRoom, reader = 'olga') => draftView(room.snapshot, idOf(reader), around(room));

test('a draft on the wire is spelt as the contract has it', () => {
  expect(draftOf(closed())).toBeNull();
  const room = closed()
    .after(1)
    .draft('ana', {
      verdict: 'request_changes',
      body: 'two things',
      findings: [{ line: null, body: 'merged', raisedBy: ['ag_ana'], findings: ['f1'] }],
    });
  expect(draftOf(room)).toEqual({
    round: 1,
    head_sha: HEAD,
    verdict: 'request_changes',
    body: 'two things',
    findings: [
      {
        path: 'src/a.ts',
        side: 'new',
        severity: 'major',
        body: 'merged',
        raised_by: ['ag_ana'],
        agreed_by: [],
        disputed_by: [],
        finding_ids: ['f1'],
      },
    ],
    standing: [
      {
        finding_id: 'f1',
        standing: 'needs_fix',
        label: 'needs a fix',
        path: 'src/a.ts',
        line: 10,
        severity: 'blocker',
        raised_by_name: 'ana',
        excerpt: 'it falls over',
      },
      {
        finding_id: 'f2',
        standing: 'nit',
        label: 'nit',
        path: 'src/a.ts',
        line: 10,
        severity: 'nit',
        raised_by_name: 'grok',
        excerpt: 'finding 0 of grok',
      },
    ],
    coverage: ['ana', 'grok', 'codex'].map((name) => ({
      participant: idOf(name),
      line: `@${name} read 1 of 2 files through Barista; not: b.ts`,
    })),
    declined: [{ id: 'ag_codex', name: 'codex', reason: 'on leave' }],
    drafted_by: 'ag_ana',
    drafted_by_name: 'ana',
    drafted_at: '2030-01-07T12:01:00.000Z',
    assembled: false,
    notice: null,
    stale: false,
    edited: false,
    version: 1,
    status: 'draft',
    failure: null,
    posted_at: null,
    url: null,
    unplaced: [],
  });
});

test('D1: a merged range is shown by its first line too, in the standing as well', () => {
  const room = aRoom()
    .join('ana')
    .open('ana')
    .submit('ana', { findings: [{ startLine: 3, line: 7 }] })
    .close('ana')
    .draft('ana', { findings: [{ startLine: 3, line: 7, findings: ['f1'] }, { line: 7 }] });
  const draft = draftOf(room)!;
  expect(draft.findings).toMatchObject([{ start_line: 3, line: 7 }, { line: 7 }]);
  expect(draft.findings[1]).not.toHaveProperty('start_line');
  expect(draft.standing).toMatchObject([{ finding_id: 'f1', start_line: 3, line: 7 }]);
  expect(draftOf(room.post('u', [0]))!.unplaced).toEqual([{ index: 0, path: 'src/a.ts', start_line: 3, line: 7 }]);
});

test('D7: the standing is live until the posting, and fixed from then on', () => {
  const room = closed().draft('ana');
  const standing = () => draftOf(room)!.standing.map(({ finding_id, label }) => `${finding_id} ${label}`);
  expect(standing()).toEqual(['f1 needs a fix', 'f2 nit']);
  room.roles({ codex: ['author'] }).answer('codex', 'f1', 'reject', 'no');
  expect(standing()).toEqual(['f1 rejected', 'f2 nit']);
  room.startPosting().resolve('grok', 'f2', 'withdrawn').answer('codex', 'f1', 'accept');
  expect(standing()).toEqual(['f1 rejected', 'f2 nit']);
  room.emit({ type: 'DraftPosted', url: 'u', unplaced: [] }).push('b2').open('ana').delete('grok');
  expect(standing()).toEqual(['f1 rejected', 'f2 nit']);
  expect(draftOf(room)!.standing[1]).toEqual({ finding_id: 'f2', standing: 'nit', label: 'nit' });
});

test('D7: not verified reads as accepted only where there is an author who accepts', () => {
  const room = aRoom()
    .join('ana', 'dora')
    .roles({ dora: ['author'] })
    .open('ana')
    .submit('ana', { findings: [{}] })
    .close('ana')
    .answer('dora', 'f1', 'accept');
  room.push('b2').open('ana').submit('ana').close('ana').draft('ana');
  expect(draftOf(room)!.standing).toMatchObject([{ standing: 'not_verified', label: 'accepted, not verified' }]);
  room.roles({ dora: [] });
  expect(draftOf(room)!.standing).toMatchObject([{ standing: 'not_verified', label: 'not verified' }]);
});

test("D6: a draft is stale while the head is not its round's commit, until it is posted", () => {
  const room = closed().draft('ana');
  expect(draftOf(room.pushUnheard('b2'))!.stale).toBe(true);
  expect(draftView(room.snapshot, OWNER, around(room, { head: null }))!.stale).toBe(false);
  expect(draftOf(room.push('b2'))!.stale).toBe(true);
  expect(draftOf(room.pushUnheard('a1'))!.stale).toBe(false);
  expect(draftOf(room.pushUnheard('c3').post())!.stale).toBe(false);
});

test("D6: the draft belongs to its round: it is in that round's view, also once a newer draft took its place", () => {
  const room = closed().draft('ana', { body: 'first' }).push('b2').open('ana');
  expect(viewOf(room, 'olga').draft).toBeNull();
  expect(viewOf(room, 'olga', { round: 1 }).draft).toMatchObject({ round: 1, body: 'first', stale: true });
  expect(draftOf(room)).toMatchObject({ round: 1, stale: true });
  room.edit({ body: 'edited' });
  expect(viewOf(room, 'olga', { round: 1 }).draft).toMatchObject({ body: 'edited', edited: true, version: 2 });
  room.post('https://forge.example/r/1').submit('ana').submit('grok').close('ana').draft('ana', { body: 'second' });
  expect(draftOf(room)).toMatchObject({ round: 2, body: 'second', head_sha: sha('b2') });
  expect(viewOf(room, 'olga', { round: 1 }).draft).toMatchObject({ body: 'edited', status: 'posted', url: 'https://forge.example/r/1' });
});

test('V2: the standing of an older draft tells nothing of the reviews of the open round', () => {
  const room = closed()
    .roles({ codex: ['author'] })
    .answer('codex', 'f1', 'reject', 'no')
    .draft('ana')
    .push('b2')
    .open('ana');
  room.submit('ana', { references: [['f1', 'agree']], findings: [{}] });
  expect(draftOf(room, 'grok')!.standing.map(({ finding_id, standing }) => ({ finding_id, standing }))).toEqual([
    { finding_id: 'f1', standing: 'rejected' },
    { finding_id: 'f2', standing: 'nit' },
  ]);
});

test('B20: an assembled draft says that no agent drafted it, and a later draft clears it', () => {
  const room = closed();
  const body = room.stage('barista', 'put together');
  room.emit({ type: 'DraftSaved', round: 1, headSha: HEAD, verdict: 'comment', body, findings: [], by: 'barista', version: 1 });
  expect(draftOf(room)).toMatchObject({
    assembled: true,
    drafted_by: 'barista',
    drafted_by_name: 'barista',
    notice: 'assembled by barista: no agent drafted this round. Check it before you post.',
  });
  expect(draftOf(room.draft('ana'))).toMatchObject({ assembled: false, notice: null });
});

test('D4, D5: a draft says how its posting goes, and what had no place in the diff', () => {
  const room = closed()
    .draft('ana', { findings: [{}, { path: 'README.md', line: 3 }] })
    .startPosting();
  expect(draftOf(room)).toMatchObject({ status: 'posting', posted_at: null });
  room.emit({ type: 'PostingFailed', reason: 'the branch is gone' });
  expect(draftOf(room)).toMatchObject({ status: 'draft', failure: 'the branch is gone' });
  room.after(5).post('https://forge.example/r/1', [1]);
  expect(draftOf(room)).toMatchObject({
    status: 'posted',
    failure: null,
    posted_at: '2030-01-07T12:05:00.000Z',
    url: 'https://forge.example/r/1',
    unplaced: [{ index: 1, path: 'README.md', line: 3 }],
  });
});

import { describe, expect, test } from 'vitest';
import { mergeDraft } from '../../workflows/room/merge.js';
import type { DraftFinding } from '../../workflows/room/state.js';
import { aRoom } from '../support/room.js';

const merged = (findings: string[], more: Partial<DraftFinding> = {}): DraftFinding => ({
  path: 'a.ts',
  line: 1,
  side: 'new',
  severity: 'major',
  body: 'tx',
  raisedBy: [],
  agreedBy: [],
  disputedBy: [],
  findings,
  ...more,
});

/** f1 of ana and f2 of grok in round 1; in round 2 grok agrees with f1 and codex disputes it; round 3 is open. */
const threeRounds = () =>
  aRoom()
    .join('ana', 'grok', 'codex')
    .open('ana')
    .submit('ana', { findings: [{}] })
    .submit('grok', { findings: [{}] })
    .submit('codex')
    .close('ana')
    .push('b2')
    .open('ana')
    .submit('ana')
    .submit('grok', { references: [['f1', 'agree']] })
    .submit('codex', { references: [['f1', 'dispute']] })
    .close('ana')
    .push('c3')
    .open('ana');

describe('D2: finding_ids fill in who raised, agreed and disputed', () => {
  test('raisers are added to those that were named', () => {
    const [finding] = mergeDraft([merged(['f1', 'f2'], { raisedBy: ['ag_codex', 'ag_ana'] })], threeRounds().snapshot);
    expect(finding!.raisedBy).toEqual(['ag_codex', 'ag_ana', 'ag_grok']);
  });

  test("each reviewer's reference goes to its list and off the other", () => {
    const [finding] = mergeDraft([merged(['f1'], { agreedBy: ['ag_codex'], disputedBy: ['ag_grok', 'us_olga'] })], threeRounds().snapshot);
    expect(finding).toMatchObject({ raisedBy: ['ag_ana'], agreedBy: ['ag_grok'], disputedBy: ['us_olga', 'ag_codex'] });
  });

  test("the latest closed round's reference counts, and the open round's not yet", () => {
    const room = threeRounds()
      .submit('ana')
      .submit('codex', { references: [['f1', 'agree']] });
    expect(mergeDraft([merged(['f1'])], room.snapshot)[0]).toMatchObject({ disputedBy: ['ag_codex'] });
    room.submit('grok').close('ana');
    expect(mergeDraft([merged(['f1'])], room.snapshot)[0]).toMatchObject({ agreedBy: ['ag_grok', 'ag_codex'], disputedBy: [] });
  });

  test("of two findings under one, the later round's reference counts, and in one round the dispute", () => {
    const room = threeRounds()
      .submit('ana')
      .submit('grok')
      .submit('codex', { references: [['f2', 'agree']] })
      .close('ana');
    expect(mergeDraft([merged(['f1', 'f2'])], room.snapshot)[0]).toMatchObject({ agreedBy: ['ag_grok', 'ag_codex'], disputedBy: [] });
    const both = threeRounds()
      .submit('ana')
      .submit('grok')
      .submit('codex', {
        references: [
          ['f1', 'dispute'],
          ['f2', 'agree'],
        ],
      })
      .close('ana');
    expect(mergeDraft([merged(['f1', 'f2'])], both.snapshot)[0]).toMatchObject({ agreedBy: ['ag_grok'], disputedBy: ['ag_codex'] });
  });

  test('an id settled rounds ago is known, one that never was is refused by its field', () => {
    const room = threeRounds()
      .submit('ana')
      .submit('grok')
      .submit('codex')
      .resolve('ana', 'f1', 'withdrawn')
      .close('ana')
      .push('d4')
      .open('ana');
    expect(room.state.findings.map(({ id }) => id)).toEqual(['f2']);
    expect(mergeDraft([merged(['f1'])], room.snapshot)[0]!.raisedBy).toEqual(['ag_ana']);
    expect(() => mergeDraft([merged(['f1']), merged(['f2', 'f99'])], room.snapshot)).toThrow(
      expect.objectContaining({ code: 'not_found', field: 'findings[1].finding_ids[1]' }) as Error,
    );
  });

  test('V2: a finding that an open round raised is no finding of an older draft', () => {
    const room = threeRounds().submit('ana', { findings: [{}] });
    expect(() => mergeDraft([merged(['f3'])], room.snapshot)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  });

  test('S9: merging what is merged changes nothing', () => {
    const { snapshot } = threeRounds();
    const once = mergeDraft([merged(['f1', 'f2'], { agreedBy: ['ag_codex'] })], snapshot);
    expect(mergeDraft(once, snapshot)).toEqual(once);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { PATIENCE } from '../support/patience.js';
import { startWorld, type World } from '../support/world.js';

/** Barista drives rooms on the real stack, with its clocks set to seconds. */
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const QUICK = { head_quiet: 'PT1S', draft_reminder: 'PT2S', draft_handoff: 'PT4S' };

/** Waits for a note of the room that fits. */
async function noted(who: Person, room: string, pattern: RegExp): Promise<string> {
  const deadline = performance.now() + PATIENCE.timeout;
  for (let after: string | undefined; ;) {
    const answer = await world.ok(who, 'wait_for_messages', { room, ...(after && { after }), timeout_seconds: 45 });
    const found = answer.messages.find((message: { text: string }) => pattern.test(message.text));
    if (found) return found.text;
    if (answer.kind === 'done' || performance.now() > deadline) throw new Error(`no note fits ${String(pattern)}`);
    after = answer.last_message_id;
  }
}

describe('a room with Barista on the real stack', () => {
  test('B2, B3, B18, B19, B20: from joining to an assembled draft, with nobody drafting', async () => {
    const [ana, bo] = [await world.agent('ana'), await world.agent('bo')];
    const room = await world.room({ barista: true, durations: QUICK, agents: [ana, bo] });
    await noted(ana, room, /^barista: round 1 opened/);
    expect((await world.refused(ana, 'draft_review', { room, verdict: 'approve', body: 'b', findings: [] })).code).toBe('round_open');
    const finding = { path: 'src/a.ts', line: 1, severity: 'nit', body: 'a nit of ana' };
    await world.ok(ana, 'submit_review', { room, verdict: 'approve', summary: 'fine', findings: [finding] });
    await world.ok(bo, 'submit_review', { room, verdict: 'comment', summary: 'hm', findings: [] });
    await noted(ana, room, /^barista: @ana: draft the review of round 1/);
    await noted(ana, room, /^barista: @ana: the draft of round 1 is still to be written/);
    await noted(ana, room, /^barista: @ana is reviewer; @bo is lead \+ reviewer/);
    await noted(ana, room, /^barista: the draft of round 1 was assembled/);
    const draft = await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`);
    expect(draft.json).toMatchObject({
      round: 1,
      verdict: 'comment',
      assembled: true,
      notice: 'assembled by barista: no agent drafted this round. Check it before you post.',
      findings: [{ path: 'src/a.ts', line: 1, severity: 'nit', body: 'a nit of ana', raised_by: [ana.id] }],
      standing: [{ standing: 'nit' }],
    });
    expect(draft.json.body).toContain('fine');
    expect(draft.json.body).toContain('hm');
  });

  test('B18, B22, B23: before the ask a draft is too soon; the owner has it drafted as it is, once it is offered', async () => {
    const cy = await world.agent('cy');
    // Nobody else drafts while cy is about to.
    const room = await world.room({ barista: true, durations: { head_quiet: 'PT1S' }, agents: [cy] });
    await noted(cy, room, /^barista: round 1 opened/);
    const early = await world.rest(world.owner, 'POST', `/rooms/${room}/review/final-draft`);
    expect([early.status, early.json.code]).toEqual([409, 'conflict']);
    const finding = { path: 'src/a.ts', line: 1, severity: 'major', body: 'broken' };
    await world.ok(cy, 'submit_review', { room, verdict: 'request_changes', summary: 'no', findings: [finding] });
    await noted(cy, room, /^barista: round 1 closed/);
    const draft = { room, verdict: 'request_changes', body: 'b', findings: [] };
    expect((await world.refused(cy, 'draft_review', draft)).code).toBe('too_soon');
    const { json } = await world.rest(world.owner, 'GET', `/rooms/${room}/review/rounds/1`);
    expect(json).toMatchObject({ phase: 'waiting_for_push', offers: ['final_draft'] });
    const agents = await world.rest(cy, 'POST', `/rooms/${room}/review/final-draft`);
    expect(agents.status).toBe(403);
    for (let time = 0; time < 2; time++) {
      expect(await world.rest(world.owner, 'POST', `/rooms/${room}/review/final-draft`)).toMatchObject({ status: 200, json: { round: 1 } });
    }
    await noted(cy, room, /draft the review of round 1 with draft_review, as the round is/);
    const saved = await world.ok(cy, 'draft_review', draft);
    expect(saved.draft.standing).toMatchObject([{ finding_id: 'f1', standing: 'needs_fix' }]);
  });
});

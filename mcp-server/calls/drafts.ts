import type { z } from 'zod';
import type { DraftText } from '../../workflows/room/commands.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { RoomState } from '../../workflows/room/state.js';
import type { Verdict } from '../../workflows/room/words.js';
import type { Call } from '../deps.js';
import type { draftFinding } from '../schema/fields.js';
import { roomOfMember, roomOfOwner } from './access.js';
import { draftFor } from './round-view.js';
import { asked, send } from './write.js';

interface DraftInput {
  readonly room: string;
  readonly verdict: Verdict;
  readonly body: string;
  readonly findings: readonly z.output<typeof draftFinding>[];
  readonly request_id?: string | undefined;
}

/** D1: the lead's draft. */
export async function saveDraft(input: DraftInput, call: Call) {
  const room = await roomOfMember(call, input.room);
  await send(call, room, { ...asked(call, 'saveDraft', input.request_id), draft: await staged(call, room, input) });
  return { draft: await draftFor(call, input.room) };
}

/** D4: the owner's edit of the version it has read. */
export async function editDraft(input: DraftInput & { version: number }, call: Call) {
  const room = await roomOfOwner(call, input.room);
  await send(call, room, { ...asked(call, 'editDraft', input.request_id), draft: await staged(call, room, input), version: input.version });
  return { draft: await draftFor(call, input.room) };
}

/** D5: fixes the draft's text; the posting goes on by itself. */
export async function postDraft(input: { room: string; version?: number | undefined; request_id?: string | undefined }, call: Call) {
  const room = await roomOfOwner(call, input.room);
  await send(call, room, {
    ...asked(call, 'postDraft', input.request_id),
    ...(input.version === undefined ? {} : { version: input.version }),
  });
  return { draft: await draftFor(call, input.room) };
}

async function staged(call: Call, room: RoomState, { verdict, body, findings }: DraftInput): Promise<DraftText> {
  knownParticipants(room, findings);
  const [bodyId, ...ids] = await call.deps.store.texts.stage(room.slug, call.caller.id, [body, ...findings.map((finding) => finding.body)]);
  return {
    verdict,
    body: bodyId!,
    findings: findings.map((finding, index) => ({
      path: finding.path,
      line: finding.line ?? null,
      side: finding.side ?? 'new',
      severity: finding.severity,
      body: ids[index]!,
      raisedBy: finding.raised_by ?? [],
      agreedBy: finding.agreed_by ?? [],
      disputedBy: finding.disputed_by ?? [],
      findings: finding.finding_ids ?? [],
    })),
  };
}

/** D1: the lists hold ids of participants of this room; a name in one would be lost without a word. */
function knownParticipants(room: RoomState, findings: DraftInput['findings']): void {
  const known = new Set(room.participants.map((participant) => participant.id));
  for (const [index, finding] of findings.entries()) {
    for (const list of ['raised_by', 'agreed_by', 'disputed_by'] as const) {
      const unknown = finding[list]?.find((id) => !known.has(id));
      if (unknown === undefined) continue;
      throw new Refusal(
        'invalid',
        `findings[${index}].${list}: ${unknown} is no participant of this room.`,
        'get_review_round names the participants with their ids.',
        `findings[${index}].${list}`,
      );
    }
  }
}

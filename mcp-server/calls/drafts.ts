import type { z } from 'zod';
import type { DraftCommand, DraftText } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { linesOf } from '../../workflows/room/lines.js';
import { mergeDraft } from '../../workflows/room/merge.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { DraftFinding, RoomState } from '../../workflows/room/state.js';
import type { Verdict } from '../../workflows/room/words.js';
import type { Call } from '../deps.js';
import type { draftFinding } from '../schema/fields.js';
import type { Snapshot } from '../views/snapshot.js';
import { roomOfOwner } from './access.js';
import { snapshotOf } from './reading.js';
import { draftFor } from './round-view.js';
import { asked, send } from './write.js';

interface DraftInput {
  readonly room: string;
  readonly verdict: Verdict;
  readonly body: string;
  readonly findings: readonly z.output<typeof draftFinding>[];
  readonly request_id?: string | undefined;
}

/** D1, D2: the lead's draft. */
export async function saveDraft(input: DraftInput, call: Call) {
  const snapshot = await snapshotOf(call, input.room);
  const command = (draft: DraftText): DraftCommand => ({ ...asked(call, 'saveDraft', input.request_id), draft });
  await send(call, snapshot.state, command(await staged(call, snapshot, input, command)));
  return { draft: await draftFor(call, input.room) };
}

/** D4: the owner's edit of the version it has read. */
export async function editDraft(input: DraftInput & { version: number }, call: Call) {
  await roomOfOwner(call, input.room);
  const snapshot = await snapshotOf(call, input.room, 'member_or_owner');
  const command = (draft: DraftText): DraftCommand => ({ ...asked(call, 'editDraft', input.request_id), draft, version: input.version });
  await send(call, snapshot.state, command(await staged(call, snapshot, input, command)));
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

/** The draft with who raised, agreed to and disputed what filled in, and its texts stored. */
async function staged(call: Call, snapshot: Snapshot, input: DraftInput, command: (draft: DraftText) => DraftCommand): Promise<DraftText> {
  const { caller, deps } = call;
  const { slug } = snapshot.state;
  const findings = input.findings.map((finding): DraftFinding => unmerged(finding));
  const merged = mergedOr(call, snapshot, findings, () => command({ verdict: input.verdict, body: '', findings }));
  const [body, ...bodies] = await deps.store.texts.stage(slug, caller.id, [input.body, ...input.findings.map((finding) => finding.body)]);
  return { verdict: input.verdict, body: body!, findings: merged.map((finding, index) => ({ ...finding, body: bodies[index]! })) };
}

function unmerged(finding: z.output<typeof draftFinding>): DraftFinding {
  return {
    path: finding.path,
    ...linesOf(finding.line, finding.start_line),
    side: finding.side ?? 'new',
    severity: finding.severity,
    body: '',
    raisedBy: finding.raised_by ?? [],
    agreedBy: finding.agreed_by ?? [],
    disputedBy: finding.disputed_by ?? [],
    findings: finding.finding_ids ?? [],
  };
}

/** What the room itself refuses is said before what is wrong with the ids. */
function mergedOr(call: Call, snapshot: Snapshot, findings: readonly DraftFinding[], command: () => DraftCommand): DraftFinding[] {
  try {
    knownParticipants(call, snapshot.state, findings);
    return mergeDraft(findings, snapshot);
  } catch (error) {
    const decision = decide(snapshot.state, command(), call.deps.now());
    throw decision.kind === 'refused' ? Refusal.from(decision.refusal) : error;
  }
}

const LISTS = [
  ['raised_by', 'raisedBy'],
  ['agreed_by', 'agreedBy'],
  ['disputed_by', 'disputedBy'],
] as const;

/** D1: the lists hold ids of participants of this room; a name in one would be lost without a word. */
function knownParticipants(call: Call, room: RoomState, findings: readonly DraftFinding[]): void {
  const known = new Set(room.participants.map((participant) => participant.id));
  for (const [index, finding] of findings.entries()) {
    for (const [wire, list] of LISTS) {
      const unknown = finding[list].find((id) => !known.has(id));
      if (unknown === undefined) continue;
      const field = `findings[${index}].${wire}`;
      throw new Refusal(
        'invalid',
        `${field}: ${unknown} is no participant of this room.`,
        call.caller.kind === 'person'
          ? 'barista room show SLUG --json names them.'
          : 'get_review_round names the participants with their ids.',
        field,
      );
    }
  }
}

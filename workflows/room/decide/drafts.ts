import type { DraftCommand, DraftText, OwnerCommand } from '../commands.js';
import { LIMITS, type Draft, type DraftFinding, type RoomState } from '../state.js';
import { standings } from '../findings.js';
import { seenBy } from '../visibility.js';
import { mayDraft } from '../../barista/drafting.js';
import { offersOf } from '../../barista/status.js';
import { type Decision, type Refused, badRange, done, draftIsFixed, lacksRole, notTheOwner, refuse, repeat } from './checks.js';

/** D1 to D3, D8. */
export function save(room: RoomState, command: DraftCommand & { type: 'saveDraft' }): Decision {
  const { draft, round } = room;
  const current = draft && draft.round === round?.number ? draft : null;
  if (current && !current.edited && command.requestId === undefined && current.draftedBy === command.by && isSame(current, command.draft)) {
    return repeat({ round: current.round, version: current.version });
  }
  const refused =
    lacksRole(room, command.by, 'lead') ??
    notDraftable(room) ??
    draftIsFixed(room) ??
    anotherIsPosting(room) ??
    tooSoon(room, command.by) ??
    badRange(command.draft.findings) ??
    badIds(room, command.draft.findings, 'get_review_round lists the findings with their ids.');
  if (refused) return refused;
  const version = nextVersion(room);
  return done([{ type: 'DraftSaved', round: round!.number, headSha: round!.headSha, ...command.draft, by: command.by, version }], {
    round: round!.number,
    version,
  });
}

function nextVersion(room: RoomState): number {
  return (room.draft?.version ?? 0) + 1;
}

function notDraftable(room: RoomState): Refused | null {
  if (!room.round) return refuse('no_open_round', 'There is no round to draft yet.', { hint: 'Open a round first.' });
  if (room.round.closed) return null;
  return refuse('round_open', `Round ${room.round.number} is open; a draft is written once it is closed.`);
}

/** D5: an older round's draft on its way to the forge is not overtaken by a newer one. */
function anotherIsPosting(room: RoomState): Refused | null {
  if (room.draft?.posting.status !== 'posting') return null;
  return refuse('conflict', `The draft of round ${room.draft.round} is being posted.`, { hint: 'Draft again in a minute.' });
}

/** B18: an agent drafts in a Barista room when it is asked to. */
function tooSoon(room: RoomState, by: string): Refused | null {
  if (mayDraft(room, by)) return null;
  return refuse('too_soon', `Barista has not asked for the draft of round ${room.round?.number ?? 0} yet.`, {
    hint: 'It asks once nothing needs a fix and no answer is waited for. get_review_round says what is open.',
  });
}

/** D2: findings of this room's rounds, at most 50 under one merged finding, each under one only. */
function badIds(room: RoomState, findings: readonly DraftFinding[], hint: string): Refused | null {
  // An older draft may be edited while a round is open: what that one has raised may be hidden from its owner (V2).
  const stored = new Set([...seenBy(room, null).findings.map((finding) => finding.id), ...room.settled]);
  const owner = new Map<string, number>();
  for (const [index, finding] of findings.entries()) {
    const field = `findings[${index}].finding_ids`;
    if (finding.findings.length > LIMITS.findingsPerMerged) {
      return refuse('invalid', `A merged finding has at most ${LIMITS.findingsPerMerged} finding_ids, not ${finding.findings.length}.`, {
        field,
      });
    }
    for (const id of finding.findings) {
      if (!stored.has(id)) {
        return refuse('not_found', `No round of this room has a finding ${id}.`, {
          field,
          hint,
        });
      }
      if (owner.has(id))
        return refuse('invalid', `${id} stands under findings[${owner.get(id)!}] already; each id stands under one merged finding.`, {
          field,
        });
      owner.set(id, index);
    }
  }
  return null;
}

function isSame(draft: Draft, text: DraftText): boolean {
  return draft.verdict === text.verdict && draft.body === text.body && JSON.stringify(draft.findings) === JSON.stringify(text.findings);
}

/** D4: the owner's edit; a client with an old version is told, so that two tabs do not overwrite each other. */
export function edit(room: RoomState, command: DraftCommand & { type: 'editDraft' }): Decision {
  const refused = notTheOwner(room, command.by) ?? notEditable(room);
  if (refused) return refused;
  const draft = room.draft!;
  if (draft.version === command.version + 1 && draft.edited && command.requestId === undefined && isSame(draft, command.draft)) {
    return repeat({ round: draft.round, version: draft.version });
  }
  const { findings } = command.draft;
  const blocked =
    draft.version === command.version
      ? (badRange(findings) ?? badIds(room, findings, 'The draft as it was read has the ids of its findings.'))
      : oldVersion(draft, command.version);
  if (blocked) return blocked;
  return done([{ type: 'DraftEdited', ...command.draft, version: nextVersion(room) }], { round: draft.round, version: nextVersion(room) });
}

function oldVersion(draft: Draft, version: number): Refused {
  return refuse('conflict', `The draft has changed: it is version ${draft.version}, not ${version}.`, {
    field: 'version',
    hint: 'Read it again and edit that.',
  });
}

function notEditable(room: RoomState): Refused | null {
  const { draft } = room;
  if (!draft) return refuse('not_found', 'There is no draft yet.');
  switch (draft.posting.status) {
    case 'draft':
      return null;
    case 'posting':
      return refuse('conflict', `The draft of round ${draft.round} is being posted.`);
    case 'posted':
      return refuse('posted', `The review of round ${draft.round} is posted.`, { hint: 'The next review needs a new round.' });
  }
}

/** D5: fixes the text; the posting itself goes on beside the room. A second post while it runs is told so. */
export function post(room: RoomState, command: DraftCommand & { type: 'postDraft' }): Decision {
  const refused = notTheOwner(room, command.by) ?? notEditable(room);
  if (refused) return refused;
  const draft = room.draft!;
  if (command.version !== undefined && command.version !== draft.version) return oldVersion(draft, command.version);
  // Only what everybody may see: a later round may be open, with reviews that are still hidden (V2).
  return done([{ type: 'PostingStarted', by: command.by, standing: standings(seenBy(room, null)) }], {
    round: draft.round,
    version: draft.version,
  });
}

/** B23: the owner has the latest round drafted as it is; refused unless it is offered (B28). */
export function finalDraft(room: RoomState, command: OwnerCommand & { type: 'finalDraft' }): Decision {
  const refused = notTheOwner(room, command.by);
  if (refused) return refused;
  if (room.round && room.round.drafting.finalAt !== null) return repeat({ round: room.round.number });
  if (!offersOf(room).includes('final_draft')) {
    return refuse('conflict', 'The final draft is not on offer now.', {
      hint: 'It is offered while a closed round waits for fixes that do not come.',
    });
  }
  return done([{ type: 'FinalDraftTaken', by: command.by }], { round: room.round!.number });
}

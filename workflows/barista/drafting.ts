import type { Clock } from '../messages.js';
import type { DraftAsk, Participant, ParticipantId, RoomState, Round } from '../room/state.js';
import { LIMITS } from '../room/state.js';
import { holders, namesOf, participantOf } from '../room/members.js';
import { hasSubmitted } from '../room/rounds.js';
import { type Step, act, wait } from './step.js';

/** B18 to B21, B25, B28: getting the latest, closed round drafted, once nothing holds it. */
export function stepOfDrafting(room: RoomState, round: Round, now: number): Step {
  const leads = holders(room, 'lead');
  const ask = runningAsk(round);
  if (leads.length === 0) return handOff(room, round);
  // Asked anew where the owner has named another lead; one of several leads may go without a word (B28).
  if (!ask || leads.some((lead) => !ask.leads.includes(lead.id)))
    return act({ do: 'askDraft', leads: ids(leads) }, 'B18: nothing is left to fix and nothing holds the draft');
  return waitForDraft(room, round, ask, leads, now);
}

function waitForDraft(room: RoomState, round: Round, ask: DraftAsk, leads: readonly Participant[], now: number): Step {
  const { draftReminder, draftHandoff } = room.durations;
  const askedAt = ask.postedAt ?? ask.at;
  const handOffAt = askedAt + draftHandoff;
  const personLeads = leads.some((lead) => lead.kind === 'person');
  if (!personLeads && handOffAt <= now) return handOff(room, round);
  const remindAt = askedAt + draftReminder;
  if (ask.remindedAt === null && remindAt <= now) return act({ do: 'remindLeads', leads: ids(leads) }, 'B19: no draft yet');
  const clocks: Clock[] = [];
  if (ask.remindedAt === null) clocks.push({ name: 'draft_reminder', what: `remind ${namesOf(room, ids(leads))} to draft`, at: remindAt });
  if (!personLeads) {
    const what = nextDrafter(room, round) && round.drafting.handOffs < LIMITS.handOffs ? 'hand the draft on' : 'assemble the draft';
    clocks.push({ name: 'draft_handoff', what, at: handOffAt });
  }
  return wait(clocks, `waiting for ${namesOf(room, ids(leads))} to draft the review`);
}

/** B19, B20, B25: to the next agent, at most twice; with nobody left Barista assembles the draft. */
function handOff(room: RoomState, round: Round): Step {
  const to = round.drafting.handOffs < LIMITS.handOffs ? nextDrafter(room, round) : null;
  if (to) return act({ do: 'handOff', to: to.id }, 'B19: the lead has not drafted, or there is none');
  return act({ do: 'assembleDraft' }, 'B20: no agent drafted this round');
}

/**
 * B19: an agent without the author role that submitted in this round, earliest joined first; then another
 * agent with a role but not author. Nobody is asked twice in a round.
 */
function nextDrafter(room: RoomState, round: Round): Participant | null {
  const asked = new Set(round.drafting.asks.flatMap((ask) => ask.leads));
  const agents = room.participants
    .filter((known) => known.kind === 'agent' && known.present && !known.roles.includes('author') && !asked.has(known.id))
    .sort((a, b) => a.joinedAt - b.joinedAt);
  return agents.find((agent) => hasSubmitted(round, agent.id)) ?? agents.find((agent) => agent.roles.length > 0) ?? null;
}

export function runningAsk(round: Round): DraftAsk | null {
  const last = round.drafting.asks.at(-1);
  return last && last.endedAt === null ? last : null;
}

/** B18, B28: the draft is asked for: by Barista, or by the owner's final draft, of which Barista is about to tell the lead. */
export function isAskedFor(round: Round): boolean {
  return runningAsk(round) !== null || round.drafting.finalAt !== null;
}

/** B18: before the ask, or once it was overtaken, an agent's draft is too soon; after a draft it may draft again (D3). */
export function mayDraft(room: RoomState, by: ParticipantId): boolean {
  if (!room.barista.enabled || participantOf(room, by)?.kind === 'person' || !room.round) return true;
  return isAskedFor(room.round) || room.draft?.round === room.round.number;
}

function ids(participants: readonly Participant[]): ParticipantId[] {
  return participants.map((participant) => participant.id);
}

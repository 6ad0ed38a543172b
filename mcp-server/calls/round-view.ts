import { Refusal } from '../../workflows/room/refusal.js';
import { nextSteps } from '../../workflows/room/turn.js';
import { openRound } from '../../workflows/room/rounds.js';
import type { ParticipantId, RoomState, Round } from '../../workflows/room/state.js';
import { wouldReveal } from '../../workflows/room/visibility.js';
import type { Call } from '../deps.js';
import { draftView, type WireDraft } from '../views/draft.js';
import { findingView, type WireFinding } from '../views/finding.js';
import { roundView, wireRound, type FindingsFilter, type RoundPage, type WireRound } from '../views/round.js';
import type { Snapshot } from '../views/snapshot.js';
import { knownRoom } from './access.js';
import { snapshotOf, snapshotToShow } from './reading.js';
import { aroundOf } from './world.js';

interface RoundInput {
  readonly room: string;
  readonly round?: number | undefined;
  readonly findings?: FindingsFilter | undefined;
  readonly page?: number | undefined;
  readonly max_chars?: number | undefined;
}

/** V1: a round as the caller may see it, a page of it; seeing another's review is recorded before it is answered. */
export async function readRound({ room: slug, round, findings, page, max_chars }: RoundInput, call: Call): Promise<RoundPage> {
  const snapshot = await snapshotToShow(call, slug);
  const around = await aroundOf(call, snapshot.state, roundIn(snapshot, round));
  return roundView(snapshot, call.caller.id, { round, findings, page, maxChars: max_chars }, around, call.deps.now());
}

/** The rounds with these numbers, as the contract spells one; all of them, oldest first. */
export async function roundsOf(call: Call, slug: string, numbers: readonly number[] | 'all'): Promise<WireRound[]> {
  const snapshot = await snapshotOf(call, slug);
  const all = [...snapshot.records.values()].map((record) => record.round);
  if (snapshot.state.round !== null) all.push(snapshot.state.round);
  const wanted =
    numbers === 'all'
      ? all.sort((a, b) => a.number - b.number)
      : numbers.flatMap((number) => all.find((round) => round.number === number) ?? []);
  return wanted.map(wireRound);
}

function roundIn({ state, records }: Snapshot, number: number | undefined): Round | null {
  return number === undefined || number === state.round?.number ? state.round : (records.get(number)?.round ?? null);
}

/** A finding after it was answered. What a raiser is shown of its own finding is no reading of another's review. */
export async function findingFor(call: Call, slug: string, id: string): Promise<WireFinding> {
  const before = await snapshotOf(call, slug);
  const own = before.state.findings.find((finding) => finding.id === id)?.raisedBy === call.caller.id;
  const found = findingView(own ? before : await snapshotToShow(call, slug), call.caller.id, id);
  if (found !== null) return found;
  throw new Refusal(
    'not_found',
    `There is no finding ${id} in the latest round.`,
    'get_review_round lists the findings with their ids.',
    'finding_id',
  );
}

/** D6: the newest round's draft, as the caller may see it. @throws Refusal `not_found` where there is none */
export async function draftFor(call: Call, slug: string): Promise<WireDraft> {
  const snapshot = await snapshotToShow(call, slug, 'member_or_owner');
  const { draft } = snapshot.state;
  const found = draft && draftView(snapshot, call.caller.id, await aroundOf(call, snapshot.state, roundIn(snapshot, draft.round)));
  if (found) return found;
  throw new Refusal('not_found', 'There is no draft yet.', 'A draft is written once a round is closed.');
}

/** V6, after a write: what the caller does next. It shows nothing of a review that the caller was not shown yet. */
export async function nextStepsFor(call: Call, slug: string): Promise<string> {
  return nextSteps(withoutNews(await knownRoom(call, slug), call.caller.id), call.caller.id, call.deps.now());
}

function withoutNews(room: RoomState, reader: ParticipantId): RoomState {
  const round = openRound(room);
  if (round === null || !wouldReveal(room, reader)) return room;
  return { ...room, findings: room.findings.filter((finding) => finding.raisedIn !== round.number || finding.raisedBy === reader) };
}

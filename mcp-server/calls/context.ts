import { ForgeError } from '../../activities/forge/port.js';
import { refOf } from '../../activities/head.js';
import { keepContext as keep } from '../../activities/keep-context.js';
import type { FreshHead } from '../../workflows/room/events.js';
import { openRound } from '../../workflows/room/rounds.js';
import type { RoomState } from '../../workflows/room/state.js';
import { mergeShown, type PathShown, type ShownFacts } from '../../activities/context/coverage.js';
import type { Anchor } from '../../activities/context/anchors.js';
import { keepDiff } from '../../activities/context/kept-diff.js';
import { placesIn, type Place } from '../../activities/context/places.js';
import { readContext as contextPage } from '../../activities/context/read-context.js';
import { readFile as filePage } from '../../activities/context/read-file.js';
import type { ReadDeps, ReadFacts } from '../../activities/context/types.js';
import type { Call, Deps } from '../deps.js';
import { unsettledFindings } from '../views/finding.js';
import { snapshotOf, withoutOthersReviews } from './reading.js';
import { within } from './within.js';
import { headFor } from './world.js';

interface ContextInput {
  readonly room: string;
  readonly page?: number | undefined;
  readonly since_round?: number | undefined;
  readonly head_sha?: string | undefined;
  readonly max_chars?: number | undefined;
}

/** A page of the pull request; what it shows is remembered for the open round (G1). */
export async function readContext({ room, page, since_round, head_sha, max_chars }: ContextInput, call: Call): Promise<object> {
  const { state, facts } = await factsOf(call, room);
  const query = { page, sinceRound: since_round, headSha: head_sha, maxChars: max_chars };
  const { answer, shown } = await contextPage(readDeps(call.deps), facts, query);
  await remember(call, state, shown);
  return answer;
}

interface FileInput {
  readonly room: string;
  readonly path: string;
  readonly ref?: string | undefined;
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly page?: number | undefined;
  readonly max_chars?: number | undefined;
}

/** A page of a file; what it shows is remembered for the open round (G1). */
export async function readFile({ room, path, ref, start_line, end_line, page, max_chars }: FileInput, call: Call): Promise<object> {
  const { state, facts } = await factsOf(call, room);
  const query = { path, ref, startLine: start_line, endLine: end_line, page, maxChars: max_chars };
  const { answer, shown } = await filePage(readDeps(call.deps), facts, query);
  await remember(call, state, shown);
  return answer;
}

const readDeps = (deps: Deps): ReadDeps => ({ forge: deps.forge, store: deps.store.reads });

/** Reading the pull request is no reading of reviews: it shows nothing of those of the open round, and freezes nobody. */
async function factsOf(call: Call, slug: string): Promise<{ state: RoomState; facts: ReadFacts }> {
  const snapshot = withoutOthersReviews(await snapshotOf(call, slug), call.caller.id);
  const { state } = snapshot;
  const head = await headFor(call, state);
  const facts: ReadFacts = {
    ref: refOf(state.pullRequest),
    openRound: openRound(state),
    rounds: [...state.earlier, ...(state.round === null ? [] : [state.round])],
    findings: unsettledFindings(snapshot, call.caller.id),
    currentHead: head === null || head.headSha === null ? null : { headSha: head.headSha, baseSha: head.baseSha, readAt: head.readAt },
  };
  return { state, facts };
}

async function remember({ deps, caller }: Call, room: RoomState, shown: readonly PathShown[]): Promise<void> {
  const round = openRound(room);
  if (round === null) return;
  await deps.store.shown.record<ShownJson>(
    room.slug,
    round.number,
    caller.id,
    shown as readonly { path: string; facts: ShownJson }[],
    (kept, added) => mergeShown(kept, added) as ShownJson,
  );
}

/** The same facts, as the JSON column takes them. */
type ShownJson = { [K in keyof ShownFacts]: ShownFacts[K] } & { [key: string]: never };

/** How findings lie in the pull request under review. */
interface UnderReview {
  readonly paths: ReadonlySet<string>;
  readonly place: (anchor: Anchor) => Place;
}

/** S6, D9: for findings on `ranged`, where each can stand; null where that cannot be known now, so nothing is called outside. */
export async function underReview({ deps }: Call, room: RoomState, ranged: ReadonlySet<string>): Promise<UnderReview | null> {
  const round = openRound(room);
  if (round === null) return null;
  const read = async (): Promise<UnderReview | null> => {
    const diff = await keepDiff(readDeps(deps), refOf(room.pullRequest), round);
    // Where the listing has gaps, what it does not list may be in the pull request all the same (C9).
    if (diff.gaps.length > 0) return null;
    const paths = new Set(diff.files.flatMap(({ path, previousPath }) => (previousPath === undefined ? [path] : [path, previousPath])));
    return { paths, place: await placesIn(diff, ranged) };
  };
  try {
    return await within<UnderReview | null>(deps.timeLimits.underReview, read(), () => null);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return null;
  }
}

/** O1: the opening fetches and keeps the whole context. It goes on beside the opening, which does not wait for it. */
export function keepContext({ deps }: Call, room: RoomState, { sha, baseSha }: FreshHead): void {
  keep(deps, room.pullRequest, { headSha: sha, baseSha }).catch((error: unknown) => {
    deps.log.error({ err: error, room: room.slug }, 'the context of a round could not be kept');
  });
}

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { keepDiff } from './context/kept-diff.js';
import { placesIn } from './context/places.js';
import { databaseAway } from './database-away.js';
import type { ActivityDeps } from './deps.js';
import { ForgeError, type ReadBack, type ReviewToPost } from './forge/port.js';
import { refOf } from './head.js';
import { postedReview } from './posted-body.js';
import { coverageOfRound } from './round-coverage.js';
import type { Snapshot } from '../prisma/store.js';
import type { RoomActivities } from '../workflows/activities.js';
import { POSTING_BEAT_MS, POSTING_FAILED } from '../workflows/messages.js';
import { recordsOf, type RoundRecord } from '../workflows/room/record.js';
import type { Draft, RoomState, Round } from '../workflows/room/state.js';

/** D9: characters that every forge takes as one body, with room for its marker. */
const BODY_LIMIT = 64_000;
const NOT_PROJECTED_MS = 1_000;
/** How often the forge may fail in a way that passes until the owner is told; over ten minutes and more, as Temporal spaces them. */
const TRIES = 10;
/** Seconds that a forge which reads from copies is given to show what it took. */
const SHOWN_WITHIN = 10;

/** What one attempt leaves for the next. */
interface Trace {
  /** Where the forge said the review stands, once it has taken it. */
  readonly taken: string | null;
  /** How often it was tried in vain, the database's absence not counted. */
  readonly failures: number;
}

/**
 * D5: looks for its own marker, sends, reads back. It may die anywhere and be tried again: what was posted under the
 * marker is found and not posted a second time, nor is what the forge has taken and does not show.
 */
export function createPostReview(deps: ActivityDeps): RoomActivities['postReview'] {
  return async ({ slug, version }) => {
    const context = Context.current();
    let trace = (context.info.heartbeatDetails ?? { taken: null, failures: 0 }) as Trace;
    const leave = (more: Partial<Trace>): void => context.heartbeat((trace = { ...trace, ...more }));
    const beat = setInterval(() => leave({}), POSTING_BEAT_MS);
    const stop = context.cancellationSignal;
    try {
      return await post(deps, slug, version, { before: trace.taken, taken: (url) => leave({ taken: url }), stop });
    } catch (error) {
      if (error instanceof ApplicationFailure || stop.aborted) throw error;
      const away = error instanceof ForgeError ? null : databaseAway(error);
      if (away) throw away;
      if (!(error instanceof ForgeError)) deps.log.error({ err: error, room: slug }, 'a review could not be posted');
      leave({ failures: trace.failures + 1 });
      throw failureOf(error, trace.failures >= TRIES);
    } finally {
      clearInterval(beat);
    }
  };
}

/** For good only by what the forge has answered, or where it goes on so; never for what passes without either's doing. */
function failureOf(error: unknown, isLast: boolean): ApplicationFailure {
  if (!(error instanceof ForgeError)) {
    const message = 'Barista itself failed at it; its log says why';
    return isLast ? ApplicationFailure.nonRetryable(message, POSTING_FAILED) : ApplicationFailure.retryable(message, 'fault');
  }
  const { kind, message, retryAfter } = error;
  if (kind !== 'unavailable') return ApplicationFailure.nonRetryable(message, POSTING_FAILED);
  if (isLast) return ApplicationFailure.nonRetryable(`the forge could not take it, try again later: ${message}`, POSTING_FAILED);
  return ApplicationFailure.create({
    type: 'forge_unavailable',
    message,
    ...(retryAfter !== undefined && { nextRetryDelay: retryAfter * 1_000 }),
  });
}

interface Attempt {
  /** Where an earlier attempt was told that the review stands; null: none was. */
  readonly before: string | null;
  readonly taken: (url: string) => void;
  /** Another attempt may have begun. */
  readonly stop: AbortSignal;
}

async function post(
  deps: ActivityDeps,
  slug: string,
  version: number,
  { before, taken, stop }: Attempt,
): ReturnType<RoomActivities['postReview']> {
  const { store, forge, log } = deps;
  const snapshot = await store.rooms.snapshot(slug, { records: 'all' });
  const draft = snapshot?.state.draft;
  if (!snapshot || draft?.version !== version || draft.posting.status !== 'posting') {
    // Whoever asked for it is about to project it: on the usual way this comes first.
    throw ApplicationFailure.create({
      type: 'not_projected',
      message: `the database does not say yet that version ${version} of room ${slug}'s draft is being posted`,
      nextRetryDelay: NOT_PROJECTED_MS,
    });
  }
  const ref = refOf(snapshot.state.pullRequest);
  const { forge: name, repository } = snapshot.state.pullRequest;
  const { postAs, commentInstead } = await store.repositories.settings(snapshot.state.owner, name, repository);
  const { review: written, unplaced, beside } = await composed(deps, snapshot, draft);
  const review = { ...written, as: { identity: postAs, commentInstead } };
  const found = await forge.findPosted(ref, review);
  const { url } = found ?? (before === null ? await forge.post(ref, review, stop) : { url: before });
  taken(url);
  const shown = await shownOf(deps, slug, () => forge.readBack(ref, review));
  if (shown === null) return { url, unplaced };
  if (!shown.found) {
    if (before === null) throw new ForgeError('unavailable', 'the forge does not show the review it took', SHOWN_WITHIN);
    // Whoever removed it meant to, and what the forge shows late would be there twice.
    log.warn({ room: slug, url }, 'the forge does not show the review it took');
    return { url, unplaced };
  }
  if (shown.differences.length > 0)
    log.warn({ room: slug, differences: shown.differences }, 'the forge shows the review otherwise than it was posted');
  const refused = shown.inBody.map((position) => beside[position]!);
  return { url: shown.url ?? url, unplaced: [...unplaced, ...refused].sort((one, other) => one - other) };
}

/** null: it may not be read back, which makes no failure of a posting that is done. What passes is tried again. */
async function shownOf({ log }: ActivityDeps, slug: string, readBack: () => Promise<ReadBack>): Promise<ReadBack | null> {
  try {
    return await readBack();
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'unavailable') throw error;
    log.warn({ err: error, room: slug }, 'the posted review cannot be read back');
    return null;
  }
}

async function composed(
  deps: ActivityDeps,
  snapshot: Snapshot,
  draft: Draft,
): Promise<{ review: ReviewToPost; unplaced: readonly number[]; beside: readonly number[] }> {
  const { state: room, texts } = snapshot;
  const records = recordsOf(snapshot.records);
  const diff = await keepDiff({ forge: deps.forge, store: deps.store.reads }, refOf(room.pullRequest), commitsOf(room, draft));
  const place = await placesIn(diff, new Set(draft.findings.map((finding) => finding.path)));
  const places = draft.findings.map(({ path, line, startLine, side }) => place({ path, line: line ?? undefined, startLine, side }));
  const round = roundOf(room, records, draft.round);
  const coverage = round ? await coverageOfRound(deps, room, round) : [];
  const posted = postedReview({
    state: room,
    records,
    draft,
    text: (id) => texts.get(id) ?? '',
    coverage: coverage.map((reviewer) => reviewer.line),
    places,
    limit: BODY_LIMIT,
  });
  const { unplaced, beside, cut: _, ...review } = posted;
  // A round has one review (D8): the same marker however often it is tried, also after an edit of what failed half way.
  return { review: { marker: `${room.slug}/${draft.round}`, headSha: draft.headSha, ...review }, unplaced, beside };
}

function commitsOf(room: RoomState, draft: Draft): { baseSha: string; headSha: string } {
  const round = [...room.earlier, ...(room.round ? [room.round] : [])].find((known) => known.number === draft.round);
  return { baseSha: round?.baseSha ?? room.head.baseSha, headSha: draft.headSha };
}

function roundOf(room: RoomState, records: ReadonlyMap<number, RoundRecord>, number: number): Round | null {
  return room.round?.number === number ? room.round : (records.get(number)?.round ?? null);
}

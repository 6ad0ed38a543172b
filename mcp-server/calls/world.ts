import { refOf } from '../../activities/head.js';
import { ForgeError, type CiRead, type HeadRead } from '../../activities/forge/port.js';
import { callsOf, type Calls } from '../../workflows/barista/idle.js';
import { openRound } from '../../workflows/room/rounds.js';
import type { PullRequest, RoomState, Round } from '../../workflows/room/state.js';
import { coverageOfRound } from '../../activities/round-coverage.js';
import type { Call, Deps } from '../deps.js';
import type { Around } from '../views/snapshot.js';
import { within } from './within.js';

/** What a view of a round says of the world outside the room: head, CI, and who read what. */
export async function aroundOf(call: Call, room: RoomState, round: Round | null): Promise<Around> {
  const [head, ci, calls, rows] = await Promise.all([
    headFor(call, room),
    round === null ? null : call.deps.ci.of(room.pullRequest, round.headSha),
    callsIn(call.deps, room),
    round === null ? [] : coverageOfRound(call.deps, room, round),
  ]);
  return { head: head?.headSha == null ? null : { sha: head.headSha, readAt: head.readAt }, ci, calls, coverage: rows };
}

/** V4: the head as last read; a head that the room has not heard of is told to it (P3). Null when unreadable. */
export async function headFor(call: Call, room: RoomState): Promise<HeadRead | null> {
  const shown = await call.deps.heads.shown(room);
  if (shown === null) return null;
  const { head, fresh } = shown;
  if (fresh && head.headSha !== null && room.ended === null && isNews(room, head)) {
    // Whoever asked is answered whether or not the room can be told: the watch tells it again.
    void tellRoom(call.deps, room, head).catch((error: unknown) =>
      call.deps.log.warn({ err: error, room: room.slug }, 'the room could not be told of a new head'),
    );
  }
  return head;
}

/** "I heard X": not where the room has learnt of another head while this one was read, for that one is newer. */
async function tellRoom({ store, heads, door }: Deps, room: RoomState, head: HeadRead & { headSha: string }): Promise<void> {
  const seen = await heads.seen(room, head);
  const now = await store.rooms.state(room.slug);
  if (now === null || now.ended !== null || now.head.seq !== room.head.seq) return;
  await door.headSeen(room.slug, openRound(now) === null ? { ...seen, move: null } : seen);
}

function isNews(room: RoomState, head: HeadRead): boolean {
  return head.headSha !== room.head.sha || head.baseSha !== room.head.baseSha || head.state !== room.head.state;
}

/** Review calls of the open round, by participant (B4). */
export async function callsIn({ store }: Deps, room: RoomState): Promise<Calls> {
  const round = openRound(room);
  return round === null ? {} : callsOf(await store.spans.spans(room.slug, round.number));
}

/** V5: how long an answer of the forge's CI holds. */
const CI_FOR_MS = { settled: 10 * 60_000, other: 60_000 };
const CI_REMEMBERED = 5_000;
const UNKNOWN: CiRead = { state: 'unknown', summary: 'CI could not be read just now.', url: null };

/** CI of commits as this server last read it; what a forge has told of since is read again. */
export class Ci {
  private readonly last = new Map<string, { readonly read: CiRead; readonly at: number }>();

  constructor(private readonly deps: Pick<Deps, 'forge' | 'now' | 'store' | 'timeLimits'>) {}

  async of(pullRequest: PullRequest, sha: string): Promise<CiRead> {
    const key = `${pullRequest.key} ${sha}`;
    const known = this.last.get(key);
    if (known !== undefined) {
      const settled = known.read.state === 'success' || known.read.state === 'failure';
      const young = this.deps.now() - known.at < (settled ? CI_FOR_MS.settled : CI_FOR_MS.other);
      if (young && !(await this.isOverheard(pullRequest, sha, known.at))) return known.read;
    }
    // From the beginning of the read: what is heard while it runs may not be in it.
    const at = this.deps.now();
    const read = await this.read(pullRequest, sha);
    this.last.delete(key);
    this.last.set(key, { read, at });
    if (this.last.size > CI_REMEMBERED) this.last.delete(this.last.keys().next().value!);
    return read;
  }

  /** Of this commit, or of one that the forge made for a run of the pull request. */
  private async isOverheard({ repository, key }: PullRequest, sha: string, readAt: number): Promise<boolean> {
    const heard = await Promise.all([sha, key].map((of) => this.deps.store.deliveries.ciHeardAt(repository, of)));
    return heard.some((at) => at !== null && at >= readAt);
  }

  private async read(pullRequest: PullRequest, sha: string): Promise<CiRead> {
    try {
      return await within(this.deps.timeLimits.ci, this.deps.forge.ci(refOf(pullRequest), sha), () => UNKNOWN);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const { kind, message, facts } = error;
      // What passes by itself is no news for a reviewer, except that it names when.
      const said = kind !== 'unavailable' || facts.limit !== undefined;
      return { ...UNKNOWN, ...(said && { summary: message }), url: facts.mendAt ?? null };
    }
  }
}

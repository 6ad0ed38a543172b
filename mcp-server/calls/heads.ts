import { lookAtHead, moveTo, refOf } from '../../activities/head.js';
import { ForgeError, type Forge, type HeadRead } from '../../activities/forge/port.js';
import type { FreshHead, HeadSeen } from '../../workflows/room/events.js';
import type { RoomState } from '../../workflows/room/state.js';
import { within } from './within.js';

/** V4: how old a head may be that is only shown. */
const SHOWN_FOR_MS = 30_000;
/** Pull requests whose last head is remembered; the longest unread is forgotten first. */
const REMEMBERED = 10_000;

/**
 * The head of each pull request as this server last read it. Read at most once in 30 seconds for all callers that
 * only show it; whoever decides on it reads it anew.
 */
export class Heads {
  private readonly last = new Map<string, HeadRead>();
  private readonly running = new Map<string, Promise<HeadRead>>();

  /** `withinMs`: how long a call waits for the forge before it goes on without the head (DESIGN 14). */
  constructor(
    private readonly forge: Forge,
    private readonly now: () => number,
    private readonly withinMs: number,
  ) {}

  /**
   * For showing: up to 30 seconds old, and never older than what the room has heard since. Null when the forge cannot
   * be read. `fresh`: it was read for this call.
   */
  async shown(room: RoomState): Promise<{ readonly head: HeadRead; readonly fresh: boolean } | null> {
    const { key } = room.pullRequest;
    const last = this.last.get(key);
    if (last !== undefined && this.now() - last.readAt < SHOWN_FOR_MS && last.readAt >= room.head.since)
      return { head: last, fresh: false };
    let read = this.running.get(key);
    if (read === undefined) {
      read = this.read(room).finally(() => this.running.delete(key));
      this.running.set(key, read);
    }
    try {
      return { head: await this.inTime(read), fresh: true };
    } catch (error) {
      if (error instanceof ForgeError) return null;
      throw error;
    }
  }

  private async read({ pullRequest }: RoomState): Promise<HeadRead> {
    const head = await this.forge.head(refOf(pullRequest));
    this.last.delete(pullRequest.key);
    this.last.set(pullRequest.key, head);
    if (this.last.size > REMEMBERED) this.last.delete(this.last.keys().next().value!);
    return head;
  }

  /**
   * For deciding: read now, by a read of its own, for one that another call began may be older than the push that this
   * call comes after.
   * @throws {ForgeError} also when it takes too long
   */
  async forCommand(room: RoomState): Promise<FreshHead> {
    return { ...(await this.inTime(lookAtHead(this.forge, room))), knownSeq: room.head.seq };
  }

  /** A head that was shown, as a room is told of it. */
  async seen(room: RoomState, { headSha: sha, baseSha, state }: HeadRead & { headSha: string }): Promise<HeadSeen> {
    return { sha, baseSha, state, move: await this.inTime(moveTo(this.forge, room, sha)), knownSeq: room.head.seq };
  }

  private inTime<T>(read: Promise<T>): Promise<T> {
    return within(this.withinMs, read, () => {
      throw new ForgeError('unavailable', `The forge did not answer within ${this.withinMs / 1_000} seconds.`);
    });
  }
}

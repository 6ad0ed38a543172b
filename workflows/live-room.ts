import type { Outbox, RoomInput } from './messages.js';
import { apply } from './room/apply.js';
import type { RoomEvent, RoomFact } from './room/events.js';
import type { RoomState } from './room/state.js';

/** The most JSON one projection carries, in characters; well under the payload limit. */
const BATCH = 500_000;
/** Events kept unacknowledged before the workflow makes sure of them itself, so that the outbox stays small. */
const FULL = 100;

/** A room while it runs: its state, and the events not yet known to be in the database. No clock, no Temporal. */
export class LiveRoom {
  /** Goes up with every change: what waits for "something happened" compares it. */
  version = 0;
  /** Set when the workflow itself must project: events of its own, or an edge that did not. */
  mustProject: boolean;
  /** How often something was seen of the pull request that may be older than what the room knows (P4). */
  headDoubts = 0;
  private outbox: Outbox;

  private constructor(
    private current: RoomState,
    outbox: Outbox,
  ) {
    this.outbox = outbox;
    this.mustProject = outbox.events.length > 0;
  }

  static from(input: RoomInput, now: number): LiveRoom {
    if (input.kind === 'resume') return new LiveRoom(input.state, input.outbox);
    const opened: RoomEvent = { type: 'RoomOpened', ...input.opened, at: now };
    return new LiveRoom(apply(null, opened), { from: 0, events: [opened] });
  }

  get state(): RoomState {
    return this.current;
  }

  /** Makes facts happen at `now`; whoever asked for them projects them, unless `mustProject` is set. */
  commit(facts: readonly RoomFact[], now: number): RoomEvent[] {
    const events = facts.map((fact): RoomEvent => ({ ...fact, at: now }));
    if (events.length === 0) return events;
    this.current = events.reduce<RoomState>(apply, this.current);
    this.outbox = { from: this.outbox.from, events: [...this.outbox.events, ...events] };
    this.version += 1;
    if (this.outbox.events.length >= FULL) this.mustProject = true;
    return events;
  }

  /** As {@link commit}, for what nobody outside asked for. */
  commitOwn(facts: readonly RoomFact[], now: number): void {
    if (this.commit(facts, now).length > 0) this.mustProject = true;
  }

  /** The head is to be looked at again. */
  doubtHead(): void {
    this.headDoubts += 1;
  }

  /** The database has everything up to `seq`. */
  acknowledge(seq: number): void {
    const done = Math.min(Math.max(seq - this.outbox.from, 0), this.outbox.events.length);
    if (done > 0) this.outbox = { from: this.outbox.from + done, events: this.outbox.events.slice(done) };
    if (this.isProjected) this.mustProject = false;
  }

  /** The oldest unacknowledged events that fit one projection. */
  batch(): Outbox {
    let size = 0;
    const fitting = this.outbox.events.findIndex((event, index) => (size += JSON.stringify(event).length) > BATCH && index > 0);
    return { from: this.outbox.from, events: fitting === -1 ? this.outbox.events : this.outbox.events.slice(0, fitting) };
  }

  /** Whether an event of this kind is not known to be in the database: its note may not have been posted. */
  owes(type: RoomEvent['type']): boolean {
    return this.outbox.events.some((event) => event.type === type);
  }

  get isProjected(): boolean {
    return this.outbox.events.length === 0;
  }

  /** What the next run goes on from. */
  resume(): RoomInput {
    return { kind: 'resume', state: this.current, outbox: this.outbox };
  }
}

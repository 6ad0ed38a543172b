import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { RoomActivities } from '../../workflows/activities.js';
import type { Span } from '../../workflows/barista/idle.js';
import {
  CLOCKS_QUERY,
  type Clock,
  HEAD_SIGNAL,
  ROOM_QUERY,
  ROOM_WORKFLOW,
  type RoomInput,
  SEARCH_ATTRIBUTES,
  type UpdateInput,
  type UpdateOutput,
  roomWorkflowId,
} from '../../workflows/messages.js';
import { alertsOf } from '../../workflows/room/alerts.js';
import { apply } from '../../workflows/room/apply.js';
import type { Command, NewFinding } from '../../workflows/room/commands.js';
import type { HeadSeen, RoomEvent } from '../../workflows/room/events.js';
import { noteOf } from '../../workflows/room/notes.js';
import { unsettled } from '../../workflows/room/rounds.js';
import type { RefusalFacts } from '../../workflows/room/refusal.js';
import { DEFAULT_DURATIONS, type DraftFinding, type Durations, type Reference, type RoomState } from '../../workflows/room/state.js';
import type { AlertKind, ParticipantKind, Recipe, Role, Verdict } from '../../workflows/room/words.js';
import { STEP_TIME } from '../../worker/step-time.js';
import { apartFromTimers, createTimeSkipping } from './time-skipping.js';
import { PATIENCE } from './patience.js';
import { silent } from './silent.js';

/** Rooms on a server that skips time: the real workflow, activities that keep what they were given, and verbs. */
export interface SkippedTime {
  readonly env: TestWorkflowEnvironment;
  room(options?: TimedRoomOptions): Promise<TimedRoom>;
  stop(): Promise<void>;
}

interface TimedRoomOptions {
  readonly recipe?: Recipe;
  readonly barista?: boolean;
  readonly durations?: Partial<Durations>;
}

export const MINUTE = 60_000;
const SECOND = 1_000;
/** What the loop reads, and waits for at most some seconds. */
const READS: readonly (keyof RoomActivities)[] = ['readCalls', 'readHead', 'assembleDraft'];
/** A commit from a few digits. */
export const commit = (short: string): string => short.padEnd(40, '0');

export async function skipTime(): Promise<SkippedTime> {
  Runtime.install({ logger: silent });
  const env = await createTimeSkipping();
  await env.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: {
      [SEARCH_ATTRIBUTES.repository]: 2,
      [SEARCH_ATTRIBUTES.pullRequest]: 2,
      [SEARCH_ATTRIBUTES.phase]: 2,
      [SEARCH_ATTRIBUTES.round]: 3,
      [SEARCH_ATTRIBUTES.chips]: 7,
      [SEARCH_ATTRIBUTES.waitingOn]: 7,
      [SEARCH_ATTRIBUTES.nextDeadline]: 6,
    },
  });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/review-room.ts', import.meta.url)),
    logger: silent,
  });
  const rooms = new Map<string, TimedRoom>();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'barista',
    workflowBundle,
    activities: activitiesOf(rooms),
    ...STEP_TIME,
  });
  const running = worker.run();
  return {
    env,
    async room(options = {}) {
      // A room that goes on living slows every later skip of time; a terminated one can hold this server's time still.
      for (const earlier of rooms.values()) await earlier.end();
      const room = await TimedRoom.open(env, `room-${rooms.size + 1}`, options, (opened) => rooms.set(opened.slug, opened));
      return room;
    },
    async stop() {
      for (const room of rooms.values()) await room.end();
      worker.shutdown();
      await running;
      await env.teardown();
    },
  };
}

/** What the room was told and what it said, as its fake world keeps it. */
export class TimedRoom {
  readonly notes: { readonly at: number; readonly text: string; readonly mentions: readonly string[] }[] = [];
  readonly alerts: { readonly at: number; readonly kind: AlertKind }[] = [];
  readonly calls: Record<string, Span[]> = {};
  head: HeadSeen = { sha: commit('a1'), baseSha: commit('ba'), state: 'open', move: null };
  /** Set to make the forge unreachable. */
  forgeAway = false;
  /** Set to keep the room's own events from the database, and the database from the room. */
  databaseAway = false;
  /** What is to happen, once, while the room reads: after that was read, and before the room has it. */
  readonly during: { head?: () => Promise<unknown>; calls?: () => Promise<unknown>; draft?: () => Promise<unknown> } = {};
  readonly posted: number[] = [];
  private projected: RoomState | null = null;
  private seq = 0;

  private constructor(
    readonly slug: string,
    readonly env: TestWorkflowEnvironment,
    readonly openedAt: number,
    readonly handle: WorkflowHandle,
  ) {}

  static async open(
    env: TestWorkflowEnvironment,
    slug: string,
    options: TimedRoomOptions,
    known: (room: TimedRoom) => void,
  ): Promise<TimedRoom> {
    const handle = env.client.workflow.getHandle(roomWorkflowId(slug));
    const room = new TimedRoom(slug, env, await env.currentTimeMs(), handle);
    known(room);
    const input: RoomInput = {
      kind: 'new',
      opened: {
        slug,
        pullRequest: { forge: 'local', key: `local:${slug}`, repository: 'local:repo', url: 'local:/repo?base=main&head=topic' },
        recipe: options.recipe ?? 'panel',
        owner: { id: 'us_olga', name: 'olga' },
        head: { sha: room.head.sha, baseSha: room.head.baseSha, state: 'open' },
        barista: options.barista ?? true,
        durations: { ...DEFAULT_DURATIONS, ...options.durations },
      },
    };
    await env.client.workflow.start(ROOM_WORKFLOW, {
      workflowId: roomWorkflowId(slug),
      taskQueue: 'barista',
      args: [input],
      // A task whose time is over while an update is in it, for the machine stood still, ends the room on this server.
      workflowTaskTimeout: '2m',
    });
    return room;
  }

  /** The room's age at a moment, in whole minutes: between two skips this server's time goes on by itself, by seconds. */
  ageAt(at: number): number {
    return Math.floor((at - this.openedAt) / MINUTE);
  }

  now(): Promise<number> {
    return this.env.currentTimeMs();
  }

  async send(command: Command): Promise<UpdateOutput> {
    await apartFromTimers(this.handle, () => this.now());
    const output = await this.handle.executeUpdate<UpdateOutput, [UpdateInput]>(command.type, {
      args: [{ command, projectedSeq: this.seq }],
    });
    this.project(output.seq - output.events.length, output.events);
    return output;
  }

  /** A signal, as a delivery or a watch of the head sends it. */
  async tell(signal: string, argument: unknown): Promise<void> {
    await apartFromTimers(this.handle, () => this.now());
    await this.handle.signal(signal, argument);
  }

  /** The refusal of a command that must be refused. */
  async refused(command: Command): Promise<RefusalFacts> {
    try {
      await this.send(command);
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
        return error.cause.details![0] as RefusalFacts;
      throw error;
    }
    throw new Error(`${command.type} was not refused`);
  }

  join(name: string, kind: ParticipantKind = 'agent'): Promise<UpdateOutput> {
    const id = `${kind === 'agent' ? 'ag' : 'us'}_${name}`;
    return this.send({ type: 'join', by: id, participant: { id, name, kind } });
  }

  roles(roles: Record<string, readonly Role[]>): Promise<UpdateOutput> {
    return this.send({ type: 'setRoles', by: 'us_olga', roles });
  }

  submit(
    name: string,
    verdict: Verdict = 'comment',
    findings: Partial<NewFinding>[] = [],
    references: Reference[] = [],
  ): Promise<UpdateOutput> {
    const whole = findings.map((finding, index): NewFinding => ({
      path: 'a.ts',
      line: index + 1,
      side: 'new',
      severity: 'major',
      body: `t${index}`,
      outsideDiff: false,
      ...finding,
    }));
    return this.send({ type: 'submitReview', by: `ag_${name}`, verdict, summary: `summary of ${name}`, findings: whole, references });
  }

  answer(name: string, finding: string, answer: 'accept' | 'reject'): Promise<UpdateOutput> {
    return this.send({ type: 'answerFinding', by: `ag_${name}`, finding, answer, reason: answer === 'reject' ? 'why' : null });
  }

  resolve(name: string, finding: string, resolution: 'fixed' | 'withdrawn' | 'upheld'): Promise<UpdateOutput> {
    return this.send({ type: 'resolveFinding', by: `ag_${name}`, finding, resolution, note: null });
  }

  draft(name: string): Promise<UpdateOutput> {
    return this.send({ type: 'saveDraft', by: `ag_${name}`, draft: { verdict: 'comment', body: 'draft', findings: [] } });
  }

  async end(): Promise<void> {
    if (!this.readModel?.ended) await this.send({ type: 'archive', by: 'us_olga' }).catch(() => undefined);
  }

  /** A review call by this reviewer now, as the edge would record it. */
  async call(name: string): Promise<void> {
    const at = await this.now();
    (this.calls[`ag_${name}`] ??= []).push({ from: at, last: at });
  }

  /** The pull request's head moves; the room is told as by a delivery. */
  async push(short: string, move: Partial<HeadSeen> = {}): Promise<void> {
    this.head = { ...this.head, sha: commit(short), move: { commits: 1, rewritten: false }, ...move };
    await this.tell(HEAD_SIGNAL, this.head);
  }

  /** Lets this many minutes pass; what was due happens. */
  async minutes(count: number): Promise<void> {
    await this.env.sleep(count * MINUTE);
    await this.settled();
  }

  /** These agents join, and Barista opens round 1 at minute 2. */
  async opens(...names: string[]): Promise<this> {
    for (const name of names) await this.join(name);
    await this.minutes(2);
    await this.eventually(/round 1 opened/);
    return this;
  }

  /** Until this round has closed, and all about it is said. */
  async closes(round: number): Promise<void> {
    await this.eventually(new RegExp(`round ${round} closed`));
    await this.settled();
  }

  /** Until the room has said it; the time stands still meanwhile. */
  async eventually(pattern: RegExp): Promise<void> {
    const deadline = Date.now() + PATIENCE.timeout;
    while (this.said(pattern).length === 0) {
      if (Date.now() > deadline) throw new Error(`the room never said ${String(pattern)}, but: ${this.said().join(' | ')}`);
      await this.state();
    }
  }

  /** Until nothing of what was due is under way, and the room's own events are all in the fake database. */
  async settled(): Promise<void> {
    const deadline = Date.now() + PATIENCE.timeout;
    const now = await this.now();
    let calm = 0;
    while (calm < 2) {
      const state = await this.state();
      calm = this.seq === state.seq && !(await this.isBehind(now)) ? calm + 1 : 0;
      if (Date.now() > deadline) throw new Error(`the room is at event ${state.seq}, its projection at ${this.seq}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Whether a clock has run out that it has not heard of, or it waits for the world: a sleep may be over by then. */
  private async isBehind(now: number): Promise<boolean> {
    // Some clocks are waited for a second longer.
    if ((await this.clocks()).some(({ at }) => at + SECOND < now)) return true;
    const { raw } = await this.handle.describe();
    const asked: readonly string[] = this.databaseAway ? READS : [...READS, 'project' satisfies keyof RoomActivities];
    return (raw.pendingActivities ?? []).some(({ activityType }) => asked.includes(activityType?.name ?? ''));
  }

  state(): Promise<RoomState> {
    return this.handle.query<RoomState>(ROOM_QUERY);
  }

  clocks(): Promise<Clock[]> {
    return this.handle.query<Clock[]>(CLOCKS_QUERY);
  }

  /** The current details, as the Temporal UI shows them, with its times as the room's age in minutes. */
  async details(): Promise<string> {
    const { currentDetails } = await this.handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    // They leave out the part of a second, and a clock of twelve minutes ends just after the twelfth.
    const minute = (at: string): string => `minute ${this.ageAt(Date.parse(at) + SECOND - 1)}`;
    return (currentDetails ?? '').replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, minute);
  }

  get readModel(): RoomState | null {
    return this.projected;
  }

  /** Every note that fits the pattern, as `minute text`. */
  said(pattern: RegExp = /./): string[] {
    return this.notes.filter((note) => pattern.test(note.text)).map((note) => `${this.ageAt(note.at)} ${note.text}`);
  }

  /** What the owner was told of, as `minute kind`. */
  told(): string[] {
    return this.alerts.map(({ at, kind }) => `${this.ageAt(at)} ${kind}`);
  }

  /** The fold of what it is given, once, in order: what the database does. */
  project(from: number, events: readonly RoomEvent[]): number {
    for (const [index, event] of events.entries()) {
      if (from + index + 1 !== this.seq + 1) continue;
      const before = this.projected;
      this.projected = apply(before, event);
      this.seq += 1;
      const note = noteOf(before ?? this.projected, event, (id) => id);
      if (note) this.notes.push({ at: event.at, text: note.text, mentions: note.mentions });
      for (const { kind } of alertsOf(before, event, this.projected)) this.alerts.push({ at: event.at, kind });
    }
    return this.seq;
  }
}

/** What was read, once {@link TimedRoom.during} is over; such a read takes longer than the room's first try does. */
async function meanwhile<T>(room: TimedRoom, what: keyof TimedRoom['during'], read: T): Promise<T> {
  const happens = room.during[what];
  if (!happens) return read;
  if (Context.current().info.isLocal) throw ApplicationFailure.retryable('not within a second');
  delete room.during[what];
  await happens();
  return read;
}

function draftedFrom(room: RoomState): DraftFinding[] {
  return unsettled(room).map(({ id, path, line, side, severity, body, raisedBy }) => ({
    path,
    line,
    side,
    severity,
    body,
    raisedBy: [raisedBy],
    agreedBy: [],
    disputedBy: [],
    findings: [id],
  }));
}

function activitiesOf(rooms: ReadonlyMap<string, TimedRoom>): RoomActivities {
  const roomOf = (slug: string): TimedRoom => {
    const room = rooms.get(slug);
    if (!room) throw new Error(`no room ${slug}`);
    return room;
  };
  const ofDatabase = (slug: string): TimedRoom => {
    const room = roomOf(slug);
    if (room.databaseAway) throw ApplicationFailure.retryable('the database is away');
    return room;
  };
  return {
    async project({ slug, from, events }) {
      return Promise.resolve({ seq: ofDatabase(slug).project(from, events) });
    },
    readCalls: async ({ slug }) => meanwhile(ofDatabase(slug), 'calls', structuredClone(roomOf(slug).calls)),
    async readHead({ slug }) {
      if (roomOf(slug).forgeAway) throw ApplicationFailure.nonRetryable('the forge is away');
      return meanwhile(roomOf(slug), 'head', roomOf(slug).head);
    },
    async watchHead({ slug, broken }) {
      const room = roomOf(slug);
      if (room.forgeAway && !broken) return Promise.resolve({ brokenSince: room.openedAt, trouble: 'unavailable' });
      if (!room.forgeAway && broken) return Promise.resolve(room.head);
      const known = room.readModel?.head;
      if (known && (known.sha !== room.head.sha || known.state !== room.head.state)) return Promise.resolve(room.head);
      Context.current().heartbeat();
      throw ApplicationFailure.create({
        type: 'not_moved',
        message: 'not moved',
        nextRetryDelay: '12 hours',
        category: ApplicationFailureCategory.BENIGN,
      });
    },
    assembleDraft: async ({ slug }) =>
      meanwhile(ofDatabase(slug), 'draft', { verdict: 'comment', body: 'assembled', findings: draftedFrom(roomOf(slug).readModel!) }),
    async postReview({ slug, version }) {
      ofDatabase(slug).posted.push(version);
      return Promise.resolve({ url: 'git-note', unplaced: [] });
    },
  };
}

import type { Calls, Span } from '../../workflows/barista/idle.js';
import { factsOf } from '../../workflows/barista/perform.js';
import { nextStep } from '../../workflows/barista/policy.js';
import { type Action, type Step, restsOn } from '../../workflows/barista/step.js';
import type { RoomFact } from '../../workflows/room/events.js';
import type { Note } from '../../workflows/room/notes.js';
import type { ParticipantId, RoomState } from '../../workflows/room/state.js';
import { MINUTE, NOON, type RoomInput, TestRoom, idOf } from './room.js';

export interface TimedNote extends Note {
  /** Minutes since the room was opened. */
  readonly at: number;
  /** What it tells of, and the room before that. */
  readonly fact: RoomFact;
  readonly before: RoomState;
}

/** A room that Barista runs, with no server: time goes from clock to clock and each action is taken as the loop takes it. */
export function aClockedRoom(input: RoomInput = {}): ClockedRoom {
  return new ClockedRoom({ barista: true, ...input });
}

export class ClockedRoom extends TestRoom {
  readonly said: TimedNote[] = [];
  /** The review calls of the open round, as the edges have recorded them. */
  calls: Record<ParticipantId, Span[]> = {};
  /** As the loop has last read them. */
  private known: { round: number; calls: Calls } = { round: 0, calls: {} };

  override emit(...facts: RoomFact[]): this {
    for (const fact of facts) {
      const { state: before, notes } = this;
      const told = notes.length;
      super.emit(fact);
      if (fact.type === 'RoundOpened') this.calls = {};
      for (const note of notes.slice(told)) this.said.push({ ...note, at: this.age, fact, before });
    }
    return this;
  }

  get age(): number {
    return (this.now - NOON) / MINUTE;
  }

  /** A review call by this member now; calls with less than the working window between them are one span. */
  call(name: string): this {
    const spans = (this.calls[idOf(name)] ??= []);
    const last = spans.at(-1);
    if (last && this.now - last.last < this.state.durations.workingWindow) spans[spans.length - 1] = { ...last, last: this.now };
    else spans.push({ from: this.now, last: this.now });
    return this;
  }

  /** Lets so many minutes pass; what becomes due happens at its moment, to the second. */
  pass(minutes: number): this {
    const end = this.now + minutes * MINUTE;
    for (;;) {
      const { until } = this.settle();
      if (until === null) break;
      // The second that a call may take to the database is left out, so that all happens on the moment it is due.
      const wake = until - (until % MINUTE === 1_000 ? 1_000 : 0);
      if (wake <= this.now) throw new Error(`a clock that has run out is waited for: ${JSON.stringify(this.step())}`);
      if (wake > end) break;
      this.now = wake;
    }
    this.now = end;
    return this;
  }

  /** Takes every action that is due now; answers what is waited for then. */
  settle(): Step & { kind: 'wait' } {
    for (let taken = 0; taken < 20; taken += 1) {
      const step = this.step();
      if (step.kind === 'wait') return step;
      this.take(step.action);
    }
    throw new Error(`Barista does not come to rest: ${JSON.stringify(this.step())}`);
  }

  private step(): Step {
    const number = this.state.round?.number ?? 0;
    return nextStep(this.state, this.known.round === number ? this.known.calls : {}, this.now);
  }

  private take(action: Action): void {
    const needs = restsOn(action);
    if (needs.calls) this.known = { round: this.state.round?.number ?? 0, calls: structuredClone(this.calls) };
    if (needs.head && this.isStillNext(action)) this.hear();
    if (!this.isStillNext(action)) return;
    if (action.do === 'assembleDraft') this.assemble();
    else this.emit(...factsOf(this.state, action, { sha: this.read().sha }));
  }

  private isStillNext(action: Action): boolean {
    const again = this.step();
    return again.kind === 'act' && JSON.stringify(again.action) === JSON.stringify(action);
  }

  private assemble(): void {
    const round = this.state.round!;
    const version = (this.state.draft?.version ?? 0) + 1;
    const body = this.stage('barista', 'assembled');
    this.emit({
      type: 'DraftSaved',
      round: round.number,
      headSha: round.headSha,
      verdict: 'comment',
      body,
      findings: [],
      by: 'barista',
      version,
    });
  }
}

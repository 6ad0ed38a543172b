import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from '../../workflows/room/apply.js';
import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { headFacts } from '../../workflows/room/decide/rounds.js';
import type { RoomEvent, RoomFact } from '../../workflows/room/events.js';
import { findingOf, isSettled } from '../../workflows/room/findings.js';
import { holds } from '../../workflows/room/members.js';
import { noteOf, textsOf } from '../../workflows/room/notes.js';
import { hasSubmitted, missing, openRound } from '../../workflows/room/rounds.js';
import type { CommandResult, Finding, Review, RoomState } from '../../workflows/room/state.js';
import { seenBy } from '../../workflows/room/visibility.js';
import { REFUSAL_CODES } from '../../workflows/room/words.js';
import { BASE, aRoom } from '../support/room.js';
import { type Move, asOfNow, move } from './commands.js';

const MOVES = 80;
const RUNS = 300;

test('S9, V2, V8, A3, K1, S2: whatever is asked of a room by whomever, in whatever order, its rules hold', () => {
  const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.info(`property test of the room: FC_SEED=${seed}`);
  const reached = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(move, { minLength: MOVES, maxLength: MOVES }), (moves) => {
      const watched = new WatchedRoom();
      for (const next of moves) watched.take(next);
      watched.end();
      for (const event of watched.events) reached.set(event.type, (reached.get(event.type) ?? 0) + 1);
    }),
    { seed, numRuns: RUNS },
  );
  // Sequences that reach nothing prove nothing.
  for (const type of ['RoundOpened', 'ReviewSubmitted', 'ReviewsRevealed', 'FindingAnswered', 'AgentDeleted', 'DraftPosted']) {
    expect(reached.get(type) ?? 0, type).toBeGreaterThan(0);
  }
});

/** A room that checks, after every step, what must hold whatever happens. Every state is frozen: nothing may change one. */
class WatchedRoom {
  readonly events: RoomEvent[];
  private room: RoomState;
  private now: number;
  /** What never changes of each finding there ever was, and the ids of all reviews. */
  private readonly raised = new Map<string, string>();
  private readonly reviewIds = new Set<string>();
  /** The reviews of those who were shown another's in the open round. */
  private readonly frozen = new Map<string, string>();
  private readonly settled = new Set<string>();
  private readonly remembered: { command: Command; result: CommandResult }[] = [];

  constructor() {
    const start = aRoom()
      .join('ana', 'grok', 'kim', 'pia')
      .roles({ pia: ['author'] })
      .open('ana');
    this.events = [...start.events];
    this.room = deepFreeze(start.state);
    this.now = start.now;
  }

  take(next: Move): void {
    this.now += 1;
    switch (next.kind) {
      case 'push': {
        const moved = this.room.round && !this.room.round.closed && this.room.round.headSha !== next.sha;
        return this.happens(
          headFacts(this.room, { sha: next.sha, baseSha: BASE, state: 'open' }, moved ? { commits: 1, rewritten: false } : null),
        );
      }
      case 'posted':
        if (this.room.draft?.posting.status !== 'posting') return;
        return this.happens([next.well ? { type: 'DraftPosted', url: null, unplaced: [] } : { type: 'PostingFailed', reason: 'no' }]);
      case 'command':
        return this.ask(asOfNow(this.room, next));
    }
  }

  private ask(command: Command): void {
    const decision = decide(this.room, command, this.now);
    if (decision.kind === 'refused') {
      must(REFUSAL_CODES.includes(decision.refusal.code), 'a refusal has a code of the contract');
      must(decision.refusal.message !== '', 'a refusal says why');
      return;
    }
    const isFirst = !this.remembered.some((known) => known.command.by === command.by && known.command.requestId === command.requestId);
    if (command.requestId !== undefined && isFirst) this.remembered.push({ command, result: decision.result });
    this.happens(decision.events);
    this.askAgain(command, decision.result);
  }

  /** S9: the same call again gets the first result, with no event. */
  private askAgain(command: Command, result: CommandResult): void {
    const again = decide(this.room, command, this.now + 1);
    if (command.requestId === undefined && isOnce(this.room, command))
      return must(again.kind === 'refused', 'S9: what cannot be repeated is refused');
    must(same(again, { kind: 'done', events: [], result }), `S9: ${command.type} again gets its first result`);
  }

  private happens(facts: readonly RoomFact[]): void {
    for (const fact of facts) {
      const event: RoomEvent = deepFreeze({ ...fact, at: this.now });
      this.beforeEvent(event);
      this.events.push(event);
      this.room = deepFreeze(apply(this.room, event));
      this.afterEvent(event);
    }
    this.nothingHiddenIsSeen();
  }

  private beforeEvent(event: RoomEvent): void {
    const { room } = this;
    this.noteTellsNothingHidden(event);
    switch (event.type) {
      case 'RoundOpened':
        must(openRound(room) === null, 'O1: one round is open at a time');
        must(event.number === (room.round?.number ?? 0) + 1, 'O1: rounds are numbered one by one');
        must(
          same(
            event.carried,
            room.findings.filter((finding) => !this.settled.has(finding.id)).map((finding) => finding.id),
          ),
          'K1, A3: what is not settled is carried, and nothing else',
        );
        return this.frozen.clear();
      case 'RoundClosed':
        return must(openRound(room)?.number === event.number, 'the open round is closed');
      case 'ReviewsRevealed':
        return must(
          !holds(room, event.to, 'reviewer') || hasSubmitted(openRound(room)!, event.to),
          'V8: a reviewer without a review is shown one',
        );
      case 'ReviewSubmitted':
        must(!this.frozen.has(event.review.by), 'V8: a frozen review is not replaced');
        must(!this.reviewIds.has(event.review.id), 'a review id is never used again');
        this.reviewIds.add(event.review.id);
        for (const finding of event.findings) {
          must(!this.raised.has(finding.id), 'S2: a finding id is never used again');
          this.raised.set(finding.id, identity(finding));
        }
        return;
      case 'FindingAnswered':
        return must(!this.settled.has(event.finding), 'A3: a settled finding takes no answer');
      case 'AgentDeleted':
        this.frozen.delete(event.id);
        return;
      default:
        return;
    }
  }

  private afterEvent(event: RoomEvent): void {
    const { room } = this;
    must(room.seq === this.events.length, 'seq is the number of events');
    for (const finding of room.findings) {
      must(identity(finding) === this.raised.get(finding.id), 'what a finding is never changes');
      if (isSettled(finding)) this.settled.add(finding.id);
    }
    if (room.round) this.roundIsWhole(room, room.round.reviews);
    for (const { present, roles, reviewerSince } of room.participants) {
      must(present || roles.length === 0, 'R7: who has left has no role');
      must((reviewerSince === null) !== roles.includes('reviewer'), 'B5: reviewers are so since some time');
    }
    if (event.type === 'AgentDeleted') this.nothingIsLeftOf(event.id);
  }

  private roundIsWhole(room: RoomState, reviews: readonly Review[]): void {
    const { number, carried, seen } = room.round!;
    const raisedNow = reviews.flatMap((review) => review.findings);
    must(same(room.findings.map((finding) => finding.id).sort(), [...carried, ...raisedNow].sort()), 'K1: a finding is raised or carried');
    for (const id of raisedNow) must(findingOf(room, id)?.raisedIn === number, 'a review has its findings');
    for (const review of reviews) {
      if (!seen.includes(review.by)) continue;
      const { references: _, ...lasting } = review;
      const known = this.frozen.get(review.by) ?? JSON.stringify(lasting);
      must(JSON.stringify(lasting) === known, 'V3: a frozen review never changes');
      this.frozen.set(review.by, known);
    }
  }

  private nothingIsLeftOf(agent: string): void {
    const { round, findings, draft, participants } = this.room;
    const unposted =
      draft?.posting.status === 'posted'
        ? null
        : draft?.findings.map(({ raisedBy, agreedBy, disputedBy }) => [raisedBy, agreedBy, disputedBy]);
    const left = JSON.stringify([
      participants,
      round?.reviews,
      round?.declines,
      round?.seen,
      findings.map((finding) => finding.raisedBy),
      unposted,
    ]);
    must(!left.includes(`"${agent}"`), 'R6: nothing is left of a deleted agent');
  }

  /** V2: no text of a review that is hidden from a reader is in the room as it sees it. */
  private nothingHiddenIsSeen(): void {
    const round = openRound(this.room);
    if (!round) return;
    for (const { id } of this.room.participants) {
      if (!holds(this.room, id, 'reviewer') || hasSubmitted(round, id)) continue;
      const { requests: _, ...seen } = seenBy(this.room, id);
      const shown = JSON.stringify(seen);
      must(seen.round!.reviews.length === 0, 'V2: no review is shown before its own');
      for (const text of this.textsRaisedIn(round.number)) must(!shown.includes(text), 'V2: nothing of a hidden review is shown');
    }
  }

  private textsRaisedIn(round: number): string[] {
    const bodies = this.room.findings.filter((finding) => finding.raisedIn === round).map((finding) => finding.body);
    return [...bodies, ...this.room.round!.reviews.map((review) => review.summary)].filter((text) => text !== 'tx_same_');
  }

  /** V2, A6: what a note of an open round quotes is not hidden from anybody; and it asks for no text that is not loaded for it. */
  private noteTellsNothingHidden(event: RoomEvent): void {
    const { room } = this;
    const loaded = textsOf(room, event);
    const note = noteOf(room, event, (id) => {
      must(loaded.includes(id), 'a note asks for texts that are loaded');
      return id;
    });
    const round = openRound(room);
    if (event.type !== 'FindingAnswered' || !round || findingOf(room, event.finding)!.raisedIn !== round.number) return;
    if (room.recipe === 'build_duel' && missing(room, round).length === 0) return;
    must(!/\.ts|tx_/.test(note!.text), 'V2, A6: a note tells nothing that is hidden');
  }

  /** The fold of all events, sent through JSON, is the state; and whoever kept a request id still gets its first result. */
  end(): void {
    const sent = JSON.parse(JSON.stringify(this.events)) as RoomEvent[];
    expect(sent.reduce<RoomState | null>(apply, null)).toEqual(this.room);
    expect(JSON.parse(JSON.stringify(this.room))).toEqual(this.room);
    for (const { command, result } of this.remembered) {
      must(
        same(decide(this.room, command, this.now + 1), { kind: 'done', events: [], result }),
        'S9: a request id gets its first result for ever',
      );
    }
  }
}

/** `expect` would take most of the time at this many checks. */
function must(holds: boolean, rule: string): void {
  if (!holds) throw new Error(rule);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What S9 does not name: a second post is refused, and so is a resolution that settled the finding. */
function isOnce(room: RoomState, command: Command): boolean {
  if (command.type === 'postDraft') return true;
  return command.type === 'resolveFinding' && isSettled(findingOf(room, command.finding)!);
}

function identity({ id, raisedBy, raisedIn, raisedOn, path, line, startLine, side, severity, body, outsideDiff }: Finding): string {
  return JSON.stringify([id, raisedBy, raisedIn, raisedOn, path, line, startLine, side, severity, body, outsideDiff]);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

// A room in memory, moved only by `decide` and `apply`: what tests of pure code build their states with.
import { apply } from '../../workflows/room/apply.js';
import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { headFacts, isOvertaken, nextNumber, roundClosed, roundOpened } from '../../workflows/room/decide/rounds.js';
import type { FreshHead, RoomEvent, RoomFact } from '../../workflows/room/events.js';
import { type Note, noteOf } from '../../workflows/room/notes.js';
import { recordOf, type RoundRecord } from '../../workflows/room/record.js';
import { Refusal, type RefusalFacts } from '../../workflows/room/refusal.js';
import {
  type CloseReason,
  type CommandResult,
  DEFAULT_DURATIONS,
  type DraftFinding,
  type Durations,
  type ParticipantId,
  type PullRequest,
  type RoomState,
  type TextId,
} from '../../workflows/room/state.js';
import { awaited, openRound } from '../../workflows/room/rounds.js';
import type {
  AuthorAnswer,
  ParticipantKind,
  PullRequestState,
  Recipe,
  Resolution,
  Role,
  Severity,
  Side,
  Stance,
  Verdict,
} from '../../workflows/room/words.js';

export const MINUTE = 60_000;
/** Where a test room's time begins. */
export const NOON = Date.UTC(2030, 0, 7, 12);
export const OWNER = 'us_olga';

/** A commit's 40 digits from a few: `sha("a1")`. */
export const sha = (short: string): string => short.padEnd(40, '0');
export const HEAD = sha('a1');
export const BASE = sha('ba5e');

/** A participant's id from its name: `ag_` for an agent, `us_` for one of {@link PEOPLE}. */
export const idOf = (name: string): ParticipantId => (PEOPLE.has(name) ? `us_${name}` : `ag_${name}`);
const PEOPLE: ReadonlySet<string> = new Set(['olga', 'pia', 'paul']);

export interface FindingInput {
  path?: string;
  line?: number | null;
  startLine?: number;
  side?: Side;
  severity?: Severity;
  body?: string;
  outsideDiff?: boolean;
  leavesHunk?: 'at_line' | 'in_body';
}

export interface ReviewInput {
  verdict?: Verdict;
  summary?: string;
  findings?: FindingInput[];
  /** `[finding id, stance, note]`. */
  references?: [string, Stance, string?][];
  requestId?: string;
}

export interface DraftInput {
  verdict?: Verdict;
  body?: string;
  findings?: (Partial<Omit<DraftFinding, 'body'>> & { body?: string })[];
  requestId?: string;
}

export interface RoomInput {
  recipe?: Recipe;
  barista?: boolean;
  durations?: Partial<Durations>;
  slug?: string;
  automatic?: boolean;
}

/** A room that `olga` has opened at {@link NOON}; she is in it without a role. */
export function aRoom(input: RoomInput = {}): TestRoom {
  return new TestRoom(input);
}

export class TestRoom {
  state: RoomState;
  now = NOON;
  readonly events: RoomEvent[] = [];
  readonly notes: Note[] = [];
  /** Earlier rounds by number, each the room as it was when the next one opened: what the store keeps. */
  records: ReadonlyMap<number, RoomState> = new Map();
  /** What the last command answered. */
  result: CommandResult = {};
  private readonly bodies = new Map<TextId, string>();
  private head: { sha: string; baseSha: string; state: PullRequestState } = { sha: HEAD, baseSha: BASE, state: 'open' };

  constructor(input: RoomInput) {
    const pullRequest: PullRequest = {
      forge: 'local',
      key: 'local:/r?head=topic',
      repository: 'local:/r',
      url: 'local:/r?base=main&head=topic',
    };
    const opened: RoomEvent = {
      type: 'RoomOpened',
      at: this.now,
      slug: input.slug ?? 'quiet-river',
      pullRequest,
      recipe: input.recipe ?? 'panel',
      owner: { id: OWNER, name: 'olga' },
      head: this.head,
      barista: input.barista ?? false,
      durations: { ...DEFAULT_DURATIONS, ...input.durations },
      ...(input.automatic && { automatic: true }),
    };
    this.state = apply(null, opened);
    this.events.push(opened);
  }

  // Time and texts

  /** Lets so many minutes pass. */
  after(minutes: number): this {
    this.now += minutes * MINUTE;
    return this;
  }

  /** Looks a stored text up by its id. */
  readonly text = (id: TextId): string => {
    const body = this.bodies.get(id);
    if (body === undefined) throw new Error(`no text ${id}`);
    return body;
  };

  /** The room as the store reads it. */
  get snapshot(): { state: RoomState; records: ReadonlyMap<number, RoundRecord>; texts: ReadonlyMap<TextId, string> } {
    const records = new Map([...this.records].map(([number, room]) => [number, recordOf(room)!]));
    return { state: this.state, records, texts: this.bodies };
  }

  /** Stores a text as the edge would: equal texts of one participant have equal ids. */
  stage(by: ParticipantId, body: string): TextId {
    const id = `tx_${Buffer.from(JSON.stringify([by, body])).toString('base64url')}`;
    this.bodies.set(id, body);
    return id;
  }

  // The two ways a room moves

  /** Gives the room a command; throws the {@link Refusal} where it is refused. */
  run(command: Command): this {
    const decision = decide(this.state, command, this.now);
    if (decision.kind === 'refused') throw Refusal.from(decision.refusal);
    this.result = decision.result;
    return this.emit(...decision.events);
  }

  /** Lets events happen that no caller asked for: Barista's own and the forge's. */
  emit(...facts: RoomFact[]): this {
    for (const fact of facts) {
      const event: RoomEvent = { ...fact, at: this.now };
      const note = noteOf(this.state, event, this.text);
      if (note) this.notes.push(note);
      const before = this.state;
      this.state = apply(before, event);
      this.keep(before, event);
      this.events.push(event);
    }
    return this;
  }

  private keep(before: RoomState, event: RoomEvent): void {
    const records = new Map(this.records);
    const { draft } = this.state;
    if (event.type === 'RoundOpened' && before.round) records.set(before.round.number, before);
    if (event.type === 'AgentDeleted') for (const [number, record] of records) records.set(number, apply(record, event));
    const drafted = draft && records.get(draft.round);
    if (drafted) records.set(draft.round, { ...drafted, draft });
    this.records = records;
  }

  /** The refusal that `act` meets; fails where it is not refused or changes the room. */
  refused(act: (room: this) => unknown): RefusalFacts {
    const before = this.state;
    try {
      act(this);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (this.state !== before) throw new Error(`refused, but the room changed: ${error.message}`, { cause: error });
      const { code, message, hint, field } = error;
      return { code, message, ...(hint !== undefined && { hint }), ...(field !== undefined && { field }) };
    }
    throw new Error('not refused');
  }

  // Members

  join(...names: string[]): this {
    for (const name of names) {
      const kind: ParticipantKind = PEOPLE.has(name) ? 'person' : 'agent';
      this.run({ type: 'join', by: idOf(name), participant: { id: idOf(name), name, kind } });
    }
    return this;
  }

  leave(name: string): this {
    return this.run({ type: 'leave', by: idOf(name) });
  }

  delete(name: string): this {
    return this.run({ type: 'deleteAgent', by: OWNER, agent: idOf(name) });
  }

  roles(roles: Record<string, Role[]>, by = 'olga'): this {
    return this.run({
      type: 'setRoles',
      by: idOf(by),
      roles: Object.fromEntries(Object.entries(roles).map(([name, held]) => [idOf(name), held])),
    });
  }

  barista(enabled: boolean, durations?: Partial<Durations>): this {
    return this.run({ type: 'setBarista', by: OWNER, enabled, ...(durations && { durations }) });
  }

  // Rounds

  /** The head as an edge would read it now. */
  read(): FreshHead {
    return { ...this.head, knownSeq: this.state.head.seq, move: null };
  }

  /** A push that the forge knows of and the room does not hear about. */
  pushUnheard(short: string): this {
    this.head = { ...this.head, sha: sha(short) };
    return this;
  }

  /** A push that the room hears about. */
  push(short: string, commits: number | null = 1): this {
    return this.pushUnheard(short).hear(commits);
  }

  /** The room hears of the pull request, by a delivery, a watcher or a look of its own: as it is now, or as it was when `read`. */
  hear(commits: number | null = 1, read = this.read()): this {
    if (isOvertaken(this.state, read)) return this;
    const round = openRound(this.state);
    const move = round && round.headSha !== read.sha ? { commits, rewritten: commits === null } : null;
    return this.emit(...headFacts(this.state, read, move));
  }

  pullRequestUnheard(state: PullRequestState): this {
    this.head = { ...this.head, state };
    return this;
  }

  pullRequest(state: PullRequestState): this {
    return this.pullRequestUnheard(state).hear();
  }

  open(by: string, requestId?: string): this {
    return this.run({ type: 'openRound', by: idOf(by), head: this.read(), ...(requestId && { requestId }) });
  }

  next(by: string, force = false): this {
    return this.run({ type: 'nextRound', by: idOf(by), head: this.read(), force });
  }

  close(by: string): this {
    return this.run({ type: 'closeRound', by: idOf(by), head: this.read() });
  }

  /** Barista opens a round at the head the room knows. */
  baristaOpens(): this {
    return this.emit(roundOpened(this.state, 'barista', nextNumber(this.state) === 1 ? 'open' : 'next', this.state.head));
  }

  baristaCloses(why: CloseReason = awaited(this.state, this.state.round!).length === 0 ? 'all_submitted' : 'idle'): this {
    return this.emit(roundClosed(this.state, this.state.round!, 'barista', why, { sha: this.head.sha }));
  }

  // Reviews and answers

  submit(by: string, input: ReviewInput = {}): this {
    const id = idOf(by);
    return this.run({
      type: 'submitReview',
      by: id,
      verdict: input.verdict ?? 'comment',
      summary: this.stage(id, input.summary ?? `summary of ${by}`),
      findings: (input.findings ?? []).map((finding, index) => ({
        path: finding.path ?? 'src/a.ts',
        line: finding.line === undefined ? 10 * (index + 1) : finding.line,
        side: finding.side ?? 'new',
        severity: finding.severity ?? 'major',
        body: this.stage(id, finding.body ?? `finding ${index} of ${by}`),
        outsideDiff: finding.outsideDiff ?? false,
        ...(finding.startLine !== undefined && { startLine: finding.startLine }),
        ...(finding.leavesHunk && { leavesHunk: finding.leavesHunk }),
      })),
      references: (input.references ?? []).map(([finding, stance, note]) => ({
        finding,
        stance,
        note: note === undefined ? null : this.stage(id, note),
      })),
      ...(input.requestId && { requestId: input.requestId }),
    });
  }

  decline(by: string, reason = `${by} is busy`, until: number | null = null): this {
    return this.run({ type: 'declineReview', by: idOf(by), reason: this.stage(idOf(by), reason), until });
  }

  reveal(to: string): this {
    return this.run({ type: 'reveal', by: idOf(to), round: this.state.round!.number });
  }

  answer(by: string, finding: string, answer: AuthorAnswer, reason?: string): this {
    return this.run({
      type: 'answerFinding',
      by: idOf(by),
      finding,
      answer,
      reason: reason === undefined ? null : this.stage(idOf(by), reason),
    });
  }

  resolve(by: string, finding: string, resolution: Resolution, note?: string): this {
    return this.run({
      type: 'resolveFinding',
      by: idOf(by),
      finding,
      resolution,
      note: note === undefined ? null : this.stage(idOf(by), note),
    });
  }

  // Drafts

  draft(by: string, input: DraftInput = {}): this {
    const id = idOf(by);
    return this.run({
      type: 'saveDraft',
      by: id,
      draft: this.draftText(id, input),
      ...(input.requestId && { requestId: input.requestId }),
    });
  }

  edit(input: DraftInput = {}, version = this.state.draft!.version): this {
    return this.run({ type: 'editDraft', by: OWNER, draft: this.draftText(OWNER, input), version });
  }

  startPosting(): this {
    return this.run({ type: 'postDraft', by: OWNER });
  }

  post(url: string | null = 'https://forge.example/review/1', unplaced: number[] = []): this {
    return this.startPosting().emit({ type: 'DraftPosted', url, unplaced });
  }

  private draftText(by: ParticipantId, input: DraftInput) {
    return {
      verdict: input.verdict ?? ('comment' as const),
      body: this.stage(by, input.body ?? 'the combined review'),
      findings: (input.findings ?? []).map((finding) => ({
        path: 'src/a.ts',
        line: 10,
        side: 'new' as const,
        severity: 'major' as const,
        raisedBy: [],
        agreedBy: [],
        disputedBy: [],
        findings: [],
        ...finding,
        body: this.stage(by, finding.body ?? 'a merged finding'),
      })),
    };
  }
}

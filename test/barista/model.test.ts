import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Listing, listedUntil, listingOf } from '../../workflows/barista/listing.js';
import { chipsOf, offersOf, phaseOf, waitingOn } from '../../workflows/barista/status.js';
import { Refusal } from '../../workflows/room/refusal.js';
import { nextSteps, nothingForYou } from '../../workflows/room/turn.js';
import type { Role, Severity } from '../../workflows/room/words.js';
import { type ClockedRoom, type TimedNote, aClockedRoom } from '../support/clocked-room.js';
import { HEAD, MINUTE, OWNER, idOf, sha } from '../support/room.js';
import { Naive } from './naive.js';

/**
 * The policy against a second telling of the rules (`naive.ts`): random agents, pushes and clock steps, on whole
 * minutes. `BARISTA_MODEL_RUNS` and `BARISTA_MODEL_HOURS` make it longer; a failure prints its seed and path, which
 * `BARISTA_MODEL_SEED` and `BARISTA_MODEL_PATH` take.
 */
const RUNS = Number(process.env['BARISTA_MODEL_RUNS'] ?? 300);
const HOURS = Number(process.env['BARISTA_MODEL_HOURS'] ?? 12);
const SEED = process.env['BARISTA_MODEL_SEED'];
const PATH = process.env['BARISTA_MODEL_PATH'];

const CREW = ['ana', 'bo', 'cy', 'pia'] as const;
const AGENTS = ['ana', 'bo', 'cy'] as const;
/** What next_steps says where there is something to do. */
const ASKS = /_review|_finding|_context|Push the fixes/;
const COMMITS = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6', 'a7', 'b8'] as const;
const ROLE_SETS: Role[][] = [['reviewer'], ['lead'], ['author'], ['lead', 'reviewer'], ['author', 'reviewer'], []];

const who = fc.constantFrom(...CREW);
const number = fc.nat({ max: 50 });
const op = fc.oneof(
  {
    weight: 32,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      who,
      severities: fc.array(fc.constantFrom<Severity>('blocker', 'minor', 'nit'), { maxLength: 2 }),
      agree: fc.array(number, { maxLength: 1 }),
      dispute: fc.array(number, { maxLength: 1 }),
    }),
  },
  {
    weight: 32,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      finding: number,
      answer: fc.constantFrom('accept' as const, 'reject' as const),
    }),
  },
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      who: fc.option(who),
      finding: number,
      resolution: fc.constantFrom('fixed' as const, 'withdrawn' as const, 'upheld' as const),
    }),
  },
  { weight: 16, arbitrary: fc.record({ do: fc.constant('push' as const), commit: number, heard: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('hear' as const) }) },
  { weight: 16, arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'tell' as const), which: number }) },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('call' as const), who }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('decline' as const), who, until: fc.option(fc.constantFrom(5, 20, 60)) }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('draft' as const), who: fc.option(who) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('finalDraft' as const, 'post' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('byHand' as const),
      what: fc.constantFrom('open' as const, 'close' as const, 'next' as const),
      force: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('roles' as const),
      who: fc.constantFrom(...CREW, 'olga'),
      roles: fc.constantFrom(...ROLE_SETS),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('join' as const, 'leave' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), who: fc.constantFrom(...AGENTS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('barista' as const), on: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pullRequest' as const),
      is: fc.constantFrom('open' as const, 'open' as const, 'closed' as const, 'merged' as const),
      heard: fc.boolean(),
    }),
  },
  { weight: 16, arbitrary: fc.record({ do: fc.constant('nothing' as const) }) },
);
type Op = typeof op extends fc.Arbitrary<infer O> ? O : never;

const step = fc.record({
  after: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 1, max: 12 }) },
    { weight: 4, arbitrary: fc.constantFrom(20, 29, 30, 31, 60, 90) },
    { weight: HOURS > 12 ? 1 : 0, arbitrary: fc.constantFrom(720, 1440, 1441, 10_080) },
  ),
  op,
});
const run = fc.record({
  recipe: fc.constantFrom('panel' as const, 'build_duel' as const),
  roles: fc.array(fc.tuple(fc.constantFrom(...CREW, 'olga'), fc.constantFrom(...ROLE_SETS)), { maxLength: 2 }),
  steps: fc.array(step, { minLength: 1, maxLength: 90, size: 'max' }),
});

test('B: the policy does what a naive telling of the rules does', () => {
  fc.assert(
    fc.property(run, ({ recipe, roles, steps }) => {
      const world = new World(recipe);
      for (const name of ['ana', 'bo', 'cy'] as const) world.perform({ do: 'join', who: name });
      for (const [name, held] of roles) world.perform({ do: 'roles', who: name, roles: held });
      for (const { after, op: next } of steps) {
        if (world.real.age + after > HOURS * 60) break;
        world.pass(after);
        world.perform(next);
      }
    }),
    { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }), ...(PATH !== undefined && { path: PATH }) },
  );
}, 900_000);

/** The room and the naive one, told the same and asked the same. */
class World {
  readonly real: ClockedRoom;
  readonly naive = new Naive(OWNER, HEAD);
  private texts = 0;
  private notesSeen = 0;
  /** What lists keep of the room since its last event, and how long that holds. */
  private row: { readonly events: number; readonly as: Listing; readonly until: number } | null = null;
  private readonly deleted = new Set<string>();
  /** Deliveries under way: each may come late, after others, and more than once. */
  private readonly readings: [ReturnType<ClockedRoom['read']>, ReturnType<Naive['reading']>][] = [];

  constructor(recipe: 'panel' | 'build_duel') {
    this.real = aClockedRoom({ recipe });
    this.tellMembers();
    this.compare();
  }

  pass(minutes: number): void {
    this.real.pass(minutes);
    for (let minute = 0; minute < minutes; minute += 1) {
      this.naive.tick();
      this.naive.settle();
    }
    this.compare();
  }

  perform(op: Op): void {
    this.doIt(op);
    this.real.settle();
    this.naive.settle();
    this.compare();
  }

  private doIt(op: Op): void {
    const { real, naive } = this;
    switch (op.do) {
      case 'nothing':
        return;
      case 'call':
        real.call(op.who);
        return naive.called(idOf(op.who));
      case 'push':
        real.pushUnheard(COMMITS[op.commit % COMMITS.length]!);
        naive.pushed(sha(COMMITS[op.commit % COMMITS.length]!));
        return op.heard ? this.hear() : undefined;
      case 'hear':
        return this.hear();
      case 'pullRequest':
        real.pullRequestUnheard(op.is);
        naive.pullRequestIs(op.is);
        return op.heard ? this.hear() : undefined;
      case 'read':
        return void this.readings.push([real.read(), naive.reading()]);
      case 'tell': {
        const reading = this.readings[op.which % Math.max(this.readings.length, 1)];
        if (!reading) return;
        real.hear(1, reading[0]);
        return naive.told(reading[1]);
      }
      case 'submit':
        return this.submit(op);
      case 'decline': {
        const until = op.until === null ? null : real.now + op.until * MINUTE;
        if (this.accepted(() => real.decline(op.who, 'busy', until)))
          naive.declined(idOf(op.who), op.until === null ? null : real.age + op.until);
        return;
      }
      case 'answer':
      case 'resolve':
        return this.answer(op);
      case 'draft': {
        const lead = real.state.participants.find((one) => one.roles.includes('lead'))?.name;
        const by = op.who ?? lead ?? 'ana';
        const may = naive.mayDraft(idOf(by));
        const saved = this.accepted(() => real.draft(by, { body: `draft ${++this.texts}` }));
        if (!real.state.ended) expect(saved, `draft by ${by}`).toBe(may);
        return saved ? naive.drafted() : undefined;
      }
      case 'finalDraft': {
        const offered = naive.offersFinal;
        const before = real.events.length;
        const taken = this.accepted(() => real.run({ type: 'finalDraft', by: OWNER })) && real.events.length > before;
        expect(taken, 'final draft').toBe(offered);
        return taken ? naive.tookFinal() : undefined;
      }
      case 'post':
        return this.accepted(() => real.post()) ? naive.posted() : undefined;
      case 'byHand': {
        const lead = real.state.participants.find((one) => one.roles.includes('lead'))?.name;
        if (!lead) return;
        const act = { open: () => real.open(lead), close: () => real.close(lead), next: () => real.next(lead, op.force) }[op.what];
        const before = real.events.length;
        if (this.accepted(act) && real.events.length > before) naive.byHand(op.what, real.state.round!.number);
        return;
      }
      case 'roles':
        this.accepted(() => real.roles({ [op.who]: op.roles }));
        return this.tellMembers();
      case 'join': {
        const isNew = !real.state.participants.some((one) => one.name === op.who && one.present);
        if (this.deleted.has(op.who) || !this.accepted(() => real.join(op.who))) return;
        return this.tellMembers(isNew ? [idOf(op.who)] : []);
      }
      case 'leave':
        this.accepted(() => real.leave(op.who));
        return this.tellMembers();
      case 'delete':
        this.deleted.add(op.who);
        this.accepted(() => real.delete(op.who));
        naive.deleted(idOf(op.who));
        return this.tellMembers();
      case 'barista':
        if (this.accepted(() => real.barista(op.on))) naive.switched(op.on);
        return;
    }
  }

  private hear(): void {
    this.naive.look();
    this.real.hear();
  }

  private submit(op: Op & { do: 'submit' }): void {
    const { real, naive } = this;
    const { state } = real;
    const reviewer = state.participants.filter((one) => one.roles.includes('reviewer'));
    const by = reviewer.find((one) => one.name === op.who)?.name ?? reviewer[this.texts % Math.max(reviewer.length, 1)]?.name ?? op.who;
    const { carried = [] } = state.round ?? {};
    const chosen = (picks: readonly number[]): string[] =>
      carried.length === 0 ? [] : picks.map((pick) => carried[pick % carried.length]!);
    const agrees = chosen(op.agree);
    const disputes = chosen(op.dispute).filter((id) => !agrees.includes(id));
    this.call(by);
    const submitted = this.accepted(() =>
      real.submit(by, {
        summary: `review ${++this.texts}`,
        findings: op.severities.map((severity) => ({ severity })),
        references: [
          ...agrees.map((id) => [id, 'agree'] as [string, 'agree']),
          ...disputes.map((id) => [id, 'dispute'] as [string, 'dispute']),
        ],
      }),
    );
    if (!submitted) return;
    const ids = real.result['findings'] as string[];
    naive.submitted(
      idOf(by),
      ids.map((id, index) => ({ id, nit: op.severities[index] === 'nit' })),
      agrees,
    );
  }

  private answer(op: Op & { do: 'answer' | 'resolve' }): void {
    const { real, naive } = this;
    const { findings, participants } = real.state;
    const finding = findings[op.finding % Math.max(findings.length, 1)];
    if (!finding) return;
    const before = real.events.length;
    if (op.do === 'answer') {
      const author = participants.find((one) => one.roles.includes('author'))?.name;
      if (!author) return;
      this.call(author);
      if (this.accepted(() => real.answer(author, finding.id, op.answer, `why ${++this.texts}`))) naive.answered(finding.id, op.answer);
      return;
    }
    const by = op.who ?? participants.find((one) => one.id === finding.raisedBy)?.name;
    if (by === undefined) return;
    this.call(by);
    const may = naive.mayMark(idOf(by), finding.id);
    const marked = this.accepted(() => real.resolve(by, finding.id, op.resolution, `note ${++this.texts}`)) && real.events.length > before;
    if (idOf(by) !== finding.raisedBy && !real.state.ended)
      expect(marked, `${by} marks ${finding.id}`).toBe(may && op.resolution !== 'upheld');
    if (marked) naive.answered(finding.id, op.resolution);
  }

  private call(name: string): void {
    this.real.call(name);
    this.naive.called(idOf(name));
  }

  private tellMembers(joined: readonly string[] = []): void {
    const members = this.real.state.participants.map(({ id, kind, roles, present }) => ({
      id,
      isAgent: kind === 'agent',
      roles: [...roles],
      present,
    }));
    this.naive.members(members, joined);
  }

  private accepted(act: () => unknown): boolean {
    try {
      act();
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  /** Who is waited for is told what to do, and who is told to do it is waited for; a note mentions each once, and nobody who is away. */
  private hangsTogether(): void {
    const { state, now, said } = this.real;
    const waited = waitingOn(state, now);
    const running = state.barista.enabled && state.head.state === 'open' && state.ended === null;
    for (const { id } of state.participants.filter((one) => one.present)) {
      const steps = nextSteps(state, id, now);
      if (nothingForYou(state, id, now)) expect(steps, id).not.toMatch(ASKS);
      if (!running) continue;
      if (waited.includes(id) && id !== OWNER) expect(steps, id).toMatch(ASKS);
      if (/submit_review|draft_review|Push/.test(steps)) expect(waited, steps).toContain(id);
    }
    for (const { text, mentions, before } of said.slice(this.notesSeen)) {
      const present = before.participants.filter((one) => one.present).map((one) => one.id);
      expect(present, text).toEqual(expect.arrayContaining([...mentions]));
      expect(new Set(mentions).size, text).toBe(mentions.length);
    }
    this.notesSeen = said.length;
  }

  /** A list says what a look at the room says: until its time is over it needs no look. */
  private isListed(): void {
    const { events, state, calls, now } = this.real;
    if (this.row?.events !== events.length) {
      const { at } = events.at(-1)!;
      this.row = { events: events.length, as: listingOf(state, calls, at), until: listedUntil(state, calls, at) ?? Infinity };
      expect(this.row.until).toBeGreaterThan(at);
    }
    if (now < this.row.until) expect(listingOf(state, calls, now)).toEqual(this.row.as);
  }

  private compare(): void {
    const { real, naive } = this;
    this.hangsTogether();
    this.isListed();
    const { state, now } = real;
    const present = state.participants.filter((one) => one.present);
    expect({
      at: real.age,
      notes: real.said.flatMap(kindOf),
      roles: present.map((one) => `${one.id}: ${[...one.roles].sort().join()}`),
      chips: chipsOf(state, real.calls, now).sort(),
      phase: phaseOf(state, now),
      offersFinal: offersOf(state).includes('final_draft'),
      done: present.filter((one) => nothingForYou(state, one.id, now)).map((one) => one.id),
    }).toEqual({
      at: naive.minute,
      notes: naive.notes,
      roles: naive.roles,
      chips: naive.chips,
      phase: naive.phase,
      offersFinal: naive.offersFinal,
      done: naive.done,
    });
  }
}

/** What a note says, as the naive room says it; none for what is no business of Barista's. */
function kindOf({ at, fact, before }: TimedNote): string[] {
  const said = (kind: string, details: string): string[] => [`${at} ${kind} ${details}`.trim()];
  const round = before.round?.number ?? 0;
  switch (fact.type) {
    case 'RoundOpened':
      return said(fact.by === 'barista' ? 'opened' : 'opened by hand', `${fact.number} ${fact.headSha} ${fact.reviewers.join()}`);
    case 'RoundClosed': {
      const declined = before.round!.declines.map((decline) => decline.by).filter((id) => fact.missing.includes(id));
      const silent = fact.missing.filter((id) => !declined.includes(id));
      const why = fact.why === 'next_round' ? 'lead' : fact.why;
      return said(
        'closed',
        `${fact.number} ${why} without ${silent.join()} declined ${fact.missing.filter((id) => declined.includes(id)).join()}`,
      );
    }
    case 'HeadLearnt':
      return said('moved', fact.sha);
    case 'PullRequestChanged':
      return said('pull request', fact.state);
    case 'ReviewersReminded':
      return said('remind', fact.reviewers.join());
    case 'NoReviewNoted':
      return said('no review', String(fact.number));
    case 'RoundLimitNoted':
      return said('limit', String(round));
    case 'DraftStaleNoted':
      return said('stale', before.head.sha);
    case 'FixesNotPushedNoted':
      return said('fixes late', String(round));
    case 'DraftAsked':
      return said('ask', `${fact.why} ${fact.leads.join()}`);
    case 'LeadsReminded':
      return said('remind lead', fact.leads.join());
    case 'RolesChanged':
      return fact.why === 'hand_off' ? said('handed to', fact.roles.at(-1)!.id) : [];
    case 'DraftSaved':
      return fact.by === 'barista' ? said('assembled', String(fact.round)) : [];
    case 'RoomEnded':
      return said('ended', fact.reason);
    default:
      return [];
  }
}

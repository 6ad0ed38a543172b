/**
 * The rules of Barista (B, P, V7) told a second time, as plainly as can be: minute by minute, with counters and
 * flags that are set when something happens. It shares no code with the policy, only what it is told of the room;
 * where the two disagree, one of them has misread a rule. Everything is in whole minutes.
 */

interface Person {
  readonly id: string;
  readonly isAgent: boolean;
  roles: string[];
  present: boolean;
}

interface Entry {
  readonly what: 'accept' | 'reject' | 'upheld' | 'agree' | 'final';
  readonly at: number;
  readonly commit: string;
  /** Of an agree: the round it was said in, since it goes with a review that is replaced. */
  readonly round: number;
}

interface Thing {
  readonly id: string;
  readonly by: string;
  readonly round: number;
  readonly commit: string;
  readonly nit: boolean;
  log: Entry[];
  settled: boolean;
}

interface Ask {
  readonly at: number;
  readonly leads: string[];
  reminded: boolean;
}

interface Pass {
  readonly number: number;
  readonly commit: string;
  readonly openedAt: number;
  closedAt: number | null;
  readonly carried: Set<string>;
  readonly submitted: Set<string>;
  readonly declined: Map<string, number | null>;
  readonly idle: Map<string, number>;
  readonly lastCall: Map<string, number>;
  readonly reminded: Set<string>;
  saidNoReview: boolean;
  ask: Ask | null;
  readonly everAsked: Set<string>;
  handOffs: number;
  final: boolean;
  saidLate: boolean;
  saidLimit: boolean;
  saidStale: boolean;
}

/** The pull request as somebody read it, and how much the room had learnt by then. */
interface Reading {
  readonly commit: string;
  readonly pr: string;
  readonly after: number;
}

const DAY = 24 * 60;

export class Naive {
  minute = 0;
  /** Every note as `minute kind details`. */
  readonly notes: string[] = [];
  readonly people: Person[] = [];
  ended = false;
  /** How often the room has learnt something of the pull request. */
  private news = 0;
  private truth = { commit: '', pr: 'open' };
  private head = { commit: '', at: 0 };
  private pr = { is: 'open', since: 0 };
  private barista = { on: true, since: 0 };
  private round: Pass | null = null;
  private things: Thing[] = [];
  private draft: { round: number; commit: string; posted: boolean } | null = null;

  constructor(
    private readonly owner: string,
    commit: string,
  ) {
    this.truth.commit = commit;
    this.head.commit = commit;
  }

  // What happens in the room

  /** The members in the order of joining, with their roles; `again` are those that have just joined, perhaps anew. */
  members(now: readonly Person[], again: readonly string[] = []): void {
    const before = new Map(this.people.map((person) => [person.id, person.roles]));
    this.people.splice(0, this.people.length, ...now.map((person) => ({ ...person, roles: [...person.roles] })));
    for (const person of this.people) {
      const was = again.includes(person.id) ? [] : (before.get(person.id) ?? []);
      if (person.roles.includes('reviewer') && !was.includes('reviewer')) this.round?.idle.set(person.id, 0);
    }
  }

  deleted(id: string): void {
    const { round } = this;
    this.things = this.things.filter((thing) => thing.by !== id);
    round?.submitted.delete(id);
    round?.declined.delete(id);
    round?.reminded.delete(id);
  }

  pushed(commit: string): void {
    this.truth.commit = commit;
  }

  pullRequestIs(state: string): void {
    this.truth.pr = state;
  }

  /** What somebody reads now, to tell of it later. */
  reading(): Reading {
    return { ...this.truth, after: this.news };
  }

  /** Told late, it is worth nothing once the room has learnt of something since. */
  told(reading: Reading): void {
    if (reading.after === this.news) this.look(true, reading);
  }

  /** The room looks at the pull request; a note only where it does so of itself. */
  look(ofItself = true, shown: Omit<Reading, 'after'> = this.truth): boolean {
    if (this.ended) return false;
    const { round } = this;
    const before = this.news;
    if (shown.commit !== this.head.commit) {
      this.news += 1;
      this.head = { commit: shown.commit, at: this.minute };
      if (round?.closedAt != null && round.number < 5 && this.head.commit !== round.commit) this.endAsk();
      if (ofItself && round && round.closedAt === null && this.head.commit !== round.commit) this.say('moved', this.head.commit);
    }
    if (shown.pr !== this.pr.is) {
      this.news += 1;
      this.pr = { is: shown.pr, since: this.minute };
      if (this.pr.is === 'open') this.startIdleAnew();
      else this.endAsk();
      this.say('pull request', this.pr.is);
    }
    return this.news > before;
  }

  switched(on: boolean): void {
    if (on === this.barista.on) return;
    this.barista = { on, since: on ? this.minute : this.barista.since };
    if (on) this.startIdleAnew();
    else this.endAsk();
  }

  called(by: string): void {
    if (this.round?.closedAt === null) this.round.lastCall.set(by, this.minute);
  }

  submitted(by: string, findings: readonly { id: string; nit: boolean }[], agrees: readonly string[]): void {
    const round = this.round!;
    this.things = this.things.filter((thing) => thing.by !== by || thing.round !== round.number);
    for (const thing of this.things) {
      if (thing.by !== by) continue;
      // Who agrees again in a review that replaces its own has agreed all along.
      const before = thing.log.filter(({ what, round: said }) => what === 'agree' && said === round.number);
      if (!agrees.includes(thing.id)) thing.log = thing.log.filter((entry) => !before.includes(entry));
      else if (before.length === 0) this.log(thing, 'agree');
    }
    for (const { id, nit } of findings) {
      this.things.push({ id, by, round: round.number, commit: round.commit, nit, log: [], settled: false });
    }
    round.submitted.add(by);
    round.declined.delete(by);
  }

  declined(by: string, until: number | null): void {
    this.round!.declined.set(by, until);
  }

  answered(id: string, kind: 'accept' | 'reject' | 'upheld' | 'fixed' | 'withdrawn'): void {
    const thing = this.things.find((known) => known.id === id)!;
    if (kind === 'fixed' || kind === 'withdrawn') thing.settled = true;
    else this.log(thing, kind);
  }

  /** A9: whether this reviewer may mark this finding of another's. */
  mayMark(by: string, id: string): boolean {
    const { round } = this;
    const thing = this.things.find((known) => known.id === id);
    if (!round || !thing || thing.settled || !this.is(by, 'reviewer') || !round.submitted.has(by)) return false;
    const { state } = this.read(thing);
    const acceptedEarlier = state === 'open' && !this.someone('author') && thing.commit !== round.commit;
    return (state === 'accepted' || acceptedEarlier) && this.isLost(thing);
  }

  byHand(what: 'open' | 'close' | 'next', number: number): void {
    this.look(false);
    if (what !== 'open') this.close('lead');
    if (what !== 'close') this.open(number, false);
  }

  mayDraft(by: string): boolean {
    const { round } = this;
    if (!round || round.closedAt === null || !this.is(by, 'lead')) return false;
    if (this.draft?.round === round.number && this.draft.posted) return false;
    const isAgent = this.people.find((person) => person.id === by)?.isAgent === true;
    return !this.barista.on || !isAgent || round.ask !== null || round.final || this.draft?.round === round.number;
  }

  drafted(): void {
    const round = this.round!;
    this.draft = { round: round.number, commit: round.commit, posted: false };
    round.ask = null;
  }

  tookFinal(): void {
    this.round!.final = true;
    for (const thing of this.things) if (this.read(thing).dispute) this.log(thing, 'final');
  }

  posted(): void {
    this.draft!.posted = true;
  }

  // Time

  /** Lets a minute pass; `settle` says what is due after it. */
  tick(): void {
    const { round } = this;
    if (round?.closedAt === null && this.runs()) {
      for (const [id, until] of round.declined) if (until !== null && until > this.minute) round.idle.set(id, 0);
      for (const id of this.missing()) {
        const call = round.lastCall.get(id);
        const working = call !== undefined && this.minute - call < 5;
        if (!working) round.idle.set(id, (round.idle.get(id) ?? 0) + 1);
      }
    }
    this.minute += 1;
  }

  settle(): void {
    for (let moves = 0; this.move(); moves += 1) if (moves > 20) throw new Error('the naive rules do not come to rest');
  }

  /** One thing that is due now; false where nothing is. */
  private move(): boolean {
    if (this.ended) return false;
    if (this.pr.is !== 'open') {
      if (this.minute - this.pr.since < 7 * DAY) return false;
      if (this.look()) return true;
      this.ended = true;
      return this.say('ended', this.pr.is);
    }
    if (!this.barista.on) return false;
    const { round } = this;
    if (!round) {
      if (this.holders('reviewer').length === 0 || this.minute - this.head.at < 2) return false;
      return this.look() || this.open(1, true);
    }
    return round.closedAt === null ? this.moveOpen(round) : this.moveClosed(round);
  }

  private moveOpen(round: Pass): boolean {
    const missing = this.missing();
    const has = round.submitted.size > 0;
    const idleFor = (id: string): number => round.idle.get(id) ?? 0;
    if (has && missing.length === 0) return this.look() || this.close('all_submitted');
    if (has && missing.every((id) => idleFor(id) >= 30)) return this.look() || this.close('idle');
    if (has && this.pastCap(round)) return this.look() || this.close('cap');
    if (!has && !round.saidNoReview && (missing.length === 0 || this.pastCap(round))) {
      round.saidNoReview = true;
      return this.say('no review', String(round.number));
    }
    const due = missing.filter((id) => idleFor(id) >= 10 && !round.reminded.has(id));
    if (due.length === 0) return false;
    for (const id of due) round.reminded.add(id);
    return this.say('remind', due.join());
  }

  private moveClosed(round: Pass): boolean {
    const moved = this.head.commit !== round.commit;
    if (moved && round.number < 5) {
      if (this.minute - this.head.at < 2) return false;
      return this.look() || this.open(round.number + 1, true);
    }
    if (round.number === 5 && !round.saidLimit) {
      round.saidLimit = true;
      return this.say('limit', '5');
    }
    if (this.draft?.round === round.number) {
      if (!moved || this.draft.posted || round.saidStale) return false;
      if (this.look()) return true;
      round.saidStale = true;
      return this.say('stale', this.head.commit);
    }
    if (round.ask || round.final) return this.moveDraft(round);
    const toFix = this.things.filter((thing) => this.toFix(thing));
    if (toFix.length > 0) {
      const late = !moved && toFix.some((thing) => !this.read(thing).dispute);
      if (!late || round.saidLate || this.minute - round.closedAt! < DAY) return false;
      if (this.look()) return true;
      round.saidLate = true;
      return this.say('fixes late', String(round.number));
    }
    if (this.things.some((thing) => this.holdsDraft(thing))) return false;
    return this.moveDraft(round);
  }

  private moveDraft(round: Pass): boolean {
    const leads = this.holders('lead');
    const { ask } = round;
    if (leads.length === 0) return this.handOn(round);
    if (!ask || leads.some((id) => !ask.leads.includes(id))) {
      return this.look() || this.ask(round, leads, round.final ? 'final' : 'ready');
    }
    const person = this.people.some((other) => !other.isAgent && other.roles.includes('lead'));
    if (!person && this.minute - ask.at >= 30) return this.handOn(round);
    if (ask.reminded || this.minute - ask.at < 10) return false;
    ask.reminded = true;
    return this.say('remind lead', leads.join());
  }

  private handOn(round: Pass): boolean {
    if (this.look()) return true;
    const free = this.people.filter((one) => one.isAgent && one.present && !one.roles.includes('author') && !round.everAsked.has(one.id));
    const to = free.find((one) => round.submitted.has(one.id)) ?? free.find((one) => one.roles.length > 0);
    if (round.handOffs === 2 || !to) {
      this.drafted();
      return this.say('assembled', String(round.number));
    }
    round.handOffs += 1;
    for (const one of this.people) if (one.isAgent && one !== to) one.roles = one.roles.filter((role) => role !== 'lead');
    to.roles = ['lead', ...to.roles.filter((role) => role !== 'lead')];
    this.say('handed to', to.id);
    return this.ask(round, [to.id], 'hand_off');
  }

  private ask(round: Pass, leads: string[], why: string): boolean {
    round.ask = { at: this.minute, leads, reminded: false };
    for (const id of leads) round.everAsked.add(id);
    return this.say('ask', `${why} ${leads.join()}`);
  }

  private open(number: number, byBarista: boolean): boolean {
    this.things = this.things.filter((thing) => !thing.settled);
    this.round = {
      number,
      commit: this.head.commit,
      openedAt: this.minute,
      closedAt: null,
      carried: new Set(this.things.map((thing) => thing.id)),
      submitted: new Set(),
      declined: new Map(),
      idle: new Map(),
      lastCall: new Map(),
      reminded: new Set(),
      saidNoReview: false,
      ask: null,
      everAsked: new Set(),
      handOffs: 0,
      final: false,
      saidLate: false,
      saidLimit: false,
      saidStale: false,
    };
    return this.say(byBarista ? 'opened' : 'opened by hand', `${number} ${this.head.commit} ${this.holders('reviewer').join()}`);
  }

  private close(why: string): boolean {
    const round = this.round!;
    const gone = this.holders('reviewer').filter((id) => !round.submitted.has(id));
    const silent = gone.filter((id) => !round.declined.has(id));
    const declined = gone.filter((id) => round.declined.has(id));
    round.closedAt = this.minute;
    return this.say('closed', `${round.number} ${why} without ${silent.join()} declined ${declined.join()}`);
  }

  // What is true now

  get roles(): string[] {
    return this.people.filter((one) => one.present).map((one) => `${one.id}: ${[...one.roles].sort().join()}`);
  }

  get chips(): string[] {
    const { round } = this;
    const toFix = this.things.filter((thing) => this.toFix(thing));
    const disputed = toFix.filter((thing) => this.read(thing).dispute);
    const chips: string[] = [];
    if (disputed.length > 0) chips.push('dispute');
    if (round?.closedAt != null && round.saidLate && this.head.commit === round.commit && toFix.length > disputed.length) {
      chips.push('fixes not pushed');
    }
    if (this.draft && !this.draft.posted && this.draft.commit !== this.head.commit) chips.push('draft stale');
    if (round?.closedAt === null && this.runs() && round.submitted.size === 0) {
      if (this.pastCap(round) || this.missing().every((id) => (round.idle.get(id) ?? 0) >= 30)) chips.push('no review');
    }
    if (this.pr.is !== 'open') chips.push(this.pr.is);
    return chips.sort();
  }

  get phase(): string {
    const { round } = this;
    if (this.ended || this.pr.is !== 'open') return 'stopped';
    if (!round) return 'waiting_for_crew';
    if (round.closedAt === null) return 'reviewing';
    if (this.draft?.round === round.number) return this.draft.posted ? 'posted' : 'drafted';
    if (!this.barista.on) return 'drafting';
    if (this.nextIsComing(round)) return 'waiting_for_push';
    if (round.ask || round.final) return 'drafting';
    if (this.things.some((thing) => this.toFix(thing))) return 'waiting_for_push';
    return this.things.some((thing) => this.holdsDraft(thing)) ? 'waiting_for_answers' : 'drafting';
  }

  get offersFinal(): boolean {
    const { round } = this;
    if (!this.runs() || round?.closedAt == null || this.nextIsComing(round)) return false;
    if (this.draft?.round === round.number || round.ask || round.final) return false;
    const toFix = this.things.filter((thing) => this.toFix(thing));
    if (toFix.length === 0) return false;
    return round.saidLate || round.number >= 5 || !this.someone('author') || toFix.some((thing) => this.read(thing).dispute);
  }

  /** V7, for everybody present. */
  get done(): string[] {
    return this.people.filter((one) => one.present && this.hasNothing(one)).map((one) => one.id);
  }

  private hasNothing({ id, roles }: Person): boolean {
    const { round } = this;
    if (this.ended) return true;
    if (round?.closedAt == null || this.draft?.round !== round.number || roles.length === 0 || this.nextIsComing(round)) return false;
    if (this.draft.posted) return true;
    const left = this.things.some((thing) => {
      if (thing.settled) return false;
      const { state, dispute } = this.read(thing);
      if (roles.includes('author') && !dispute && (state === 'open' || state === 'upheld')) return true;
      if (!roles.includes('reviewer')) return false;
      if (!this.barista.on) return thing.by === id && state === 'rejected' && !dispute;
      if (!this.holdsDraft(thing)) return false;
      return state !== 'rejected' && this.isLost(thing) ? round.submitted.has(id) : thing.by === id;
    });
    return !left;
  }

  private nextIsComing(round: Pass): boolean {
    return this.runs() && round.closedAt !== null && round.number < 5 && this.head.commit !== round.commit;
  }

  private runs(): boolean {
    return this.barista.on && this.pr.is === 'open' && !this.ended;
  }

  private read(thing: Thing): { state: string; dispute: boolean; acceptedOn: string; rejectedAt: number } {
    let [state, dispute, acceptedOn, rejectedAt, upheld] = ['open', false, '', 0, false];
    for (const { what, commit, at } of thing.log) {
      switch (what) {
        case 'accept':
          if (state !== 'accepted') acceptedOn = commit;
          [state, dispute] = ['accepted', false];
          break;
        case 'reject':
          if (upheld && !thing.nit) dispute = true;
          [state, rejectedAt] = ['rejected', at];
          break;
        case 'upheld':
          [state, upheld] = ['upheld', true];
          break;
        case 'agree':
          upheld = true;
          break;
        case 'final':
          dispute = false;
          break;
      }
    }
    return { state, dispute: dispute && !thing.settled, acceptedOn, rejectedAt };
  }

  private toFix(thing: Thing): boolean {
    const round = this.round!;
    if (thing.settled || thing.nit) return false;
    const { state, dispute, acceptedOn } = this.read(thing);
    if (dispute || state === 'upheld') return true;
    if (round.submitted.has(thing.by) && thing.log.some(({ what, round: said }) => what === 'agree' && said === round.number)) return true;
    if (state === 'rejected') return false;
    if (!this.someone('author')) return thing.commit === round.commit;
    return state === 'open' || acceptedOn === round.commit;
  }

  private holdsDraft(thing: Thing): boolean {
    const round = this.round!;
    if (thing.settled || thing.nit || this.toFix(thing)) return false;
    const { state, rejectedAt } = this.read(thing);
    if (state === 'rejected') return this.minute - Math.max(round.closedAt!, rejectedAt) < 30;
    return round.carried.has(thing.id) && this.minute - round.closedAt! < (this.isLost(thing) ? 10 : 30);
  }

  private isLost(thing: Thing): boolean {
    const raiser = this.people.find((one) => one.id === thing.by);
    if (!raiser?.isAgent) return false;
    return !raiser.roles.includes('reviewer') || (this.round!.closedAt !== null && !this.round!.submitted.has(thing.by));
  }

  private missing(): string[] {
    const round = this.round!;
    return this.holders('reviewer').filter((id) => {
      const until = round.declined.get(id);
      return !round.submitted.has(id) && (until === undefined || (until !== null && until <= this.minute));
    });
  }

  private pastCap(round: Pass): boolean {
    const from = Math.max(round.openedAt, this.barista.since, this.pr.since);
    return this.minute - from >= 90;
  }

  private startIdleAnew(): void {
    this.round?.idle.clear();
  }

  private endAsk(): void {
    if (!this.round) return;
    this.round.ask = null;
    this.round.final = false;
  }

  private log(thing: Thing, what: Entry['what']): void {
    thing.log.push({ what, at: this.minute, commit: this.round!.commit, round: this.round!.number });
  }

  private holders(role: string): string[] {
    return this.people.filter((one) => one.roles.includes(role)).map((one) => one.id);
  }

  private someone(role: string): boolean {
    return this.holders(role).length > 0;
  }

  private is(id: string, role: string): boolean {
    return this.holders(role).includes(id);
  }

  private say(kind: string, details: string): true {
    this.notes.push(`${this.minute} ${kind} ${details}`.trim());
    return true;
  }
}

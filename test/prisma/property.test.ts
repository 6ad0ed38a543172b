import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Store } from '../../prisma/store.js';
import { textId } from '../../prisma/text-ids.js';
import { apply } from '../../workflows/room/apply.js';
import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { headFacts } from '../../workflows/room/decide/rounds.js';
import type { RoomEvent, RoomFact } from '../../workflows/room/events.js';
import { withoutAgent } from '../../workflows/room/record.js';
import type { Finding, RoomState, Round } from '../../workflows/room/state.js';
import { asOfNow, move, type Move } from '../room/commands.js';
import { BASE } from '../support/room.js';
import { ProjectedRoom, testStore, type TestStore } from '../support/store.js';

const SEQUENCES = 50;
const MOVES = 40;

/** How the events of a sequence reach the database: in pieces, some of them twice, by either of two servers. */
interface Delivery {
  readonly piece: number;
  readonly again: boolean;
  readonly second: boolean;
}
const delivery: fc.Arbitrary<Delivery> = fc.record({ piece: fc.integer({ min: 1, max: 7 }), again: fc.boolean(), second: fc.boolean() });

test(`the read model equals the state after ${SEQUENCES} random sequences, however their events were delivered`, async () => {
  const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.info(`property test of the projection: FC_SEED=${seed}`);
  await using world = await testStore();
  const stores = { store: world.store, other: world.second() };
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: MOVES, maxLength: MOVES }), fc.infiniteStream(delivery), async (moves, deliveries) => {
      const start = await ProjectedRoom.open(world.store, `property-${++number}`);
      await start.do((room) =>
        room
          .join('ana', 'grok', 'kim', 'pia')
          .roles({ pia: ['author'] })
          .open('ana'),
      );
      const lived = live(start, moves);
      await stage(world, start.slug, lived.texts);
      await deliver(stores, start, lived.events, deliveries);
      const snapshot = await world.store.rooms.snapshot(start.slug, { records: 'all' });
      expect(snapshot?.state).toEqual(lived.state);
      expect([...snapshot!.records.values()].map(kept)).toEqual(lived.records.map(kept));
    }),
    { seed, numRuns: SEQUENCES },
  );
});

interface Lived {
  readonly state: RoomState;
  readonly events: readonly RoomEvent[];
  /** The rooms as they were when the next round opened, without agents that were deleted since. */
  readonly records: readonly RoomState[];
  /** By whom, and what. */
  readonly texts: ReadonlyMap<string, readonly [by: string, body: string]>;
}

/** What a record is read for; a draft goes on living in the state. */
function kept({ round, findings }: RoomState): { round: Round | null; findings: readonly Finding[] } {
  return { round, findings };
}

function live(start: ProjectedRoom, moves: readonly Move[]): Lived {
  let { state } = start.room;
  let now = start.room.now;
  const events: RoomEvent[] = [...start.room.events];
  let ended: RoomState[] = [];
  const texts = new Map<string, readonly [string, string]>();
  const happen = (facts: readonly RoomFact[]): void => {
    for (const fact of facts) {
      const event: RoomEvent = { ...fact, at: now };
      if (event.type === 'RoundOpened' && state.round) ended.push(state);
      if (event.type === 'AgentDeleted') ended = ended.map((room) => withoutAgent(room, event.id));
      events.push(event);
      state = apply(state, event);
    }
  };
  for (const next of moves) {
    now += 1;
    if (next.kind === 'push') happen(headFacts(state, { sha: next.sha, baseSha: BASE, state: 'open' }, null));
    if (next.kind !== 'command') continue;
    const decision = decide(state, withTexts(asOfNow(state, next), start.slug, texts), now);
    if (decision.kind === 'done') happen(decision.events);
  }
  return { state, events, records: ended, texts };
}

/** The texts of a command under the ids that the database gives them. */
function withTexts(command: Command, slug: string, texts: Map<string, readonly [string, string]>): Command {
  return JSON.parse(JSON.stringify(command), (_, value: unknown) => {
    if (typeof value !== 'string' || !/^tx_/.test(value)) return value;
    const id = textId(slug, command.by, value);
    texts.set(id, [command.by, value]);
    return id;
  }) as Command;
}

async function stage({ store }: TestStore, slug: string, texts: Lived['texts']): Promise<void> {
  for (const [by, body] of texts.values()) await store.texts.stage(slug, by, [body]);
}

async function deliver(
  { store, other }: { store: Store; other: Store },
  start: ProjectedRoom,
  events: readonly RoomEvent[],
  deliveries: Iterable<Delivery>,
): Promise<void> {
  let from = start.projected;
  for (const how of deliveries) {
    if (from >= events.length) break;
    const outbox = { from, events: events.slice(from, from + how.piece) };
    await (how.second ? other : store).project(start.slug, outbox);
    if (how.again)
      await store.project(start.slug, { from: Math.max(0, from - 3), events: events.slice(Math.max(0, from - 3), from + how.piece) });
    from += how.piece;
  }
}

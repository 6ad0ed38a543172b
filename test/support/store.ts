import { createStore, type Store } from '../../prisma/store.js';
import { textId } from '../../prisma/text-ids.js';
import type { Outbox } from '../../workflows/messages.js';
import type { ParticipantId, PullRequest, TextId } from '../../workflows/room/state.js';
import { PATIENCE } from './patience.js';
import { NOON, TestRoom, type RoomInput } from './room.js';
import { createDatabase } from './services.js';

/** Time that stands still until a test moves it. */
class Clock {
  at = NOON;
  readonly now = (): number => this.at;
}

export interface TestStore extends AsyncDisposable {
  readonly url: string;
  readonly clock: Clock;
  readonly store: Store;
  /** Another server on the same database. */
  second(url?: string): Store;
}

/** `lookEveryMs`: as {@link createStore} has it, for every server of this database. */
export async function testStore({ lookEveryMs }: { lookEveryMs?: number } = {}): Promise<TestStore> {
  const url = await createDatabase();
  const clock = new Clock();
  const stores: Store[] = [];
  const open = (at = url): Store => {
    const store = createStore({ url: at, now: clock.now, patienceMs: PATIENCE.timeout, ...(lookEveryMs !== undefined && { lookEveryMs }) });
    stores.push(store);
    return store;
  };
  const store = open();
  return {
    url,
    clock,
    store,
    second: open,
    async [Symbol.asyncDispose]() {
      for (const each of stores) await each.close();
    },
  };
}

export const pullRequestOf = (name: string): PullRequest => ({
  forge: 'local',
  key: `local:/srv/${name}?base=main&head=topic`,
  repository: `local:/srv/${name}`,
  url: `local:/srv/${name}?base=main&head=topic`,
});

/** An owner and an opened room's row; `slug` is the database's. */
export async function openRow(store: Store, name: string, another = false): Promise<{ slug: string; ownerId: string }> {
  // By name: in a time that stands still no user is the first.
  const olga = (await store.accounts.users()).find((user) => user.name === 'olga');
  const owner = olga ?? (await store.accounts.addUser('olga'));
  const { room } = await store.rooms.open({ ownerId: owner.id, pullRequest: pullRequestOf(name), title: name, recipe: 'panel', another });
  return { slug: room.slug, ownerId: owner.id };
}

/** A room in memory whose texts have the ids that the database gives them. */
class StagingRoom extends TestRoom {
  readonly staged = new Map<TextId, { by: ParticipantId; body: string }>();

  override readonly text = (id: TextId): string => this.staged.get(id)!.body;

  override stage(by: ParticipantId, body: string): TextId {
    const id = textId(this.state.slug, by, body);
    this.staged.set(id, { by, body });
    return id;
  }
}

/** A room in memory, moved by the real rules, whose texts and events go into the database as they come. */
export class ProjectedRoom {
  projected = 0;

  private constructor(
    readonly store: Store,
    readonly slug: string,
    readonly room: StagingRoom,
  ) {}

  static async open(store: Store, name: string, input: Omit<RoomInput, 'slug'> = {}): Promise<ProjectedRoom> {
    const { slug } = await openRow(store, name);
    return new ProjectedRoom(store, slug, new StagingRoom({ ...input, slug })).flush();
  }

  /** What the database does not have yet. */
  get outbox(): Outbox {
    return { from: this.projected, events: this.room.events.slice(this.projected) };
  }

  /** Moves the room and stages its texts; nothing is projected. */
  async act(act: (room: TestRoom) => unknown): Promise<Outbox> {
    act(this.room);
    for (const { by, body } of this.room.staged.values()) await this.store.texts.stage(this.slug, by, [body]);
    return this.outbox;
  }

  /** Moves the room, then projects what came of it. */
  async do(act: (room: TestRoom) => unknown): Promise<this> {
    await this.act(act);
    return this.flush();
  }

  async flush(): Promise<this> {
    await this.store.project(this.slug, this.outbox);
    this.projected = this.room.events.length;
    return this;
  }
}

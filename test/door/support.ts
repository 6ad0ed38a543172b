import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, type Connection, type ClientOptions } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createRoomDoor, type Door } from '../../activities/room-door.js';
import type { Store } from '../../prisma/store.js';
import { STEP_TIME } from '../../worker/step-time.js';
import { roomWorkflowId, type UpdateInput, type UpdateOutput } from '../../workflows/messages.js';
import type { RoomActivities } from '../../workflows/activities.js';
import type { Command } from '../../workflows/room/commands.js';
import { DEFAULT_DURATIONS } from '../../workflows/room/state.js';
import { connectTo } from '../support/connect.js';
import { PATIENCE } from '../support/patience.js';
import { HEAD, BASE } from '../support/room.js';
import { temporalAddress } from '../support/services.js';
import { pullRequestOf, testStore, type TestStore } from '../support/store.js';

Runtime.install({ logger: new DefaultLogger('ERROR') });

/** A database, a Temporal with one worker, and a door between them; and ways to lose what is between. */
export class DoorWorld implements AsyncDisposable {
  readonly taskQueue = `door-${randomUUID()}`;
  #worker: { worker: Worker; done: Promise<void> } | undefined;
  readonly #connections: Connection[] = [];
  #native!: NativeConnection;
  client!: Client;
  door!: Door;

  private constructor(
    readonly db: TestStore,
    readonly address: string,
  ) {}

  static async start(): Promise<DoorWorld> {
    const world = new DoorWorld(await testStore(), await temporalAddress());
    world.client = await world.connect();
    world.door = createRoomDoor({ client: world.client, store: world.db.store, taskQueue: world.taskQueue, patienceMs: PATIENCE.timeout });
    world.#native = await NativeConnection.connect({ address: world.address });
    await world.startWorker();
    return world;
  }

  get store(): Store {
    return this.db.store;
  }

  async connect(address = this.address, options: Omit<ClientOptions, 'connection'> = {}): Promise<Client> {
    const connection = await connectTo(address);
    this.#connections.push(connection);
    return new Client({ connection, ...options });
  }

  async startWorker(): Promise<void> {
    const { store } = this;
    const activities: Pick<RoomActivities, 'project'> = { project: ({ slug, ...outbox }) => store.project(slug, outbox) };
    const worker = await Worker.create({
      connection: this.#native,
      taskQueue: this.taskQueue,
      workflowsPath: fileURLToPath(new URL('./room.workflow.ts', import.meta.url)),
      activities,
      stickyQueueScheduleToStartTimeout: '1 s',
      ...STEP_TIME,
    });
    this.#worker = { worker, done: worker.run() };
  }

  async stopWorker(): Promise<void> {
    this.#worker?.worker.shutdown();
    await this.#worker?.done;
    this.#worker = undefined;
  }

  /** A row and its running room. */
  async open(name: string, door = this.door): Promise<{ slug: string; owner: string }> {
    const owner = (await this.store.accounts.users())[0] ?? (await this.store.accounts.addUser('olga'));
    const pullRequest = pullRequestOf(name);
    const { room } = await this.store.rooms.open({ ownerId: owner.id, pullRequest, title: name, recipe: 'panel', another: false });
    await door.open({
      slug: room.slug,
      pullRequest,
      recipe: 'panel',
      owner,
      head: { sha: HEAD, baseSha: BASE, state: 'open' },
      barista: false,
      durations: DEFAULT_DURATIONS,
    });
    return { slug: room.slug, owner: owner.id };
  }

  /** What an edge does that is killed between its Update and the projection. */
  async sendAndDie(slug: string, command: Command, intent: string = randomUUID()): Promise<UpdateOutput> {
    await this.store.intents.add({ id: intent, slug });
    const handle = this.client.workflow.getHandle(roomWorkflowId(slug));
    return handle.executeUpdate<UpdateOutput, [UpdateInput]>(command.type, { args: [{ command, projectedSeq: 0 }] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopWorker();
    for (const connection of this.#connections) await connection.close();
    await this.#native.close();
    await this.db[Symbol.asyncDispose]();
  }
}

export const join = (name: string): Command => ({ type: 'join', by: `ag_${name}`, participant: { id: `ag_${name}`, name, kind: 'agent' } });

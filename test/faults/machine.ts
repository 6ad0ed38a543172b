// A machine on which Barista runs as it does for its users: each part a process of its own, which can be killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { migrate } from '../../prisma/migrate.js';
import { createStore, type Store } from '../../prisma/store.js';
import { isAlive } from '../../stack/child.js';
import { startPostgres } from '../../stack/postgres.js';
import { startProgram } from '../../stack/programs.js';
import { startTemporal } from '../../stack/temporal.js';
import { HEAD_SIGNAL, ROOM_QUERY, roomWorkflowId } from '../../workflows/messages.js';
import type { HeadSeen } from '../../workflows/room/events.js';
import type { RoomState } from '../../workflows/room/state.js';
import { addAgent, addPerson, call, type Person, type ToolAnswer } from '../support/edge.js';
import { GitWorld } from '../support/git-world.js';
import { PATIENCE } from '../support/patience.js';
import { temporalCliPath } from '../support/services.js';
import { Gate } from '../support/gate.js';

type Part = 'database' | 'temporal' | 'worker' | 'server';
const PARTS: readonly Part[] = ['database', 'temporal', 'worker', 'server'];

interface Running {
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Note {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly text: string;
}

export class Machine {
  readonly git = new GitWorld();
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'barista-faults-'));
  readonly #running = new Map<Part, Running>();
  #databaseUrl = '';
  /** Chosen at the first start, and kept: whoever is connected finds it there again. */
  #temporalAddress = '';
  #url = '';
  #connection!: Connection;
  #client!: Client;
  /** The ways to the database: the server's, the worker's, and the test's own, which stays open. */
  readonly #gates = {} as Record<'server' | 'worker' | 'test', Gate>;
  store!: Store;
  owner!: Person;

  /** Everything up, with an owner who may open rooms on a repository. */
  static async start(): Promise<Machine> {
    const machine = new Machine();
    machine.git.push({ 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 2;\n' }, 'Add a and b');
    for (const who of ['server', 'worker', 'test'] as const) machine.#gates[who] = await Gate.before(() => machine.#databaseUrl);
    await machine.#begin('database');
    await migrate(machine.#gates.test.url);
    const now = (): number => Date.now();
    machine.store = createStore({ url: machine.#gates.test.url, now, poolSize: 3 });
    await machine.begin('temporal', 'worker', 'server');
    machine.#connection = Connection.lazy({ address: machine.#temporalAddress });
    machine.#client = new Client({ connection: machine.#connection });
    machine.owner = await addPerson(machine.store, 'olga');
    const ref = await createLocalForge({ allowedRoots: [machine.git.path], now }).resolve(parsePullRequest(machine.git.pullRequest));
    await machine.store.accounts.linkRepository(machine.owner.id, ref.forge, ref.repository);
    return machine;
  }

  /** Starts these parts, each once it is needed by the next; all that do not run where none is named. */
  async begin(...parts: Part[]): Promise<void> {
    for (const part of PARTS) {
      if (this.#running.has(part) || (parts.length > 0 && !parts.includes(part))) continue;
      await this.#begin(part);
    }
  }

  /** Ends these parts at once with SIGKILL; all of them where none is named. */
  async kill(...parts: Part[]): Promise<void> {
    const named = parts.length > 0 ? parts : PARTS;
    const pids = named.map((part) => this.#running.get(part)!.pid);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), PATIENCE);
    for (const part of named) this.#running.delete(part);
  }

  /** Ends everything in good order. */
  async stopAll(): Promise<void> {
    for (const part of [...PARTS].reverse()) await this.#running.get(part)?.stop();
    this.#running.clear();
  }

  /** Stands a part still: it lives, and does nothing until it is woken. */
  freeze(part: Part): void {
    process.kill(this.#running.get(part)!.pid, 'SIGSTOP');
  }

  wake(part: Part): void {
    process.kill(this.#running.get(part)!.pid, 'SIGCONT');
  }

  /** The database is not to be reached by these. */
  cutOff(...who: ('server' | 'worker')[]): void {
    for (const one of who) this.#gates[one].close();
  }

  /** What the server tells the database hangs in the air. */
  stallServer(): void {
    this.#gates.server.stall();
  }

  reconnect(): void {
    for (const gate of Object.values(this.#gates)) gate.open();
  }

  agent(name: string): Promise<Person> {
    return addAgent(this.store, this.owner.id, name);
  }

  /** A room in which these agents have joined, in order. */
  async room(agents: readonly Person[], options: { recipe?: string; barista?: boolean; durations?: Record<string, string> } = {}) {
    const asked = { pull_request: this.git.pullRequest, recipe: 'panel', barista: false, another: true, ...options };
    const { slug } = (await this.#rest('POST', '/rooms', asked)) as { slug: string };
    for (const agent of agents) await this.ok(agent, 'join_room', { room: slug });
    return slug;
  }

  /** When each clock that runs in the room is due, by its name; epoch milliseconds. */
  async clocks(room: string): Promise<ReadonlyMap<string, number>> {
    const { clocks } = (await this.#rest('GET', `/rooms/${room}`)) as { clocks: { name: string; at: string }[] };
    return new Map(clocks.map(({ name, at }) => [name, Date.parse(at)]));
  }

  async setDurations(room: string, durations: Record<string, string>): Promise<void> {
    await this.#rest('PATCH', `/rooms/${room}/review/barista`, { durations });
  }

  /** As the owner. */
  async #rest(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.owner.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    expect(response.ok, JSON.stringify(answer)).toBe(true);
    return answer;
  }

  tool(who: Person, name: string, args: object): Promise<ToolAnswer> {
    return call(this.#url, who.key, name, args);
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a server really answered is what is tested
  async ok(who: Person, name: string, args: object): Promise<any> {
    const answer = await this.tool(who, name, args);
    if (answer.isError) throw new Error(`${name} was refused: ${answer.text}`);
    return answer.json;
  }

  /** As a client does: the same call again for as long as it is told that this is safe, or nobody answers. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  async persist(who: Person, name: string, args: object): Promise<any> {
    // What is away is so by the test's own will: that time comes on top.
    const deadline = performance.now() + 3 * PATIENCE.timeout;
    for (;;) {
      const answer = await this.tool(who, name, args).catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && !answer.isError) return answer.json;
      const said = typeof answer === 'string' ? answer : answer.text;
      if (typeof answer !== 'string') expect(answer.json.error.code, said).toBe('unavailable');
      expect(performance.now(), said).toBeLessThan(deadline);
      await delay(500);
    }
  }

  /** The room hears of a push, as from a forge's delivery. */
  async deliver(room: string, sha: string): Promise<void> {
    const { baseSha } = (await this.readModel(room)).head;
    const seen: HeadSeen = { sha, baseSha, state: 'open', move: { commits: 1, rewritten: false } };
    await this.#handle(room).signal(HEAD_SIGNAL, seen);
  }

  async readModel(room: string): Promise<RoomState> {
    return (await this.store.rooms.state(room))!;
  }

  /** What the room itself says it is. */
  roomItself(room: string): Promise<RoomState> {
    return this.#handle(room).query<RoomState>(ROOM_QUERY);
  }

  async notes(room: string): Promise<Note[]> {
    const notes: Note[] = [];
    for (let after = 0; ;) {
      const { messages, more } = await this.store.messages.list(room, after);
      notes.push(...messages.filter(({ kind }) => kind === 'note'));
      if (!more) return notes;
      after = messages.at(-1)!.id;
    }
  }

  async eventually(room: string, pattern: RegExp): Promise<void> {
    const said = async (): Promise<string> => (await this.notes(room)).map(({ text }) => text).join('\n');
    await vi.waitFor(async () => expect(await said()).toMatch(pattern), PATIENCE);
  }

  /** Until a call in this room has announced its Update: it is sent next. Calls that were killed elsewhere stay announced for a while. */
  async updateIsAnnounced(room: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#gates.test.url });
    await client.connect();
    try {
      await vi.waitFor(
        async () => expect((await client.query('select from intents where slug = $1', [room])).rowCount).toBeGreaterThan(0),
        PATIENCE,
      );
    } finally {
      await client.end();
    }
  }

  /** The room has what the database does not have yet. */
  async roomIsAhead(room: string): Promise<void> {
    await vi.waitFor(async () => expect((await this.roomItself(room)).seq).toBeGreaterThan((await this.readModel(room)).seq), PATIENCE);
  }

  /** Nothing is lost and nothing doubled: the database has the room as it is, and every note once. */
  async isWhole(room: string): Promise<void> {
    await vi.waitFor(async () => expect(await this.readModel(room)).toEqual(await this.roomItself(room)), PATIENCE);
    const notes = await this.notes(room);
    expect(notes.map(({ id }) => id)).toEqual([...new Set(notes.map(({ id }) => id))]);
    const texts = notes.map(({ text }) => text);
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
  }

  async stop(): Promise<void> {
    await this.stopAll();
    await this.store.close();
    await this.#connection.close();
    for (const gate of Object.values(this.#gates)) await gate[Symbol.asyncDispose]();
    this.git.dispose();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  async #begin(part: Part): Promise<void> {
    switch (part) {
      case 'database': {
        const postgres = await startPostgres({ dataDir: this.#dataDir, durable: false });
        this.#databaseUrl = postgres.url;
        this.#running.set(part, postgres);
        return;
      }
      case 'temporal': {
        const cliPath = await temporalCliPath();
        const again = this.#temporalAddress ? { port: Number(new URL(`tcp://${this.#temporalAddress}`).port) } : {};
        const temporal = await startTemporal({ dataDir: this.#dataDir, ...again, ui: false, cliPath });
        this.#temporalAddress = temporal.address;
        this.#running.set(part, temporal);
        return;
      }
      case 'worker':
        this.#running.set(part, await this.#program(part, 'worker/main.ts'));
        return;
      case 'server': {
        const server = await this.#program(part, 'mcp-server/main.ts');
        this.#url = server.ready['url'] as string;
        this.#running.set(part, server);
        return;
      }
    }
  }

  #program(part: 'worker' | 'server', entry: string) {
    return startProgram({
      title: part,
      entry,
      logFile: join(this.#dataDir, `${part}.log`),
      signal: new AbortController().signal,
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        LOG_LEVEL: 'warn',
        DATABASE_URL: this.#gates[part].url,
        TEMPORAL_ADDRESS: this.#temporalAddress,
        BARISTA_LOCAL_REPOS: this.git.path,
      },
    });
  }

  #handle(room: string) {
    return this.#client.workflow.getHandle(roomWorkflowId(room));
  }
}

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { createTakeDelivery, type TakeDelivery } from '../../mcp-server/webhooks/take.js';
import type { AutomaticRoom, DeliveryActivities, Look, Shown } from '../../workflows/delivery/activities.js';
import type { Delivery, Heard, PullRequestHeard } from '../../workflows/delivery/heard.js';
import { LOOK_AGAIN_MS } from '../../workflows/delivery/lag.js';
import { deliveryWorkflowId, type DeliveryDone } from '../../workflows/delivery/messages.js';
import { ROOM_WORKFLOW, SEARCH_ATTRIBUTES, roomWorkflowId, type ForgeSilence } from '../../workflows/messages.js';
import type { HeadSeen } from '../../workflows/room/events.js';
import type { PullRequest } from '../../workflows/room/state.js';
import { STEP_TIME } from '../../worker/step-time.js';
import { createTimeSkipping } from './time-skipping.js';
import { silent } from './silent.js';
import { commit } from './skipped-time.js';

const SECOND = 1_000;

export const PULL_REQUEST: PullRequest = {
  forge: 'github',
  key: 'github:github.com/4242#7',
  repository: 'github:github.com/4242',
  url: 'https://github.com/octo-org/hello/pull/7',
};

export function heardOf(what: PullRequestHeard['what'], more: Partial<PullRequestHeard> = {}): PullRequestHeard {
  const { key, repository, url } = PULL_REQUEST;
  return { kind: 'pull_request', what, key, repository, url, headSha: commit('a2'), draft: false, labels: [], ...more };
}

export const shown = (short: string, more: Partial<Shown> = {}): Shown => ({
  sha: commit(short),
  state: 'open',
  draft: false,
  labels: [],
  ...more,
});

/** The delivery's real workflow on a server that skips time; the forge and the rooms are what a test says they are. */
export class SkippedDeliveries {
  /** What the forge shows, so many seconds after it was first asked; throws where it fails. */
  forge: (seconds: number) => Shown | Exclude<Look, { kind: 'read' | 'nobody' }> = () => shown('a2');
  /** The head that the rooms know. */
  known = commit('a1');
  /** The rooms that stand on it. */
  readonly rooms: string[] = [];
  /** Owners whose rooms open by themselves. */
  owners: string[] = [];
  opens: (owner: string) => AutomaticRoom = (owner) => ({ slug: `room-of-${owner}`, why: `room opened for ${owner}` });
  /** What activities were asked, in order: `look 2` is a look after two seconds. */
  readonly asked: string[] = [];
  /** What was kept of deliveries, in a few words each. */
  readonly recorded: string[] = [];
  pullRequests: PullRequest[] = [];
  /** When the delivery came, by the machine's own clock. */
  #cameAt = 0;
  #firstLookAt: number | null = null;
  /** Looks of the delivery, by the activities they are. */
  readonly #looks = new Set<string>();
  #stop!: () => Promise<void>;

  private constructor(
    readonly env: TestWorkflowEnvironment,
    readonly take: TakeDelivery,
  ) {}

  static async start(): Promise<SkippedDeliveries> {
    Runtime.install({ logger: silent });
    const env = await createTimeSkipping();
    await env.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: { [SEARCH_ATTRIBUTES.repository]: 2, [SEARCH_ATTRIBUTES.pullRequest]: 2 },
    });
    const deliveries = new SkippedDeliveries(env, createTakeDelivery(env.client));
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: 'barista',
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: fileURLToPath(new URL('./delivery-workflows.ts', import.meta.url)),
        logger: silent,
      }),
      activities: deliveries.#activities(),
      ...STEP_TIME,
    });
    const running = worker.run();
    deliveries.#stop = async () => {
      worker.shutdown();
      await running;
      await env.teardown();
    };
    return deliveries;
  }

  /** Forgets what was; the rooms of before do not stand on it any more. */
  async reset(): Promise<void> {
    // Once a delivery is over, the skipped time may have gone on to where rooms end by themselves.
    for (const slug of this.rooms.splice(0))
      await this.env.client.workflow
        .getHandle(roomWorkflowId(slug))
        .signal('end')
        .catch(() => undefined);
    this.asked.length = 0;
    this.recorded.length = 0;
    this.forge = () => shown('a2');
    this.owners = [];
    this.pullRequests = [];
  }

  async room(): Promise<string> {
    const slug = `room-${randomUUID()}`;
    await this.env.client.workflow.start(ROOM_WORKFLOW, { workflowId: roomWorkflowId(slug), taskQueue: 'barista' });
    this.rooms.push(slug);
    return slug;
  }

  /** What the room was told, its head by the first digits. */
  async told(slug: string): Promise<(string | ForgeSilence)[]> {
    const heard = await this.env.client.workflow.getHandle(roomWorkflowId(slug)).query<(HeadSeen | ForgeSilence)[]>('heard');
    return heard.map((one) => ('sha' in one ? `${one.sha.slice(0, 2)} ${one.state}` : one));
  }

  async comes(heard: Heard, id: string = randomUUID()): Promise<WorkflowHandle> {
    const delivery: Delivery = { forge: 'github', id, heard };
    this.#firstLookAt = null;
    this.#looks.clear();
    this.#cameAt = Date.now();
    await this.take(delivery, await this.env.currentTimeMs());
    return this.env.client.workflow.getHandle(deliveryWorkflowId(delivery));
  }

  /** Comes, and goes to its end. */
  async ends(heard: Heard, id?: string): Promise<DeliveryDone> {
    return (await (await this.comes(heard, id)).result()) as DeliveryDone;
  }

  async details(handle: WorkflowHandle): Promise<string> {
    return (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  #activities(): DeliveryActivities {
    return {
      recordDelivery: async ({ what }) => Promise.resolve(void this.recorded.push(what)),
      hearCi: async ({ sha }) => Promise.resolve(void this.asked.push(`ci ${sha.slice(0, 2)}`)),
      lookAtPullRequest: async ({ due }) => {
        const seconds = Math.round(this.#lookedAfter() / SECOND);
        this.asked.push(`look ${seconds}`);
        if (this.rooms.length === 0 && (due === null || this.owners.length === 0)) return Promise.resolve({ kind: 'nobody' });
        const seen = this.forge(seconds);
        if ('kind' in seen) return Promise.resolve(seen);
        return Promise.resolve({ kind: 'read', shown: seen, rooms: this.#shownTo(seen), due: due === null ? [] : this.owners });
      },
      openAutomaticRoom: async ({ owner }) => {
        this.asked.push(`open ${owner}`);
        return Promise.resolve(this.opens(owner));
      },
      changeAccess: async ({ heard: { what } }) => {
        this.asked.push(`access ${what}`);
        return Promise.resolve({ pullRequests: this.pullRequests });
      },
    };
  }

  /**
   * When this look came, in milliseconds from the first: when it was due, unless it came too early, or later than the
   * time that has passed by itself excuses, for all that this server skips is the waiting.
   */
  #lookedAfter(): number {
    const { activityId, attempt, currentAttemptScheduledTimestampMs: at } = Context.current().info;
    this.#firstLookAt ??= at;
    this.#looks.add(activityId);
    const after = at - this.#firstLookAt;
    const due = [0, ...LOOK_AGAIN_MS][this.#looks.size - 1] ?? after;
    const passed = Date.now() - this.#cameAt;
    return attempt === 1 && after >= due && after <= due + passed + SECOND ? due : after;
  }

  #shownTo({ sha, state }: Shown) {
    const seen: HeadSeen = { sha: sha!, baseSha: commit('ba'), state, move: null };
    return this.rooms.map((slug) => ({ slug, seen: sha === this.known && state === 'open' ? null : seen }));
  }
}

// A whole world on a fake forge that sends deliveries, and what a test asks of it.
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { expect } from 'vitest';
import type { ForgeSettings } from '../../config/forge-settings.js';
import { DELIVERY_WORKFLOW, type DeliveryDone } from '../../workflows/delivery/messages.js';
import { connectTo } from '../support/connect.js';
import { GITHUB_SECRET, GITLAB_SECRET } from '../support/deliveries.js';
import { FakeGitHub } from '../support/fake-github/index.js';
import { FakeGitLab } from '../support/fake-gitlab/index.js';
import { GitWorld } from '../support/git-world.js';
import { startWorld, type World } from '../support/world.js';

const WEBHOOKS: ForgeSettings['webhooks'] = { github: GITHUB_SECRET, gitlab: { secretToken: GITLAB_SECRET, signingKey: null } };

export interface HookedWorld extends World {
  readonly temporal: Client;
  /** What became of the delivery; its failure where it failed. */
  outcome(id: string): Promise<DeliveryDone>;
  /** Every room of the owner's, newest first. */
  rooms(): Promise<{ slug: string; state: string; recipe: string }[]>;
  /** A room by hand on the forge's pull request. */
  open(pullRequest: string, more?: object): Promise<string>;
  notes(slug: string): Promise<string[]>;
}

export async function startHookedWorld(forges: Partial<ForgeSettings>): Promise<HookedWorld> {
  const world = await startWorld({ forges: { webhooks: WEBHOOKS, ...forges } });
  const connection = await connectTo(process.env.TEMPORAL_ADDRESS!);
  const temporal = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! });
  return {
    ...world,
    temporal,
    outcome: (id) => temporal.workflow.result(id) as Promise<DeliveryDone>,
    rooms: async () => (await world.rest(world.owner, 'GET', '/rooms')).json.rooms,
    async open(pullRequest, more = {}) {
      // Its own looks at the head are too rare to find anything before a delivery tells of it.
      const durations = { head_poll: 'PT1H' };
      const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: pullRequest, barista: false, durations, ...more });
      if (opened.status !== 201) throw new Error(`no room: ${opened.text}`);
      return opened.json.slug;
    },
    async notes(slug) {
      const { json } = await world.rest(world.owner, 'GET', `/rooms/${slug}/messages`);
      return json.messages.filter(({ kind }: { kind: string }) => kind === 'note').map(({ text }: { text: string }) => text);
    },
    async stop() {
      await connection.close();
      await world.stop();
    },
  };
}

export interface OnGitHub extends HookedWorld {
  readonly github: FakeGitHub;
}

export async function startOnGitHub(): Promise<OnGitHub> {
  const github = await FakeGitHub.start();
  github.world.push({ 'src/c.ts': 'one\ntwo\n' }, 'Add c');
  const { id, privateKey } = github.addApp(11, 'barista');
  const world = await startHookedWorld({ github: { apiUrl: github.urls.api, app: { id, privateKey }, reviewer: null }, gitlab: null });
  return { ...world, github, stop: async () => (await world.stop(), github.stop()) };
}

export interface OnGitLab extends HookedWorld {
  readonly gitlab: FakeGitLab;
  readonly project: GitWorld;
}

export async function startOnGitLab(): Promise<OnGitLab> {
  const project = new GitWorld();
  project.push({ 'src/c.ts': 'one\ntwo\n' }, 'Add c');
  const gitlab = await FakeGitLab.start(project);
  const world = await startHookedWorld({ github: null, gitlab: { url: gitlab.url, token: gitlab.token } });
  const stop = async () => {
    await world.stop();
    await gitlab.stop();
    project.dispose();
  };
  return { ...world, gitlab, project, stop };
}

/** How many deliveries Temporal knows by now. Its index follows behind, in order: a workflow that is started now is in it last. */
export async function countDeliveries({ temporal }: HookedWorld): Promise<number> {
  const count = async (query: string) => (await temporal.workflow.count(query)).count;
  const workflowId = `last/${randomUUID()}`;
  const last = await temporal.workflow.start('nobodyRunsIt', { taskQueue: workflowId, workflowId });
  await expect.poll(() => count(`WorkflowId = '${workflowId}'`)).toBe(1);
  await last.terminate();
  return count(`WorkflowType = '${DELIVERY_WORKFLOW}'`);
}

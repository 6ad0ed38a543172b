import { execFile } from 'node:child_process';
import { join as joinPath } from 'node:path';
import { promisify } from 'node:util';
import { localRef } from '../../activities/forge/pull-request.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import { findTemporalCli } from '../../stack/temporal-binaries.js';
import { callTool, Refused, rest, type Json } from '../api.js';
import { CommandFailed } from '../failure.js';
import { whenAborted } from '../interrupted.js';
import { withTemporal } from '../operator.js';
import { startBarista, type StartedStack } from '../stack.js';
import { inTemporalUi } from '../temporal-ui.js';
import { dataDirOf, type Target } from '../where.js';
import { connectAgent, join, live, type Agent } from './agent.js';
import { CREW, turnOf } from './crew.js';
import type { DemoEnd, Narrator } from './narrator.js';
import { cloneOf, lookAt, type Clone, type Shown } from './repository.js';

interface DemoOptions {
  /** A folder in the repository shown. */
  readonly repository: string;
  readonly base?: string | undefined;
  readonly head?: string | undefined;
  /** Whether it stays up when the review is posted. */
  readonly stays: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly tell: Narrator;
}

/** Long enough for every step to be seen, short enough for a minute. What nobody waits for is out of the way. */
const DURATIONS = {
  head_quiet: 'PT4S',
  uphold_window: 'PT4S',
  verify_window: 'PT4S',
  lost_raiser_window: 'PT4S',
  head_poll: 'PT2S',
  remind_after: 'PT60S',
  idle_close: 'PT2M',
  round_cap: 'PT5M',
  draft_reminder: 'PT60S',
  draft_handoff: 'PT2M',
};

/**
 * A whole review on a clone of a real repository: room, crew, two rounds, draft, post. Each demo begins with an empty
 * data folder of its own, so that it never meets an `npm start` or the demo before.
 */
export async function runDemo({ repository, base, head, stays, env, signal, tell }: DemoOptions): Promise<void> {
  const shown = await lookAt(repository, { base, head });
  const dataDir = joinPath(dataDirOf(env), 'demo');
  // The CLI is 150 MB: the one of the data folder does for every demo.
  const temporalCliPath = env.TEMPORAL_ADDRESS
    ? undefined
    : await findTemporalCli({ binDir: joinPath(dataDirOf(env), 'bin'), env, signal });
  tell.say('starting PostgreSQL, Temporal, a worker and a server');
  const stack = await startBarista({
    dataDir,
    fresh: true,
    env: { ...env, HOST: '127.0.0.1', PORT: '0', BARISTA_DATA_DIR: dataDir },
    signal,
    ...(temporalCliPath && { temporalCliPath }),
  });
  try {
    const ended = await Promise.race([review(stack, shown, { dataDir, stays, tell }), stack.failed.then(failWith), whenAborted(signal)]);
    if (ended && stays) await Promise.race([stack.failed.then(failWith), whenAborted(signal)]);
  } finally {
    await stack.stop();
  }
}

function failWith(line: string): never {
  throw new CommandFailed(line);
}

interface Setting {
  readonly dataDir: string;
  readonly stays: boolean;
  readonly tell: Narrator;
}

async function review(stack: StartedStack, shown: Shown, { dataDir, stays, tell }: Setting): Promise<true> {
  const owner: Target = { url: stack.url, key: stack.ownerKey.key };
  const clone = await cloneOf(shown, joinPath(dataDir, 'clone', shown.name));
  tell.say(`reviewing ${shown.head.name} against ${shown.base?.name ?? 'nothing'}, on a clone`);
  const { slug }: { slug: string } = await rest(owner, 'POST', '/rooms', {
    pull_request: localRef(clone.path, clone.base, clone.head).url,
    recipe: 'build_duel',
    durations: DURATIONS,
  });
  const agents: Agent[] = [];
  const stopping = new AbortController();
  try {
    const posted = follow(owner, slug, tell, stopping.signal);
    await Promise.race([playRounds(owner, clone, agents), posted]);
    const draft = await rest(owner, 'GET', `/rooms/${slug}/review/draft`);
    tell.draft(draft);
    await rest(owner, 'POST', `/rooms/${slug}/review/draft/post`, { version: draft.version });
    await posted;
    tell.end(await endOf(stack, clone, slug, draft.head_sha, { dataDir, stays }));
    return true;
  } finally {
    stopping.abort();
    await Promise.allSettled(agents.map((agent) => agent.close()));
  }
}

/** Makes the crew and lets it work, each agent with its own key, until nothing is left for any of them. */
async function playRounds(owner: Target, clone: Clone, agents: Agent[]): Promise<void> {
  const lives: Promise<void>[] = [];
  for (const role of CREW) {
    const { name, key } = await newAgent(owner, role);
    const agent = await connectAgent(name, `${owner.url}/mcp`, key);
    agents.push(agent);
    const membership = await join(agent); // one after the other: the order gives them their roles
    lives.push(live(agent, membership, turnOf(role, agent, clone)));
  }
  await Promise.all(lives);
}

/** Under the next free name, where DATABASE_URL names a database that has seen a demo before. */
async function newAgent(owner: Target, name: string, turn = 1): Promise<{ name: string; key: string }> {
  try {
    return (await rest(owner, 'POST', '/agents', { name: turn === 1 ? name : `${name}-${turn}` })) as { name: string; key: string };
  } catch (error) {
    if (error instanceof Refused && error.code === 'conflict') return newAgent(owner, name, turn + 1);
    throw error;
  }
}

/** Tells every message of the room as it comes, until the review is posted. */
async function follow(owner: Target, room: string, tell: Narrator, signal: AbortSignal): Promise<void> {
  for (let after = '0'; !signal.aborted;) {
    const waited = await callTool(owner, 'wait_for_messages', { room, after, timeout_seconds: 20 }).catch((error: unknown) => {
      if (signal.aborted) return { messages: [] };
      throw error;
    });
    for (const message of waited.messages as Json[]) {
      after = message.id;
      tell.heard(message);
      if (message.event === 'posted') return;
    }
  }
}

async function endOf(
  stack: StartedStack,
  clone: Clone,
  slug: string,
  commit: string,
  { dataDir, stays }: Omit<Setting, 'tell'>,
): Promise<DemoEnd> {
  const workflowId = roomWorkflowId(slug);
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress, TEMPORAL_NAMESPACE: stack.temporalNamespace };
  const { runId } = await withTemporal(env, ({ client }) => client.workflow.getHandle(workflowId).describe());
  const git = ['-C', clone.path, 'notes', '--ref=barista', 'show', commit];
  const { stdout } = await promisify(execFile)('git', ['-c', 'safe.directory=*', ...git]);
  return {
    room: slug,
    url: stack.url,
    data_dir: dataDir,
    repository: clone.path,
    commit,
    read_the_note: `git ${git.join(' ')}`,
    note: stdout,
    temporal_ui: inTemporalUi(stack, workflowId, runId),
    stays,
  };
}

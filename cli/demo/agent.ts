import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { VERSION } from '../../mcp-server/version.js';
import type { Json } from '../api.js';
import { CommandFailed } from '../failure.js';

/** An agent as any other MCP client over HTTP: all it has is the server's address and its own key. */
export interface Agent {
  readonly name: string;
  /** Calls a tool. @throws ToolRefused */
  call(tool: string, args: object): Promise<Json>;
  close(): Promise<void>;
}

export class ToolRefused extends CommandFailed {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export async function connectAgent(name: string, mcpUrl: string, key: string): Promise<Agent> {
  const client = new Client({ name: `barista-demo-${name}`, version: VERSION });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  return {
    name,
    async call(tool, args) {
      const { content, isError } = (await client.callTool({ name: tool, arguments: { ...args } })) as {
        content: { text: string }[];
        isError?: boolean;
      };
      const answer = JSON.parse(content[0]!.text) as Json;
      if (isError) throw new ToolRefused(answer.error.code, `@${name}: ${tool} was refused: ${answer.error.message}`);
      return answer;
    },
    close: () => client.close(),
  };
}

/** What an agent does when something may have changed, given its view of the latest round. */
export type Turn = (view: RoundView, heard: ReadonlySet<string>) => Promise<void>;

export interface RoundView {
  readonly room: string;
  /** Null before round 1. */
  readonly round: { readonly number: number; readonly state: 'open' | 'closed'; readonly round_head_sha: string } | null;
  readonly nextSteps: string;
  /** Findings of the round and carried into it, as far as the agent may see them. */
  readonly findings: readonly Json[];
  readonly verdicts: readonly { readonly by_name: string; readonly verdict: string }[];
}

/** Nobody waits longer than clients allow a call. */
const WAIT_SECONDS = 20;
/** Somebody else was faster, or the server wants to be asked again: the next look shows how things stand. */
const PASSING = ['conflict', 'unavailable', 'round_closed', 'no_open_round', 'too_soon', 'settled'];

interface Membership {
  readonly room: string;
  readonly lastMessageId: string;
}

/** Joins the newest room that the agent's key shows it. */
export async function join(agent: Agent): Promise<Membership> {
  const { rooms } = await agent.call('list_rooms', {});
  const room: string = rooms[0].slug;
  const { last_message_id: lastMessageId } = await agent.call('join_room', { room });
  return { room, lastMessageId };
}

/** Takes the agent's turn at each message, until nothing is left for it. */
export async function live(agent: Agent, { room, lastMessageId }: Membership, turn: Turn): Promise<void> {
  const heard = new Set<string>();
  for (let after = lastMessageId; ;) {
    try {
      await turn(await viewOf(agent, room), heard);
    } catch (error) {
      if (!(error instanceof ToolRefused && PASSING.includes(error.code))) throw error;
    }
    const waited = await agent.call('wait_for_messages', { room, after, timeout_seconds: WAIT_SECONDS });
    if (waited.kind === 'done') return;
    for (const message of waited.messages as Json[]) if (message.event) heard.add(message.event);
    after = waited.last_message_id;
  }
}

/** Every page of get_review_round. */
async function viewOf(agent: Agent, room: string): Promise<RoundView> {
  const findings: Json[] = [];
  const verdicts = new Map<string, { by_name: string; verdict: string }>();
  for (let page = 1; ; page++) {
    const answer = await agent.call('get_review_round', { room, page });
    findings.push(...answer.carried, ...answer.reviews.flatMap((review: Json) => review.findings));
    for (const review of answer.reviews as Json[]) verdicts.set(review.by_name, { by_name: review.by_name, verdict: review.verdict });
    if (answer.last_page) return { room, round: answer.round, nextSteps: answer.next_steps, findings, verdicts: [...verdicts.values()] };
  }
}

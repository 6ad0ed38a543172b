import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { INSTRUCTIONS, LISTED } from './registry.js';
import { VERSION } from './version.js';

interface StdioOptions {
  /** Where the server is, e.g. `http://127.0.0.1:7337`. */
  readonly url: string;
  readonly key: string;
}

/** Longer than the longest wait, shorter than clients allow. */
const CALL_MS = 55_000;
/** How long a server that is away (restarting) is waited for; every call is safe to send again (S9). */
const AWAY_MS = 20_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/**
 * The same tools over stdin and stdout, for clients that have no Streamable HTTP: each call is one request to the
 * server, so a restart of it is not noticed. Nothing but JSON-RPC goes to stdout. Settles when stdin ends.
 */
export async function runStdio({ url, key }: StdioOptions): Promise<void> {
  const server = new Server(
    { name: 'barista', title: 'Barista', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const endpoint = new URL('mcp', url.endsWith('/') ? url : `${url}/`);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...LISTED] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => forward(endpoint, key, params, signal));
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

const answerSchema = z.object({
  result: CallToolResultSchema.optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

async function forward(endpoint: URL, key: string, params: object, signal: AbortSignal): Promise<CallToolResult> {
  const giveUpAt = performance.now() + AWAY_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const answer = await send(endpoint, key, params, signal);
    if (answer !== 'away') return answer;
    if (performance.now() + pause > giveUpAt) return unavailable(endpoint);
    await delay(pause, undefined, { signal });
  }
}

async function send(endpoint: URL, key: string, params: object, signal: AbortSignal): Promise<CallToolResult | 'away'> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    });
    text = await response.text();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && error.name === 'TimeoutError') return unavailable(endpoint);
    return 'away';
  }
  if (response.status === 401)
    throw new McpError(ErrorCode.InvalidRequest, 'The server does not know this key. Set BARISTA_KEY to an agent key.');
  if (response.status >= 502) return 'away';
  return read(text, endpoint);
}

function read(text: string, endpoint: URL): CallToolResult {
  let answer: z.output<typeof answerSchema>;
  try {
    answer = answerSchema.parse(JSON.parse(text));
  } catch {
    throw new McpError(ErrorCode.InternalError, `What answers at ${endpoint.origin} is not a Barista server. Check BARISTA_URL.`);
  }
  if (answer.error !== undefined) throw new McpError(answer.error.code, answer.error.message);
  if (answer.result === undefined)
    throw new McpError(ErrorCode.InternalError, `What answers at ${endpoint.origin} is not a Barista server. Check BARISTA_URL.`);
  return answer.result;
}

function unavailable(endpoint: URL): CallToolResult {
  const error = {
    code: 'unavailable',
    message: `The Barista server at ${endpoint.origin} could not be reached. The call may have been stored; the same call again is safe.`,
    hint: 'Check that the server runs (barista doctor) and that BARISTA_URL is right, then repeat the call.',
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

import { CommandFailed } from './failure.js';
import type { Target } from './where.js';

/** What a server answers, as far as the command line looks at it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the answers are described by /openapi.json; what is printed is what came
export type Json = any;

/** The server could not be asked at all, or only said "later"; the same call again is safe (S9). */
export class ServerAway extends CommandFailed {}

/** A refusal of the server's, with its code. */
export class Refused extends CommandFailed {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const CALL_MS = 60_000;

/** How every agent's key starts. */
const AGENT_KEY = 'ba_';

/** One REST call below /api/v1. @throws Refused, ServerAway */
export async function rest(target: Target, method: string, path: string, body?: object): Promise<Json> {
  const response = await send(target, `/api/v1${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const answer = await jsonOf(response, target);
  if (response.ok) return answer;
  const isNoRoom = answer.code === 'not_found' && answer.field === 'room';
  throw refused(answer.code, answer.detail, isNoRoom ? ROOMS : hintOf(answer, target));
}

/** Where the server names the tool that agents have for it. */
const ROOMS = 'barista room list names yours.';

/** A shell that an agent was connected from may still hold its key. */
function hintOf({ code, hint }: Json, { key }: Target): unknown {
  return code === 'role_required' && key.startsWith(AGENT_KEY)
    ? "BARISTA_KEY is an agent's: unset it to act as yourself, or set it to your own key."
    : hint;
}

/** One tool, as an MCP client calls it. @throws Refused, ServerAway */
export async function callTool(target: Target, name: string, args: object): Promise<Json> {
  const response = await send(target, '/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  const answer = await jsonOf(response, target);
  // Where no tool was asked, as while no key can be looked up, the answer is that of any call.
  if (!response.ok && answer.code !== undefined) throw refused(answer.code, answer.detail, answer.hint);
  const result = JSON.parse(answer.result?.content?.[0]?.text ?? 'null');
  if (result === null) throw notBarista(target);
  if (answer.result.isError !== true) return result;
  throw refused(result.error.code, result.error.message, result.error.hint);
}

function refused(code: unknown, message: unknown, hint: unknown): CommandFailed {
  const text = [message, hint].filter(Boolean).join(' ');
  return code === 'unavailable' ? new ServerAway(text) : new Refused(String(code), text);
}

/** Opens a stream of server-sent events below /api/v1, which goes on until `signal` ends it. @throws Refused, ServerAway */
export async function openStream(
  target: Target,
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await send(target, `/api/v1${path}`, { headers, signal });
  if (response.ok && response.body) return response.body;
  const answer = await jsonOf(response, target);
  throw refused(answer.code, answer.detail, hintOf(answer, target));
}

async function send({ url, key }: Target, path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${key}` },
      signal: init.signal ?? AbortSignal.timeout(CALL_MS),
    });
  } catch {
    throw new ServerAway(`No Barista server answers at ${url}. Start it with npm start, or set BARISTA_URL to where it runs.`);
  }
  if (response.status === 401) {
    throw new CommandFailed(`The server at ${url} does not know this key. Check BARISTA_KEY.`);
  }
  if (response.status >= 502 && !response.headers.get('content-type')?.includes('json')) {
    throw new ServerAway(`The server at ${url} is not available just now (${response.status}).`);
  }
  return response;
}

async function jsonOf(response: Response, target: Target): Promise<Json> {
  const text = await response.text().catch(() => {
    throw new ServerAway(`The server at ${target.url} broke off in the middle of its answer. See whether it still runs, and try again.`);
  });
  try {
    const answer = JSON.parse(text) as Json;
    if (answer !== null && typeof answer === 'object') return answer;
  } catch {
    // told below
  }
  throw notBarista(target);
}

const notBarista = ({ url }: Target): CommandFailed =>
  new CommandFailed(`What answers at ${url} is not a Barista server. Check BARISTA_URL.`);

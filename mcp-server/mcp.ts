import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Call } from './deps.js';
import type { Metrics } from './metrics.js';
import { callTool, INSTRUCTIONS, LISTED, toolNamed } from './registry.js';
import { VERSION } from './version.js';

/** A whole review of 200 findings of 10 000 characters, each character escaped, fits. */
const MCP_BODY_LIMIT = 16 * 1024 * 1024;

/**
 * One MCP request, stateless: a server and a transport of its own, so that any server answers any call and a restart
 * is not noticed. Answers are plain JSON: friendliest to proxies, and no call is long enough to need progress.
 */
export async function handleMcp(request: Request, call: Call, metrics: Metrics): Promise<Response> {
  const server = new Server(
    { name: 'barista', title: 'Barista', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...LISTED] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = toolNamed(params.name);
    const done = metrics.startTool(tool.name);
    const result = await callTool(tool, params.arguments, call);
    done(result.isError === true ? 'refused' : 'ok');
    return result;
  });
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: MCP_BODY_LIMIT,
  });
  await server.connect(transport);
  try {
    return await Promise.race([transport.handleRequest(request), whenGone(call.gone)]);
  } finally {
    await server.close();
  }
}

/** Nobody reads this answer; it ends what the SDK would wait for without end (a call cancelled in its own batch). */
function whenGone(gone: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    const end = () => resolve(new Response(null, { status: 503 }));
    if (gone.aborted) end();
    else gone.addEventListener('abort', end, { once: true });
  });
}

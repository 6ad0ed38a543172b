import { Command } from 'commander';
import { targetOf } from '../where.js';

export function mcpCommand(): Command {
  return new Command('mcp')
    .description("Serves the tools over stdin and stdout, for clients without Streamable HTTP. BARISTA_KEY is the agent's key.")
    .option('--json', 'changes nothing: what it speaks is JSON-RPC')
    .action(async () => (await import('../../mcp-server/stdio.js')).runStdio(targetOf(process.env)));
}

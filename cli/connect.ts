import { fileURLToPath } from 'node:url';

/** The program by its full name: where it is not installed, a bare `barista` may be somebody else's. */
const PROGRAM = fileURLToPath(new URL('../stack/bin.mjs', import.meta.url));

/** One line each to connect a client; KEY stands for an agent's key. */
export function connectLines(mcpUrl: string, program = PROGRAM): { client: string; line: string }[] {
  return [
    { client: 'Claude Code', line: `claude mcp add --transport http barista ${mcpUrl} --header "Authorization: Bearer KEY"` },
    { client: 'Codex', line: `export BARISTA_KEY=KEY; codex mcp add barista --url ${mcpUrl} --bearer-token-env-var BARISTA_KEY` },
    { client: 'Gemini CLI', line: `gemini mcp add --transport http --header "Authorization: Bearer KEY" barista ${mcpUrl}` },
    { client: 'stdio only', line: `BARISTA_KEY=KEY node ${program} mcp` },
  ];
}

/** One line each to connect a client; KEY stands for an agent's key. */
export function connectLines(mcpUrl: string): { client: string; line: string }[] {
  return [
    { client: 'Claude Code', line: `claude mcp add --transport http barista ${mcpUrl} --header "Authorization: Bearer KEY"` },
    { client: 'Codex', line: `export BARISTA_KEY=KEY; codex mcp add barista --url ${mcpUrl} --bearer-token-env-var BARISTA_KEY` },
    { client: 'Gemini CLI', line: `gemini mcp add --transport http --header "Authorization: Bearer KEY" barista ${mcpUrl}` },
  ];
}

/** Barista as a client meets it: MCP and REST over HTTP. */
export class BenchClient {
  constructor(
    private readonly url: string,
    private readonly ownerKey: string,
  ) {}

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the contract's JSON
  async tool(key: string, name: string, args: object): Promise<any> {
    const response = await fetch(`${this.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    });
    const { result } = (await response.json()) as { result?: { isError?: boolean; content: { text: string }[] } };
    if (!result || result.isError) throw new Error(`${name}: ${result?.content[0]?.text ?? response.status}`);
    return JSON.parse(result.content[0]!.text);
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  async rest(method: string, path: string, body: object): Promise<any> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.ownerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  }

  /** The key of a new agent. */
  async agent(name: string): Promise<string> {
    return (await this.rest('POST', '/agents', { name })).key;
  }

  /** A room in which these agents have joined, the first as its lead. */
  async room(pullRequest: string, keys: readonly string[], options: object = {}): Promise<string> {
    const { slug } = await this.rest('POST', '/rooms', { pull_request: pullRequest, barista: false, another: true, ...options });
    for (const key of keys) await this.tool(key, 'join_room', { room: slug });
    return slug;
  }
}

import { execFileSync, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { FakeState } from './state.js';

const execPath = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();

/** Git itself behind HTTP, as `OWNER/NAME.git`; the password is an installation token. */
export function serveGit(state: FakeState, request: IncomingMessage, response: ServerResponse, rest: string): void {
  const [kind, encoded] = (request.headers.authorization ?? '').split(' ');
  const password = kind === 'Basic' ? Buffer.from(String(encoded), 'base64').toString('utf8').split(':')[1] : undefined;
  if (!state.tokens.has(password ?? '')) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
    return;
  }
  const url = new URL(rest, 'http://git');
  const child = spawn(join(execPath, 'git-http-backend'), [], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: dirname(state.world.path),
      PATH_INFO: `${state.world.path.slice(dirname(state.world.path).length)}/.git${url.pathname}`,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] } : {}),
      GIT_PROTOCOL: (request.headers['git-protocol'] as string | undefined) ?? '',
      REMOTE_USER: 'x',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      // As GitHub does: parts of a history, and objects by name.
      GIT_CONFIG_COUNT: '3',
      GIT_CONFIG_KEY_0: 'uploadpack.allowFilter',
      GIT_CONFIG_VALUE_0: 'true',
      GIT_CONFIG_KEY_1: 'uploadpack.allowAnySHA1InWant',
      GIT_CONFIG_VALUE_1: 'true',
      GIT_CONFIG_KEY_2: 'safe.directory',
      GIT_CONFIG_VALUE_2: '*',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  let head: Buffer | null = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === null) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const lines = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = lines.find(([name]) => name.toLowerCase() === 'status')?.[1];
    response.writeHead(
      status === undefined ? 200 : Number.parseInt(status, 10),
      Object.fromEntries(lines.filter(([name]) => name.toLowerCase() !== 'status')),
    );
    response.write(head.subarray(end + 4));
    head = null;
  });
  child.on('close', () => response.end());
}

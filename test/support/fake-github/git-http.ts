import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveGit } from '../git-http.js';
import type { FakeState } from './state.js';

/** Git itself behind HTTP, as `OWNER/NAME.git`; the password is an installation token. `rest` follows it in the URL. */
export function serveGitToApps(state: FakeState, request: IncomingMessage, response: ServerResponse, rest: string): void {
  const [kind, encoded] = (request.headers.authorization ?? '').split(' ');
  const password = kind === 'Basic' ? Buffer.from(String(encoded), 'base64').toString('utf8').split(':')[1] : undefined;
  if (state.tokens.has(password ?? '')) serveGit(request, response, `${state.world.path}/.git`, new URL(rest, 'http://git').pathname);
  else response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
}

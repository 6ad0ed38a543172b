import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { isSameSecret } from '../../activities/forge/deliveries.js';

export interface PagesOptions<T> {
  /** Where the browser posts the manifest to, with the state that must come back. */
  postTo(state: string): string;
  manifest(redirectUrl: string): object;
  /** Called once, with the code of the first callback that has the state. */
  take(code: string): Promise<T>;
  /** What the browser is told after it. */
  done(taken: T): { readonly text: string; readonly next: string };
  /** Called with the link to open. */
  opened(link: string): void;
  /** A call that is not the one that is waited for, as a line. */
  warn(line: string): void;
  /** Ends the waiting. Once the code is there it is followed to the end: it works only once. */
  readonly signal: AbortSignal;
}

const HOST = '127.0.0.1';
const CODE = /^[\w-]{1,200}$/;
/** How long the browser may take to read the last page. */
const LAST_PAGE_MS = 5_000;

/**
 * Two pages on this machine, for one browser: a form that sends the manifest to GitHub, and the address that GitHub
 * sends it back to. Returns what became of the code.
 * @throws whatever `take` throws; the signal's reason where it ends first
 */
export async function receiveApp<T>(options: PagesOptions<T>): Promise<T> {
  const { signal } = options;
  const state = randomBytes(32).toString('base64url');
  // Other users of this machine can reach the port too: only whoever has the link gets the state.
  const door = `/${randomBytes(16).toString('base64url')}`;
  const pages = new Hono();
  const server = createAdaptorServer({ fetch: pages.fetch, hostname: HOST }) as Server;
  let taking: Promise<T> | undefined;
  let settle: (taken: Promise<T>) => void = () => undefined;

  pages.use(async (context, next) => {
    // A name that somebody else points at this machine is not this page.
    if (context.req.header('host') !== hostOf(server)) return context.text('Not found', 404);
    await next();
    context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    context.header('referrer-policy', 'no-referrer');
    context.header('cache-control', 'no-store');
    // The server ends with its last answer.
    context.header('connection', 'close');
  });
  pages.get(door, (context) => {
    const manifest = JSON.stringify(options.manifest(`http://${hostOf(server)}/callback`));
    return context.html(
      page(
        html`<p>GitHub shows what the App may do before it makes it.</p>
          <form action="${options.postTo(state)}" method="post">
            <input type="hidden" name="manifest" value="${manifest}" />
            <button>Make the App on GitHub</button>
          </form>`,
      ),
    );
  });
  pages.get('/callback', async (context) => {
    const { state: given = '', code = '' } = context.req.query();
    const refuse = (line: string, status: 400 | 409) => {
      options.warn(line);
      return context.html(page(html`<p>${line}</p>`), status);
    };
    if (!isSameSecret(given, state))
      return refuse('A call with another state was not taken: begin at the link that the command shows.', 400);
    if (!CODE.test(code)) return refuse('GitHub came back without a code: begin again at the link that the command shows.', 400);
    if (taking !== undefined) return refuse('GitHub came back a second time: only the first time counts.', 409);
    if (signal.aborted) return refuse('GitHub came back too late: the command has ended.', 409);
    taking = options.take(code);
    settle(taking);
    try {
      const { text, next } = options.done(await taking);
      return await context.html(
        page(
          html`<p>${text}</p>
            <p><a href="${next}">${next}</a></p>`,
        ),
      );
    } catch (error) {
      return context.html(page(html`<p>${(error as Error).message}</p>`), 502);
    }
  });

  server.listen(0, HOST);
  await once(server, 'listening');
  try {
    const received = new Promise<T>((resolve, reject) => {
      settle = resolve;
      const giveUp = () => {
        if (taking === undefined) reject(signal.reason as Error);
      };
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      options.opened(`http://${hostOf(server)}${door}`);
    });
    return await received;
  } finally {
    await close(server);
  }
}

const hostOf = (server: Server): string => `${HOST}:${(server.address() as AddressInfo).port}`;

async function close(server: Server): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), LAST_PAGE_MS);
  await new Promise((closed) => server.close(closed));
  clearTimeout(late);
}

function page(content: HtmlEscapedString | Promise<HtmlEscapedString>) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Barista</title>
        <style>
          body {
            font: 16px/1.5 system-ui;
            max-width: 40rem;
            margin: 4rem auto;
            padding: 0 1rem;
          }
        </style>
      </head>
      <body>
        <h1>Barista</h1>
        ${content}
      </body>
    </html>`;
}

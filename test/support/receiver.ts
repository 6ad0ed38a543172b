import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KEPT_BY_CLIENTS } from './keep-alive.js';

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver as an operator would write one; `answer` is a status, a redirect, or none at all. */
export class Receiver implements AsyncDisposable {
  readonly got: Delivery[] = [];
  answer: number | 'redirect' | 'never' = 204;
  /** Called where it has got something and does not answer it. */
  onSilence: () => void = () => undefined;
  readonly #server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      this.got.push({ headers: request.headers, body });
      if (this.answer === 'never') return this.onSilence();
      if (this.answer === 'redirect') response.setHeader('location', `${this.url}/elsewhere`);
      response.statusCode = this.answer === 'redirect' ? 307 : this.answer;
      response.end('thanks');
    });
  });

  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.keepAliveTimeout = KEPT_BY_CLIENTS;
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

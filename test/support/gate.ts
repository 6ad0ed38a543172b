import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server that can be closed, as if the server were away: connections break, and new ones are refused. */
export class Gate implements AsyncDisposable {
  #open = true;
  #stalled = false;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly target: () => string,
  ) {}

  /** `target`: the URL of what is behind it now. */
  static async before(target: () => string): Promise<Gate> {
    const server = createServer();
    const gate = new Gate(server, target);
    server.on('connection', (near) => gate.#connect(near));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  /** The target's URL, through the gate. */
  get url(): string {
    const url = new URL(this.target());
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  close(): void {
    this.#open = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** What is sent from now on is held back; nobody is told. */
  stall(): void {
    this.#stalled = true;
    for (const [near] of this.#pairs) near.pause();
  }

  /** As at first; what was held back is sent. */
  open(): void {
    this.#open = true;
    this.#stalled = false;
    for (const [near] of this.#pairs) near.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #connect(near: Socket): void {
    if (!this.#open) return void near.destroy();
    const { hostname, port } = new URL(this.target());
    const far = connect(Number(port), hostname);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => near.write(chunk));
    if (this.#stalled) near.pause();
  }
}

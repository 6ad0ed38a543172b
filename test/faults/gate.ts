import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server on 127.0.0.1 that can be closed: connections break, and new ones are refused. */
export class Gate {
  #open = true;
  #stalled = false;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {}

  /** `target`: the port that is behind it now. */
  static async to(target: () => number): Promise<Gate> {
    const server = createServer();
    const gate = new Gate(server, target);
    server.on('connection', (near) => gate.#connect(near));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
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

  async end(): Promise<void> {
    this.close();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #connect(near: Socket): void {
    if (!this.#open) return void near.destroy();
    const far = connect(this.target(), '127.0.0.1');
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

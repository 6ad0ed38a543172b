/**
 * Reads that may be shared: one at a time under each name, and whoever asks gets one that began after it asked. A crowd
 * that asks at once costs what two cost.
 */
export class NextReads<T> {
  readonly #running = new Map<string, { readonly now: Promise<T>; next: Promise<T> | null }>();

  /** Fails as the read does, for all that share it. */
  async read(name: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(name, work);
    const start = () => this.#start(name, work);
    running.next ??= running.now.then(start, start);
    return running.next;
  }

  async #start(name: string, work: () => Promise<T>): Promise<T> {
    const reading = { now: work(), next: null };
    this.#running.set(name, reading);
    try {
      return await reading.now;
    } finally {
      if (reading.next === null) this.#running.delete(name);
    }
  }
}

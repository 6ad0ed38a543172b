/**
 * Who waits for messages on this server: one wait a participant and room. A second one ends the first, for its client
 * has given up on that one.
 */
export class Waits {
  private readonly running = new Map<string, AbortController>();

  /** Begins a wait and ends the one before it. `signal` is aborted when this one is overtaken. */
  begin(room: string, participant: string): { readonly signal: AbortSignal; readonly end: () => void } {
    const key = `${room} ${participant}`;
    this.running.get(key)?.abort();
    const own = new AbortController();
    this.running.set(key, own);
    return {
      signal: own.signal,
      end: () => {
        if (this.running.get(key) === own) this.running.delete(key);
      },
    };
  }
}

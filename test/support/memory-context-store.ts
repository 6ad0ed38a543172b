import type { ContextKey, ContextStore } from '../../activities/forge/port.js';

/** Keeps immutable reads in memory. */
export class MemoryContextStore implements ContextStore {
  readonly values = new Map<string, string>();

  get(key: ContextKey): Promise<string | null> {
    return Promise.resolve(this.values.get(nameOf(key)) ?? null);
  }

  put(key: ContextKey, value: string): Promise<void> {
    this.values.set(nameOf(key), value);
    return Promise.resolve();
  }
}

function nameOf({ repository, baseSha, headSha, kind }: ContextKey): string {
  return JSON.stringify([repository, baseSha, headSha, kind]);
}

import type { ForgeError } from '../../activities/forge/port.js';

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
  /** What to do about it: beside all that is not in order, and what is only where something is soon to be done. */
  readonly do?: string;
}

/** What a check says when it is in order; it throws, in words for a person, when it is not. */
export async function finding(what: string, check: () => Promise<string>, todo: string): Promise<Finding> {
  try {
    return { what, ok: true, says: await check() };
  } catch (error) {
    return { what, ok: false, says: (error as Error).message.split('\n')[0]!, do: todo };
  }
}

/** What to do about what a forge answered: `access` where it does not take ours; `address` is the setting that says where it is. */
export function whatToDo({ kind, retryAfter, facts }: ForgeError, access: string, address: string): string {
  if (kind === 'refused' || kind === 'invalid') return access;
  if (facts.limit !== undefined || retryAfter !== undefined) return 'Wait: Barista goes on by itself then.';
  return `Check the network from this machine, whether the forge is up, and ${address}.`;
}

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
  /** What to do about it; beside what is in order only where something is soon to be done. */
  readonly do?: string;
}

/** What a check says when it is in order; it throws, in words for a person, when it is not. */
export async function finding(what: string, check: () => Promise<string>, todo?: string): Promise<Finding> {
  try {
    return { what, ok: true, says: await check() };
  } catch (error) {
    return { what, ok: false, says: (error as Error).message.split('\n')[0]!, ...(todo && { do: todo }) };
  }
}

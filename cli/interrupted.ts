/** The first Ctrl-C or SIGTERM ends in good order, by this signal; a second one ends at once. */
export function interrupted(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort(new Interrupted());
    });
  }
  return stopping.signal;
}

/** Whoever started the command ended it: nothing went wrong. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

import type { Call } from '../deps.js';

/** How often a quiet stream says that it lives, so that proxies keep it open. */
const KEEP_ALIVE_MS = 15_000;

interface StreamEvent {
  /** What a client that comes back sends as Last-Event-ID. */
  readonly id: string;
  readonly event: string;
  readonly data: object;
}

/** What a stream tells of. */
export interface EventSource {
  /** What the bus says has changed. */
  readonly topic: string;
  /** Where the stream begins: told at once as an event `ready`, for a client that is cut off before anything comes. */
  readonly from?: string;
  /** What has come since it was last asked, in order; `done` where nothing will; null where there is nothing yet. */
  next(): Promise<readonly StreamEvent[] | 'done' | null>;
}

/**
 * Server-sent events, each with its id: a client that comes back with Last-Event-ID misses none and gets none twice.
 * Ends when the client is gone, the source is done, or the server stops.
 */
export function eventStream(source: EventSource, call: Call): Response {
  const encoder = new TextEncoder();
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, call.gone, call.deps.stopping]);
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      const say = (text: string) => controller.enqueue(encoder.encode(text));
      say(source.from === undefined ? ': open\n\n' : told({ id: source.from, event: 'ready', data: { kind: 'ready' } }));
      try {
        await follow(source, call, signal, say);
      } catch (error) {
        // The client comes back by itself and goes on where it was.
        if (!signal.aborted) call.deps.log.warn({ err: error, topic: source.topic }, 'an event stream broke off');
      }
      if (!closed.signal.aborted) controller.close();
    },
    cancel: () => closed.abort(),
  });
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' },
  });
}

async function follow(source: EventSource, { deps }: Call, signal: AbortSignal, say: (text: string) => void): Promise<void> {
  for (;;) {
    const found = await deps.store.bus.waitFor(source.topic, () => source.next(), { timeoutMs: KEEP_ALIVE_MS, signal });
    signal.throwIfAborted();
    if (found === null) {
      say(': still here\n\n');
    } else if (found === 'done') {
      say(`event: done\ndata: ${JSON.stringify({ kind: 'done' })}\n\n`);
      return;
    } else {
      for (const event of found) say(told(event));
    }
  }
}

function told({ id, event, data }: StreamEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

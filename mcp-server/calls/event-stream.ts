import { isPresent } from '../../workflows/room/members.js';
import type { Call } from '../deps.js';
import { wireMessage } from './messages.js';

/** How often a quiet stream says that it lives, so that proxies keep it open. */
const KEEP_ALIVE_MS = 15_000;

/**
 * A room's messages as server-sent events, each with its message's id: a client that comes back with Last-Event-ID
 * misses none and gets none twice. Ends when the client is gone, the room has ended, or the server stops.
 */
export function eventStream(slug: string, after: number, call: Call): Response {
  const encoder = new TextEncoder();
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, call.gone, call.deps.stopping]);
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      const say = (text: string) => controller.enqueue(encoder.encode(text));
      say(': open\n\n');
      try {
        await follow(slug, after, call, signal, say);
      } catch (error) {
        // The client comes back by itself and goes on where it was.
        if (!signal.aborted) call.deps.log.warn({ err: error, room: slug }, 'an event stream broke off');
      }
      if (!closed.signal.aborted) controller.close();
    },
    cancel: () => closed.abort(),
  });
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' },
  });
}

async function follow(slug: string, after: number, call: Call, signal: AbortSignal, say: (text: string) => void): Promise<void> {
  const { store } = call.deps;
  const whatIsNew = async () => {
    const page = await store.messages.list(slug, after);
    if (page.messages.length > 0) return page;
    const room = await store.rooms.state(slug);
    return room === null || room.ended !== null || !isPresent(room, call.caller.id) ? 'done' : null;
  };
  for (;;) {
    const found = await store.bus.waitFor(slug, whatIsNew, { timeoutMs: KEEP_ALIVE_MS, signal });
    signal.throwIfAborted();
    if (found === null) {
      say(': still here\n\n');
    } else if (found === 'done') {
      say(`event: done\ndata: ${JSON.stringify({ kind: 'done' })}\n\n`);
      return;
    } else {
      for (const message of found.messages)
        say(`id: ${message.id}\nevent: ${message.kind}\ndata: ${JSON.stringify(wireMessage(message))}\n\n`);
      after = found.lastMessageId;
    }
  }
}

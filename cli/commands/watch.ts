import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { createParser } from 'eventsource-parser';
import { openStream, ServerAway, type Json } from '../api.js';
import { CommandFailed } from '../failure.js';
import { interrupted } from '../interrupted.js';
import { targetOf, type Target } from '../where.js';

/** The server says every 15 seconds that it lives; a connection that is silent for longer than this is dead. */
const SILENT_MS = 45_000;
const PAUSE_MS = { first: 200, longest: 5_000 } as const;

export function watchCommand(): Command {
  return new Command('watch')
    .description('Prints what needs you in your rooms as it comes, a line each, until Ctrl-C.')
    .option('--after <id>', 'alert to go on from (the id in a line of --json), 0 for all of them; what comes from now on where left out')
    .option('--json', 'print a line of JSON each')
    .action(watch);
}

interface Options {
  readonly after?: string;
  readonly json?: boolean;
}

async function watch({ after, json }: Options): Promise<void> {
  const target = targetOf(process.env);
  const signal = interrupted();
  let from = after;
  let isConnected = false;
  for (let pause: number = PAUSE_MS.first; !signal.aborted; pause = Math.min(pause * 2, PAUSE_MS.longest)) {
    try {
      await follow(target, from, signal, (event) => {
        isConnected = true;
        pause = PAUSE_MS.first;
        from = event.id ?? from;
        if (event.alert) process.stdout.write(`${json ? JSON.stringify(event.alert) : lineOf(event.alert)}\n`);
      });
    } catch (error) {
      if (signal.aborted) return;
      // A server that restarts is waited for, however long it takes; one that was never there is not.
      if (!(error instanceof ServerAway) || !isConnected) throw error;
    }
    await delay(pause, undefined, { signal }).catch(() => {}); // interrupted: the condition says so
  }
}

interface Heard {
  readonly id: string | undefined;
  /** Null where it is only said where the stream begins. */
  readonly alert: Json | null;
}

/** Reads one connection to its end. @throws Refused; ServerAway where it broke off */
async function follow(target: Target, from: string | undefined, signal: AbortSignal, hear: (heard: Heard) => void): Promise<void> {
  const headers = { accept: 'text/event-stream', ...(from === undefined ? {} : { 'last-event-id': from }) };
  const parser = createParser({
    onEvent: ({ id, event, data }) => hear({ id, alert: event === 'alert' ? JSON.parse(data) : null }),
  });
  const dead = new AbortController();
  const silence = setTimeout(() => dead.abort(), SILENT_MS);
  try {
    const body = await openStream(target, '/alerts', headers, AbortSignal.any([signal, dead.signal]));
    const text = body.pipeThrough(new TextDecoderStream());
    for await (const chunk of text) {
      silence.refresh();
      parser.feed(chunk);
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new ServerAway(`The server at ${target.url} broke off.`);
  } finally {
    clearTimeout(silence);
  }
}

/** For people: when, in which room, what, and where to look. */
function lineOf({ at, room, text, url }: Json): string {
  return `${at.slice(0, 16).replace('T', ' ')}  ${room}  ${text}  ${url}`;
}

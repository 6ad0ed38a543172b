import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { callTool, ServerAway, type Json } from '../api.js';
import { targetOf } from '../where.js';

const WAIT_SECONDS = 25;
/** Longer than any room gets: what is asked for after it is only whether the agent is done. */
const NO_MESSAGE_YET = '999999999';
const PAUSE_MS = { first: 200, longest: 2_000 } as const;
/** How long a listener whose wait was ended by another one of its agent only looks. */
const LOOKS_MS = WAIT_SECONDS * 1_000;

export function listenCommand(): Command {
  return new Command('listen')
    .description('Waits until something in a room concerns the agent whose key is BARISTA_KEY, prints it as one line of JSON, and ends.')
    .requiredOption('--room <slug>', 'the room')
    .option('--after <id>', 'message to go on from (last_message_id of the last line); what comes from now on where left out')
    .option('--follow', 'go on, a line each time, until there is nothing left for the agent (kind "done")')
    .option('--json', 'changes nothing: it prints JSON')
    .action(listen);
}

interface Options {
  room: string;
  after?: string;
  follow?: boolean;
}

async function listen({ room, after, follow }: Options): Promise<void> {
  const target = targetOf(process.env);
  // Refused to whoever is not in the room; so joining, which tells who the agent is, joins nobody.
  let next: Json = await callTool(target, 'wait_for_messages', { room, after: after ?? NO_MESSAGE_YET, timeout_seconds: 0 });
  const { participant, last_message_id: latest } = await callTool(target, 'join_room', { room });
  const wait = waiter((from, seconds) => callTool(target, 'wait_for_messages', { room, after: from, timeout_seconds: seconds }));
  let from: string = after ?? latest;
  for (;;) {
    for (const message of next.messages as Json[]) {
      from = message.id;
      const kind = kindFor(participant.id, message);
      if (kind === null) continue;
      print({ ...message, kind, room, last_message_id: from });
      if (!follow) return;
    }
    if (next.kind === 'done') return print({ kind: 'done', room, last_message_id: next.last_message_id, reason: next.reason });
    next = await wait(from);
  }
}

/**
 * Waits for messages as often as it is called. The server lets one wait an agent go on, so two listeners that only
 * waited would end each other's waits without pause: one whose wait ended early looks now and then for a while.
 */
function waiter(call: (from: string, seconds: number) => Promise<Json>): (from: string) => Promise<Json> {
  let looksUntil = 0;
  return async (from) => {
    const begun = performance.now();
    if (begun < looksUntil) {
      await delay(PAUSE_MS.longest);
      return persistently(() => call(from, 0));
    }
    const answer = await persistently(() => call(from, WAIT_SECONDS));
    const ended = performance.now();
    const isEarly = answer.kind === 'timeout' && ended - begun < (WAIT_SECONDS - 1) * 1_000;
    if (isEarly) looksUntil = ended + LOOKS_MS;
    return answer;
  };
}

/** What somebody else said that concerns this participant: it is mentioned, or the head has moved (P1). */
function kindFor(self: string, message: Json): 'message' | 'event' | null {
  if (message.from === self) return null;
  if (!message.mentions.includes(self) && message.event !== 'head_moved') return null;
  return message.kind === 'message' ? 'message' : 'event';
}

/** A server that restarts is waited for, however long it takes: the wait marks nothing as read. */
async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (let pause: number = PAUSE_MS.first; ; pause = Math.min(pause * 2, PAUSE_MS.longest)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
      await delay(pause);
    }
  }
}

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

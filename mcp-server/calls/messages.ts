import type { Message, MessagePage } from '../../prisma/store.js';
import { isPresent } from '../../workflows/room/members.js';
import { openRound } from '../../workflows/room/rounds.js';
import { mayReadReviews } from '../../workflows/room/visibility.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { ParticipantId, RoomState } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';
import { iso } from '../views/time.js';
import { doneReason } from './done.js';
import type { EventSource } from './event-stream.js';
import { roomOfMember } from './access.js';

/** Posts a message; any member may, at any time (R9). */
export async function post({ room: slug, text, request_id }: { room: string; text: string; request_id?: string | undefined }, call: Call) {
  const room = await roomOfMember(call, slug);
  const { id, name } = call.caller;
  const posted = await call.deps.store.messages.post(slug, {
    from: { id, name },
    text,
    mentions: mentioned(room, text),
    ...(request_id === undefined ? {} : { requestId: request_id }),
  });
  return { id: String(posted.id) };
}

/** Participants that a text mentions as `@name`, whoever of that name is in the room. */
function mentioned(room: RoomState, text: string): ParticipantId[] {
  const names = new Set([...text.matchAll(/(?<![\w@.-])@([a-z0-9-]{1,39})/g)].flatMap(([, name]) => [name!, name!.replace(/-+$/, '')]));
  return room.participants.filter((participant) => participant.present && names.has(participant.name)).map((participant) => participant.id);
}

/** The messages after one, as many as one answer holds. */
export async function list({ room: slug, after }: { room: string; after?: string | undefined }, call: Call) {
  await roomOfMember(call, slug);
  return wirePage(await listed(slug, await messageBefore(slug, after, call), call));
}

/** Where to go on from. An id past the newest message is of another room, or made up: waiting for it to come would wake nobody. */
async function messageBefore(slug: string, after: string | undefined, { deps: { store } }: Call, field = 'after'): Promise<number> {
  const id = messageId(after, field);
  return id === 0 ? 0 : Math.min(id, (await store.messages.lastId(slug)) ?? 0);
}

/** V2: a reviewer who came after a note was posted is not told by it what its own review must not know yet. */
async function listed(slug: string, after: number, { deps: { store }, caller }: Call): Promise<MessagePage> {
  const page = await store.messages.list(slug, after);
  const room = page.messages.some((message) => message.veil !== null) ? await store.rooms.state(slug) : null;
  if (room === null || mayReadReviews(room, caller.id)) return page;
  const hidden = openRound(room)?.number;
  return {
    ...page,
    messages: page.messages.map((message) => (message.veil?.round === hidden ? { ...message, text: message.veil!.text } : message)),
  };
}

interface WaitInput {
  readonly room: string;
  readonly after?: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Waits for messages after the one named. Nothing is marked as read, so a wait whose client is gone loses nothing.
 * Ends early, with an empty answer, when the same participant waits again, the client is gone or the server stops.
 * With no time to wait it is a look, and ends no other wait.
 */
export async function wait({ room: slug, after, timeoutMs }: WaitInput, call: Call) {
  await roomOfMember(call, slug);
  const from = await messageBefore(slug, after, call);
  const look = somethingFor(slug, from, call);
  if (timeoutMs === 0) return (await look()) ?? empty(from);
  const turn = call.deps.waits.begin(slug, call.caller.id);
  const done = call.metrics.startWait();
  const signal = AbortSignal.any([turn.signal, call.gone, call.deps.stopping]);
  try {
    const found = await call.deps.store.bus.waitFor(slug, look, { timeoutMs, signal });
    return found ?? empty(from);
  } catch (error) {
    if (signal.aborted) return empty(from);
    throw error;
  } finally {
    turn.end();
    done();
  }
}

function empty(from: number) {
  return { kind: 'timeout', messages: [], last_message_id: String(from) };
}

/** Messages, or the reason why none will come for this caller; null for neither. */
function somethingFor(slug: string, from: number, call: Call) {
  const { store } = call.deps;
  let seen: RoomState | null = null;
  return async () => {
    const page = await listed(slug, from, call);
    if (page.messages.length > 0) return { kind: 'messages', ...wirePage(page) };
    // The state is large; it is read again only when an event has changed it.
    if (seen === null || (await store.rooms.seq(slug)) !== seen.seq) seen = await store.rooms.state(slug);
    const reason =
      seen === null
        ? null
        : isPresent(seen, call.caller.id)
          ? doneReason(seen, call.caller.id, call.deps.now())
          : 'You are no longer in this room.';
    if (reason === null) return null;
    // What it ends with may have come since the messages were read, and nobody asks again after it.
    const late = await listed(slug, from, call);
    if (late.messages.length > 0) return { kind: 'messages', ...wirePage(late) };
    return { kind: 'done', messages: [], last_message_id: String(from), reason };
  };
}

/** The room's messages after this one as they come, until the room has ended or the caller is no longer in it. */
export async function messagesAfter(slug: string, after: string | undefined, field: string, call: Call): Promise<EventSource> {
  await roomOfMember(call, slug);
  let from = await messageBefore(slug, after, call, field);
  const more = async () => {
    const page = await listed(slug, from, call);
    from = page.lastMessageId;
    if (page.messages.length === 0) return null;
    return page.messages.map((message) => ({ id: String(message.id), event: message.kind, data: wireMessage(message) }));
  };
  return {
    topic: slug,
    async next() {
      const found = await more();
      if (found !== null) return found;
      const room = await call.deps.store.rooms.state(slug);
      const isOver = room === null || room.ended !== null || !isPresent(room, call.caller.id);
      // What it ends with may have come since the messages were read.
      return isOver ? ((await more()) ?? 'done') : null;
    },
  };
}

function wirePage(page: MessagePage) {
  return {
    messages: page.messages.map(wireMessage),
    last_message_id: String(page.lastMessageId),
    ...(page.more ? { more: true } : {}),
  };
}

function wireMessage(message: Message) {
  const { id, at, from, fromName, kind, text, mentions, event } = message;
  return {
    id: String(id),
    at: iso(at),
    from,
    from_name: fromName,
    kind,
    text,
    mentions,
    ...(event === null ? {} : { event }),
  };
}

/** @throws Refusal `invalid` for what is no id of a message */
function messageId(after: string | undefined, field: string): number {
  if (after === undefined) return 0;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  throw new Refusal(
    'invalid',
    `${field}: must be the id of a message.`,
    'Pass last_message_id of the last answer, or leave it out.',
    field,
  );
}

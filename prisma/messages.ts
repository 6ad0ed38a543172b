import type { ParticipantId } from '../workflows/room/state.js';
import { Refusal } from '../workflows/room/refusal.js';
import type { Veil } from '../workflows/room/notes.js';
import type { MessageEvent } from '../workflows/room/words.js';
import { notify } from './bus.js';
import { dateOf, lockRoom, storable, type Db, type Tx } from './db.js';

export interface Message {
  /** The room's own numbers, from 1: commit order is id order. */
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Null: the system. */
  readonly from: ParticipantId | null;
  readonly fromName: string;
  readonly kind: 'message' | 'note';
  readonly text: string;
  readonly mentions: readonly ParticipantId[];
  readonly event: MessageEvent | null;
  /** What a reader is shown instead from whom the reviews of that round are hidden (V2). */
  readonly veil: Veil | null;
}

export interface MessageToPost {
  readonly from: { readonly id: ParticipantId; readonly name: string };
  readonly text: string;
  readonly mentions: readonly ParticipantId[];
  readonly requestId?: string;
}

export interface MessagePage {
  readonly messages: readonly Message[];
  /** There are more after the last one given. */
  readonly more: boolean;
  /** Where to go on from: the last one given, or `after` where there is none. */
  readonly lastMessageId: number;
}

/** S9: how long the same words by the same participant are the same message, in milliseconds. */
const SAME_MESSAGE = 2 * 60_000;
/** What one answer holds at most. */
export const PAGE = { messages: 50, characters: 40_000 } as const;

export interface Messages {
  /**
   * Any member may post at any time (R9); whether the caller is one is judged before. A repeat (S9) gets the first id.
   * @throws Refusal `not_found`, or `room_closed` where the room has ended (R12)
   */
  post(slug: string, message: MessageToPost): Promise<{ id: number; repeated: boolean }>;
  /** The messages after this id (0: from the first), as many as one answer holds, and at least one where there is one. */
  list(slug: string, after: number): Promise<MessagePage>;
  /** Id of the newest message, 0 before the first; null: there is no such room. */
  lastId(slug: string): Promise<number | null>;
}

export function createMessages(db: Db, now: () => number): Messages {
  return {
    post: (slug, message) =>
      db.$transaction(async (tx) => {
        const room = await lockRoom(tx, slug);
        if (!room) throw new Refusal('not_found', `There is no room ${slug}.`);
        const posted = { ...message, text: storable(message.text) };
        const at = now();
        const first = await firstOf(tx, slug, posted, at);
        if (first !== null) return { id: first, repeated: true };
        if (room.endedAt) throw new Refusal('room_closed', 'The room has ended; nothing can be posted in it.');
        const id = room.lastMessageId + 1;
        const { from, text, mentions, requestId = null } = posted;
        await tx.message.create({
          data: {
            slug,
            id,
            at: dateOf(at),
            fromId: from.id,
            fromName: from.name,
            kind: 'message',
            text,
            mentions: [...mentions],
            requestId,
          },
        });
        await tx.room.update({ where: { slug }, data: { lastMessageId: id }, select: { slug: true } });
        await notify(tx, slug);
        return { id, repeated: false };
      }),

    async list(slug, after) {
      const rows = await db.message.findMany({ where: { slug, id: { gt: after } }, orderBy: { id: 'asc' }, take: PAGE.messages + 1 });
      let characters = 0;
      const fits = rows.findIndex((row, index) => {
        characters += row.text.length;
        return index > 0 && (index === PAGE.messages || characters > PAGE.characters);
      });
      const given = fits < 0 ? rows : rows.slice(0, fits);
      return { messages: given.map(messageOf), more: given.length < rows.length, lastMessageId: given.at(-1)?.id ?? after };
    },

    async lastId(slug) {
      return (await db.room.findUnique({ where: { slug }, select: { lastMessageId: true } }))?.lastMessageId ?? null;
    },
  };
}

/** S9: the id that this message got the first time; a request id alone decides where there is one. */
async function firstOf(tx: Tx, slug: string, { from, text, requestId }: MessageToPost, at: number): Promise<number | null> {
  if (requestId !== undefined) {
    const first = await tx.message.findFirst({ where: { slug, fromId: from.id, requestId }, select: { id: true } });
    return first?.id ?? null;
  }
  const last = await tx.message.findFirst({
    where: { slug, fromId: from.id },
    orderBy: { id: 'desc' },
    select: { id: true, text: true, at: true },
  });
  return last && last.text === text && at - last.at.getTime() <= SAME_MESSAGE ? last.id : null;
}

function messageOf(row: {
  id: number;
  at: Date;
  fromId: string | null;
  fromName: string;
  kind: Message['kind'];
  text: string;
  mentions: string[];
  event: string | null;
  veilRound: number | null;
  veilText: string | null;
}): Message {
  const { id, at, fromId, fromName, kind, text, mentions, event, veilRound, veilText } = row;
  const veil = veilRound === null || veilText === null ? null : { round: veilRound, text: veilText };
  return { id, at: at.getTime(), from: fromId, fromName, kind, text, mentions, event: event as MessageEvent | null, veil };
}

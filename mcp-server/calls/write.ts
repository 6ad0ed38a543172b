import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { CommandResult, RoomState, TextId } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';

/**
 * Sends a command and answers its result; the database has what it did by then. A room that has ended has no workflow
 * any more: its last state answers a repeat or refuses (R12, S9).
 * @throws Refusal
 */
export async function send({ deps }: Call, room: RoomState, command: Command): Promise<CommandResult> {
  if (room.ended === null || command.type === 'deleteAgent') return deps.door.send(room.slug, command);
  const decision = decide(room, command, deps.now());
  if (decision.kind === 'refused') throw Refusal.from(decision.refusal);
  return decision.result;
}

/** Who asks, and the request id under the name of the command: one id may be used for two different calls. */
export function asked<T extends Command['type']>(call: Call, type: T, requestId: string | undefined) {
  return { type, by: call.caller.id, ...(requestId === undefined ? {} : { requestId: `${type}:${requestId}` }) };
}

/** Stores one text before the command that names it; null for none. */
export async function stageOne(call: Call, room: RoomState, text: string | undefined): Promise<TextId | null> {
  if (text === undefined) return null;
  const [id] = await call.deps.store.texts.stage(room.slug, call.caller.id, [text]);
  return id!;
}

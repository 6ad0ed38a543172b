import { ForgeError } from '../../activities/forge/port.js';
import type { RoundCommand } from '../../workflows/room/commands.js';
import type { FreshHead } from '../../workflows/room/events.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { CommandResult, ParticipantId, RoomState } from '../../workflows/room/state.js';
import type { Call } from '../deps.js';
import { named } from '../views/snapshot.js';
import { roomOfMember } from './access.js';
import { keepContext } from './context.js';
import { roundsOf } from './round-view.js';
import { asked, send } from './write.js';

interface Input {
  readonly room: string;
  readonly request_id?: string | undefined;
}

/** O1: opens the next round at the head as it is now. */
export async function openRound({ room: slug, request_id }: Input, call: Call) {
  const result = await withHead(call, slug, (head) => ({ ...asked(call, 'openRound', request_id), head }));
  const [round] = await roundsOf(call, slug, [numberIn(result, 'round')]);
  return { round };
}

/** N1: closes the open round and opens the next, in one step. */
export async function nextRound({ room: slug, force = false, request_id }: Input & { force?: boolean | undefined }, call: Call) {
  const result = await withHead(call, slug, (head) => ({ ...asked(call, 'nextRound', request_id), head, force }));
  const [closed, round] = await roundsOf(call, slug, [numberIn(result, 'closed'), numberIn(result, 'round')]);
  return { closed, round };
}

/** N2: closes the open round, with or without a head. */
export async function closeRound({ room: slug, request_id }: Input, call: Call) {
  const result = await withHead(call, slug, (head) => ({ ...asked(call, 'closeRound', request_id), head }));
  const room = await roomOfMember(call, slug);
  const [round] = await roundsOf(call, slug, [numberIn(result, 'round')]);
  return { round, missing: (result.missing as readonly ParticipantId[]).map((id) => named(room, id)) };
}

/** How often a head is read again because the room had learnt of another meanwhile. */
const READS = 3;

/** DESIGN 14: reads the head at the edge, sends it with what it knew, and reads again where the room has moved on. */
async function withHead(call: Call, slug: string, command: (head: FreshHead | null) => RoundCommand): Promise<CommandResult> {
  for (let reads = 1; ; reads++) {
    const room = await roomOfMember(call, slug);
    const head = await headOf(call, room);
    if (head !== null) keepContext(call, room, head);
    try {
      return await send(call, room, command(head));
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'conflict' && reads < READS)) throw error;
    }
  }
}

/** The head, or null when the forge cannot be read: the room decides all the same, for a repeat needs none (S9). */
async function headOf(call: Call, room: RoomState): Promise<FreshHead | null> {
  try {
    return await call.deps.heads.forCommand(room);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    call.deps.log.warn({ room: room.slug, kind: error.kind }, 'the head could not be read');
    return null;
  }
}

function numberIn(result: CommandResult, name: string): number {
  return result[name] as number;
}

import type { AuthorAnswer, Resolution } from '../../workflows/room/words.js';
import type { Call } from '../deps.js';
import { roomOfMember } from './access.js';
import { findingFor } from './round-view.js';
import { asked, send, stageOne } from './write.js';

interface Input {
  readonly room: string;
  readonly finding_id: string;
  readonly request_id?: string | undefined;
}

/** A1: the author's answer. */
export async function rebutFinding(input: Input & { answer: AuthorAnswer; reason?: string | undefined }, call: Call) {
  const room = await roomOfMember(call, input.room);
  const reason = await stageOne(call, room, input.reason);
  await send(call, room, { ...asked(call, 'answerFinding', input.request_id), finding: input.finding_id, answer: input.answer, reason });
  return { finding: await findingFor(call, input.room, input.finding_id) };
}

/** A2: what the raiser says of it. */
export async function resolveFinding(input: Input & { resolution: Resolution; note?: string | undefined }, call: Call) {
  const room = await roomOfMember(call, input.room);
  const note = await stageOne(call, room, input.note);
  await send(call, room, {
    ...asked(call, 'resolveFinding', input.request_id),
    finding: input.finding_id,
    resolution: input.resolution,
    note,
  });
  return { finding: await findingFor(call, input.room, input.finding_id) };
}

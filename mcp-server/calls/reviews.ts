import type { z } from 'zod';
import type { Call } from '../deps.js';
import type { findings, references } from '../schema/fields.js';
import type { Place } from '../../activities/context/places.js';
import type { NewFinding } from '../../workflows/room/commands.js';
import { linesOf, type Lines } from '../../workflows/room/lines.js';
import type { Verdict } from '../../workflows/room/words.js';
import { roomOfMember } from './access.js';
import { underReview } from './context.js';
import { nextStepsFor } from './round-view.js';
import { asked, send, stageOne } from './write.js';

interface SubmitInput {
  readonly room: string;
  readonly verdict: Verdict;
  readonly summary: string;
  readonly findings: z.output<typeof findings>;
  readonly references?: z.output<typeof references>;
  readonly request_id?: string | undefined;
}

type Submitted = {
  readonly review: string;
  readonly verdict: Verdict;
  readonly findings: readonly string[];
  readonly replaced: boolean;
  readonly warnings: readonly string[];
  readonly possibleDuplicates: readonly { readonly index: number; readonly finding: string }[];
};

/** S1: the whole review in one command; its texts are stored before and named by it. */
export async function submitReview(input: SubmitInput, call: Call) {
  const room = await roomOfMember(call, input.room);
  const references = input.references ?? [];
  const notes = references.flatMap(({ note }) => (note === undefined ? [] : [note]));
  const ranged = new Set(input.findings.flatMap(({ path, start_line: start }) => (start === undefined ? [] : [path])));
  const [staged, known] = await Promise.all([
    call.deps.store.texts.stage(room.slug, call.caller.id, [input.summary, ...input.findings.map(({ body }) => body), ...notes]),
    underReview(call, room, ranged),
  ]);
  const bodies = staged.slice(1, 1 + input.findings.length);
  const noteIds = staged.slice(1 + input.findings.length).values();
  const result = (await send(call, room, {
    ...asked(call, 'submitReview', input.request_id),
    verdict: input.verdict,
    summary: staged[0]!,
    findings: input.findings.map(({ path, line, start_line, side = 'new', severity }, index) => {
      const lines = linesOf(line, start_line);
      const outsideDiff = known !== null && !known.paths.has(path);
      return {
        path,
        ...lines,
        side,
        severity,
        body: bodies[index]!,
        outsideDiff,
        ...(known !== null && !outsideDiff && leavesHunk(lines, known.place({ ...lines, path, line, side }))),
      };
    }),
    references: references.map(({ finding_id, stance, note }) => ({
      finding: finding_id,
      stance,
      note: note === undefined ? null : noteIds.next().value!,
    })),
  })) as Submitted;
  return {
    review: { id: result.review, verdict: result.verdict, finding_ids: result.findings },
    replaced: result.replaced,
    warnings: result.warnings,
    possible_duplicates: result.possibleDuplicates.map(({ index, finding }) => ({ index, finding_id: finding })),
    next_steps: await nextStepsFor(call, input.room),
  };
}

/** D9: what becomes of a range that has no place as one. */
function leavesHunk({ startLine }: Lines, place: Place): Pick<NewFinding, 'leavesHunk'> {
  if (startLine === undefined || (place.at === 'lines' && place.startLine !== undefined)) return {};
  return { leavesHunk: place.at === 'lines' ? 'at_line' : 'in_body' };
}

/** S7. */
export async function declineReview(
  input: { room: string; reason: string; until?: string | undefined; request_id?: string | undefined },
  call: Call,
) {
  const room = await roomOfMember(call, input.room);
  const reason = await stageOne(call, room, input.reason);
  const until = input.until === undefined ? null : Date.parse(input.until);
  await send(call, room, { ...asked(call, 'declineReview', input.request_id), reason: reason!, until });
  return { declined: true, next_steps: await nextStepsFor(call, input.room) };
}

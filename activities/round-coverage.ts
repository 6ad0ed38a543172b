import type { Store } from '../prisma/store.js';
import { nameOf, participantOf } from '../workflows/room/members.js';
import type { ParticipantId, RoomState, Round } from '../workflows/room/state.js';
import { type Coverage, coverage, type CoverageFile, coverageLine, type ShownByRound, type ShownFacts } from './context/coverage.js';
import { keepDiff } from './context/kept-diff.js';
import { type Forge, ForgeError } from './forge/port.js';
import { refOf } from './head.js';

/** What a reviewer was shown of the pull request in one round (G1). */
interface ReviewerCoverage extends Coverage {
  readonly participant: ParticipantId;
  /** The one line that says it: `@grok read 57 of 60 files through Barista; not: …`. */
  readonly line: string;
}

/** G1: one row for each reviewer of the round; none where the pull request's files cannot be listed now. */
export async function coverageOfRound(
  deps: { readonly store: Store; readonly forge: Forge },
  room: RoomState,
  round: Round,
): Promise<ReviewerCoverage[]> {
  const files = await filesOf(deps, room, round);
  if (files === null) return [];
  const numbers = [...room.earlier.map(({ number }) => number).filter((number) => number < round.number), round.number];
  const shown = await Promise.all(
    numbers.map(async (number) => ({ number, rows: await deps.store.shown.of<ShownFacts>(room.slug, number) })),
  );
  return reviewersOf(room, round).map((participant) => {
    const records: ShownByRound = new Map(
      shown.map(({ number, rows }) => [
        number,
        new Map(rows.filter((row) => row.participant === participant).map((row) => [row.path, row.facts])),
      ]),
    );
    const covered = coverage(files, records, round.number);
    const name = participantOf(room, participant)?.name ?? nameOf(room, participant);
    return { ...covered, participant, line: coverageLine(name, covered) };
  });
}

async function filesOf(
  { store, forge }: { readonly store: Store; readonly forge: Forge },
  room: RoomState,
  round: Round,
): Promise<CoverageFile[] | null> {
  try {
    const diff = await keepDiff({ forge, store: store.reads }, refOf(room.pullRequest), round);
    return diff.files.map(({ path, status }) => ({ path, removed: status === 'removed' }));
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

/** Who reviews it now, and who has reviewed it, whatever became of the role since. */
function reviewersOf(room: RoomState, round: Round): string[] {
  const now =
    round.closed === null
      ? room.participants.filter((participant) => participant.roles.includes('reviewer')).map(({ id }) => id)
      : round.closed.missing;
  return [...new Set([...round.reviews.map(({ by }) => by), ...now])];
}

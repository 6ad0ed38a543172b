import type { Calls } from '../../workflows/barista/idle.js';
import { nameOf, participantOf } from '../../workflows/room/members.js';
import { recordedRounds, type RoundRecord } from '../../workflows/room/record.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { ParticipantId, RoomState, Round, TextId } from '../../workflows/room/state.js';
import { seenBy } from '../../workflows/room/visibility.js';

/** One moment of a room, as the store reads it: everything in it belongs to one event number. */
export interface Snapshot {
  readonly state: RoomState;
  /** Every round before the latest, by number: references (K2) and `finding_ids` (D2) may come from any of them. */
  readonly records: ReadonlyMap<number, RoundRecord>;
  readonly texts: ReadonlyMap<TextId, string>;
}

/** What a reviewer was shown of the pull request in one round (G1). */
interface Coverage {
  readonly participant: ParticipantId;
  readonly shown: number;
  readonly partial: number;
  readonly notShown: number;
  /** Files not wholly shown, and wholly shown ones where the caller lists them. */
  readonly files: readonly { readonly path: string; readonly state: 'shown' | 'partial' | 'not_shown' }[];
  /** The one line that says it: `@grok read 57 of 60 files through Barista; not: …`. */
  readonly line: string;
}

/** What the answer says of the world outside the room; `null` is not known, and never good. */
export interface Around {
  /** The pull request's head as last read, and when (epoch milliseconds). */
  readonly head: { readonly sha: string; readonly readAt: number } | null;
  /** CI of the round's commit (V5). */
  readonly ci: { readonly state: string; readonly summary: string; readonly url: string | null } | null;
  /** Review calls of the open round, which the chip `no review` counts idle time from (B8). */
  readonly calls: Calls;
  /** One row for each reviewer of the round. */
  readonly coverage: readonly Coverage[];
}

/** A round as one reader may see it: the only thing views of a round are made from, so that nothing hidden is in reach. */
export interface Seen {
  /** The room with that round as its latest, without what is hidden from the reader. */
  readonly room: RoomState;
  readonly round: Round | null;
  /** Rounds that closed before it, oldest first. */
  readonly before: readonly Round[];
  readonly text: (id: TextId) => string;
  /** What the reader may know of hidden things: that they are there. */
  readonly hidden: {
    readonly reviews: number;
    /** Who has submitted, hidden or not (V1). */
    readonly submitted: readonly ParticipantId[];
    /** Answers of a finding whose content is hidden from the reader (A6). */
    readonly answers: (finding: string) => { readonly answered: boolean; readonly resolved: boolean };
  };
}

/**
 * The round `number` (the latest where absent) as `reader` may see it (V2).
 * @throws Refusal `not_found` for a round that is not there
 */
export function seen(snapshot: Snapshot, reader: ParticipantId, number?: number): Seen {
  const whole = roomAt(snapshot, number);
  const room = seenBy(whole, reader);
  const reviews = whole.round?.reviews ?? [];
  return {
    room,
    round: room.round,
    before: recordedRounds(snapshot.records).filter((round) => round.number < (whole.round?.number ?? 0)),
    text: textIn(snapshot),
    hidden: {
      reviews: reviews.length - (room.round?.reviews.length ?? 0),
      submitted: reviews.map((review) => review.by),
      answers: (id) => {
        const shown = room.findings.find((finding) => finding.id === id)?.answers ?? [];
        const hidden = whole.findings.find((finding) => finding.id === id)?.answers.filter((answer) => !shown.includes(answer)) ?? [];
        return { answered: hidden.some((answer) => answer.as === 'author'), resolved: hidden.some((answer) => answer.as !== 'author') };
      },
    },
  };
}

/** The room as it was when an earlier round was its latest; who is in it and what they may do is as it is now. */
function roomAt({ state, records }: Snapshot, number: number | undefined): RoomState {
  if (number === undefined || number === state.round?.number) return state;
  const record = records.get(number);
  if (record) return { ...state, ...record };
  const known = state.round ? `The latest round is ${state.round.number}.` : 'No round has been opened yet.';
  throw new Refusal('not_found', `There is no round ${number}. ${known}`, 'Leave round out for the latest one.', 'round');
}

function textIn({ texts }: Snapshot): (id: TextId) => string {
  return (id) => {
    const text = texts.get(id);
    if (text === undefined) throw new Error(`text ${id} is named by the room and was not read with it`);
    return text;
  };
}

export interface Named {
  readonly id: ParticipantId;
  readonly name: string;
}

/** The plain name, as `{ id, name }` spells it. */
export function plainName(room: RoomState, id: string): string {
  return participantOf(room, id)?.name ?? nameOf(room, id);
}

export function named(room: RoomState, id: ParticipantId): Named {
  return { id, name: plainName(room, id) };
}

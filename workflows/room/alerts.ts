import type { RoomEvent } from './events.js';
import type { Finding, RoomState } from './state.js';
import type { AlertKind, ForgeTrouble } from './words.js';
import { inWords } from './durations.js';
import { disputedSince, isDisputed } from './findings.js';
import { placeOf } from './lines.js';
import { nameOf } from './members.js';
import { awaited, isPosted } from './rounds.js';
import { seenBy } from './visibility.js';

/** What the owner is told of where it asked to be (B29). */
export interface Alert {
  readonly kind: AlertKind;
  /** What it is about: an alert of this room with the same kind and subject is the same alert. */
  readonly subject: string;
  readonly room: string;
  /** Number of the round it is about; null before round 1. */
  readonly round: number | null;
  readonly text: string;
  /** Where the owner looks: a path below the server's address. */
  readonly link: string;
}

/**
 * B29: what the owner is told when an event takes the room from `before` (null for the first) to `after`. Worked out
 * from the room as the owner may see it (V2): what is hidden from an owner who reviews is told once it shows.
 */
export function alertsOf(before: RoomState | null, event: RoomEvent, after: RoomState): Alert[] {
  if (before === null) return [];
  const alert = alertOf(before, event, after);
  return [...(alert ? [alert] : []), ...newDisputes(before, after)];
}

/** {@link alertsOf} by the event alone, where one tells of it. */
function alertOf(before: RoomState, event: RoomEvent, after: RoomState): Alert | null {
  const round = before.round?.number ?? null;
  switch (event.type) {
    case 'DraftSaved':
      if (event.by === 'barista') {
        const text = `No agent drafted round ${event.round}, so Barista assembled the draft from the reviews: check it before you post it.`;
        return alertIn(after, { kind: 'assembled', subject: `${event.version}`, round: event.round, text });
      }
      // An owner who drafted it knows.
      if (event.by === before.owner) return null;
      return alertIn(after, {
        kind: 'draft_ready',
        subject: `${event.version}`,
        round: event.round,
        text: `${nameOf(before, event.by)} drafted the review of round ${event.round} (${event.verdict}, ${findings(event.findings.length)}): edit and post it.`,
      });
    case 'FixesNotPushedNoted':
      return alertIn(after, {
        kind: 'fixes_not_pushed',
        subject: `${round}`,
        round,
        text: `No fixes were pushed within ${inWords(before.durations.fixesNotPushed)} of the close of round ${round}: you can have the final draft now.`,
      });
    case 'PostingFailed':
      return alertIn(after, {
        kind: 'posting_failed',
        subject: `${after.seq}`,
        round: before.draft?.round ?? round,
        text: `The review of round ${before.draft?.round ?? round} could not be posted: ${event.reason}`,
      });
    case 'ForgeBroken':
      // Nobody waits for a pull request that is over.
      if (before.head.state !== 'open') return null;
      return alertIn(after, {
        kind: 'forge_broken',
        subject: `${event.since}`,
        round,
        text: `The pull request cannot be read for ${inWords(event.at - event.since)} now: ${TROUBLE[event.trouble]}`,
      });
    case 'IdleRanOut':
      return noReview(after, event.number, `whoever it waits for has been idle for ${inWords(before.durations.idleClose)}`);
    case 'NoReviewNoted':
      // Told when idle time ran out.
      if (before.round?.idleRanOutAt != null) return null;
      return noReview(after, event.number, someoneIsAwaited(before) ? 'its time is over' : 'nobody is left to wait for');
    default:
      return null;
  }
}

const TROUBLE: Record<ForgeTrouble, string> = {
  unavailable: 'the forge does not answer. Barista goes on by itself once it does.',
  limited: "the forge's rate limit is used up. Barista goes on by itself once it has run out.",
  not_found: 'the repository or pull request is not there any more, or not for Barista.',
  refused: "the forge refuses Barista's access. Check its connection, e.g. with barista doctor.",
  invalid: 'the forge does not take the request. Run barista doctor.',
};

function noReview(after: RoomState, round: number, why: string): Alert {
  return alertIn(after, {
    kind: 'no_review',
    subject: `${round}`,
    round,
    text: `Round ${round} has no review: ${why}. It needs a reviewer.`,
  });
}

/** B15: the disputes that the owner sees now and did not see before, each told once however often it is hidden and shown. */
function newDisputes(before: RoomState, after: RoomState): Alert[] {
  if (before.findings === after.findings && before.round === after.round && before.participants === after.participants) return [];
  const now = disputesSeen(after);
  if (now.length === 0) return [];
  const known = new Set(disputesSeen(before).map(({ subject }) => subject));
  return now
    .filter(({ subject }) => !known.has(subject))
    .map(({ subject, finding }) =>
      alertIn(after, {
        kind: 'dispute',
        subject,
        round: after.round?.number ?? null,
        text: `Finding ${finding.id} of ${nameOf(after, finding.raisedBy)} (${placeOf(finding)}) was upheld and rejected again: you decide.`,
      }),
    );
}

function disputesSeen(room: RoomState): { readonly finding: Finding; readonly subject: string }[] {
  // D8: the round is done, and nothing of it is left to decide before the next one.
  if (isPosted(room)) return [];
  const seen = seenBy(room, room.owner);
  return seen.findings
    .filter((finding) => isDisputed(seen, finding))
    .map((finding) => ({ finding, subject: `${finding.id}@${disputedSince(seen, finding)}` }));
}

function alertIn({ slug }: RoomState, alert: Omit<Alert, 'room' | 'link'>): Alert {
  return { ...alert, room: slug, link: `/rooms/${slug}` };
}

function someoneIsAwaited(room: RoomState): boolean {
  return room.round !== null && awaited(room, room.round).length > 0;
}

const findings = (count: number): string => `${count} finding${count === 1 ? '' : 's'}`;

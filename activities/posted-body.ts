import { findingOf, standingLabel } from '../workflows/room/findings.js';
import { nameOf } from '../workflows/room/members.js';
import { short } from '../workflows/room/notes.js';
import { recordedFinding, type RoundRecord } from '../workflows/room/record.js';
import type { Draft, DraftFinding, ParticipantId, RoomState, StandingOf, TextId } from '../workflows/room/state.js';
import type { Severity, Verdict } from '../workflows/room/words.js';
import type { LineComment } from './forge/port.js';

/** A draft as it goes to the forge: one body, and a comment for each line that is in the diff. The forge adds its hidden marker. */
interface PostedReview {
  readonly verdict: Verdict;
  readonly body: string;
  readonly comments: readonly LineComment[];
  /** Indexes of the merged findings that had no place in the diff and stand in the body (D4). */
  readonly unplaced: readonly number[];
  /** Characters that the body had no room for (D9). */
  readonly cut: number;
}

export interface ToPost {
  readonly state: RoomState;
  /** Rounds before the latest: what stood at the posting may have left the state since. */
  readonly records: ReadonlyMap<number, RoundRecord>;
  /** The draft with its text fixed, posting or posted. */
  readonly draft: Draft;
  readonly text: (id: TextId) => string;
  /** G1: one line for each reviewer of the draft's round. */
  readonly coverage: readonly string[];
  /** By index of the merged finding: whether its line is in the diff of the draft's commit (D9). */
  readonly placed: readonly boolean[];
  /** Characters that the forge takes as one body or comment. */
  readonly limit: number;
}

/**
 * D4, D7, D9, G1: the drafter's text, what had no place in the diff, the standing of every unsettled finding, who read
 * what and who declined. Over the limit it is trimmed by priority, blockers last, and says how much.
 */
export function postedReview(input: ToPost): PostedReview {
  const { draft, placed, limit } = input;
  const unplaced: number[] = [];
  const comments: LineComment[] = [];
  draft.findings.forEach((finding, index) => {
    const { path, line, side } = finding;
    if (placed[index] && line !== null) comments.push({ path, line, side, body: trimmed(remark(input, finding), limit).text });
    else unplaced.push(index);
  });
  const standing = draft.posting.status === 'draft' ? [] : draft.posting.standing;
  const sections: Section[] = [
    { title: 'Findings without a place in the diff', entries: unplaced.map((index) => unplacedEntry(input, draft.findings[index]!)) },
    { title: 'Standing of the findings', entries: standing.map((entry) => standingEntry(input, entry)) },
  ];
  return { verdict: draft.verdict, comments, unplaced, ...composed(input, sections) };
}

interface Entry {
  readonly severity: Severity;
  readonly text: string;
}

interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** What gets room first where there is not enough: a blocker is the last to be cut. */
const BY_PRIORITY: readonly Severity[] = ['blocker', 'major', 'minor', 'nit'];
/** Room for the headings, the verdict and the line that says what was cut. */
const OVERHEAD = 400;
/** An entry cut to less than this says nothing. */
const SHORTEST_ENTRY = 120;

function composed(input: ToPost, sections: readonly Section[]): { body: string; cut: number } {
  const { draft, text, limit } = input;
  const room = new Room(limit - OVERHEAD);
  const entries = sections.flatMap((section) => section.entries);
  const kept = new Map<Entry, string>();
  const take = (severity: Severity): void => {
    for (const entry of entries) if (entry.severity === severity) kept.set(entry, room.take(entry.text, SHORTEST_ENTRY));
  };
  take('blocker');
  const reviewers = reviewerLines(input).map((line) => room.take(line, line.length));
  const body = room.take(text(draft.body), 1);
  for (const severity of BY_PRIORITY.slice(1)) take(severity);

  const dropped = entries.filter((entry) => kept.get(entry) === '').length;
  const whole = dropped === 0 ? '' : `, ${dropped} whole ${dropped === 1 ? 'entry' : 'entries'} among them,`;
  const blocks = [
    `**Verdict: ${draft.verdict.replace('_', ' ')}**`,
    body,
    ...sections.map(({ title, entries: all }) =>
      block(
        title,
        all.map((entry) => kept.get(entry)!),
      ),
    ),
    block('Reviewers', reviewers),
    room.cut === 0 ? '' : `_Cut to the length that can be posted: ${room.cut} characters${whole} are left out._`,
  ];
  return { body: blocks.filter((part) => part !== '').join('\n\n'), cut: room.cut };
}

/** G1, S7: "no findings" never stands without who read what, and who declined. */
function reviewerLines({ state, records, draft, coverage, text }: ToPost): string[] {
  const round = draft.round === state.round?.number ? state.round : records.get(draft.round)?.round;
  const declined = round?.declines.map(({ by, reason }) => `${nameOf(state, by)} declined: ${short(text(reason))}`) ?? [];
  return [...coverage, ...declined].map((line) => `- ${quiet(line)}`);
}

function block(title: string, lines: readonly string[]): string {
  const shown = lines.filter((line) => line !== '');
  return shown.length === 0 ? '' : `### ${title}\n\n${shown.join('\n')}`;
}

/** Two line breaks and a little more than a line costs besides its own characters. */
const BREAKS = 4;

/** Hands out what is left of the body, and counts what it could not give. */
class Room {
  cut = 0;

  constructor(private left: number) {}

  /** The text, or its start where that is at least `least` characters, or nothing. */
  take(text: string, least: number): string {
    const fits = trimmed(text, Math.max(0, this.left - BREAKS));
    const given = fits.cut > 0 && fits.text.length < least ? { text: '', cut: text.length } : fits;
    this.cut += given.cut;
    if (given.text !== '') this.left -= given.text.length + BREAKS;
    return given.text;
  }
}

const ELLIPSIS = ' […]';

function trimmed(text: string, limit: number): { text: string; cut: number } {
  if (text.length <= limit) return { text, cut: 0 };
  const start = text.slice(0, Math.max(0, limit - ELLIPSIS.length)).replace(/[\uD800-\uDBFF]$/u, '');
  return { text: start === '' ? '' : start + ELLIPSIS, cut: text.length - start.length };
}

function remark({ state, text }: ToPost, { severity, body, raisedBy, agreedBy, disputedBy }: DraftFinding): string {
  const heard = (what: string, ids: readonly ParticipantId[]): string[] =>
    ids.length === 0 ? [] : [`${what} ${ids.map((id) => nameOf(state, id)).join(', ')}`];
  const said = [...heard('raised by', raisedBy), ...heard('agreed by', agreedBy), ...heard('disputed by', disputedBy)];
  return `**${severity}** ${text(body)}${said.length === 0 ? '' : `\n\n_${quiet(said.join('; '))}_`}`;
}

function unplacedEntry(input: ToPost, finding: DraftFinding): Entry {
  // Indented, so that a remark of several lines stays one entry of the list.
  return { severity: finding.severity, text: `- ${place(finding)}: ${remark(input, finding).replaceAll('\n', '\n  ')}` };
}

/** How much of a finding its standing quotes. */
const EXCERPT = 160;

function standingEntry({ state, records, text }: ToPost, { finding: id, standing }: StandingOf): Entry {
  const label = `**${standingLabel(state, standing)}**`;
  const finding = findingOf(state, id) ?? recordedFinding(records, id);
  // Deleted between the posting's start and now (R6): that there was one still counts.
  if (!finding) return { severity: 'nit', text: `- ${label}: a finding of a deleted agent` };
  const facts = quiet(`${finding.severity}, raised by ${nameOf(state, finding.raisedBy)}`);
  return { severity: finding.severity, text: `- ${label} ${place(finding)} (${facts}): ${quiet(short(text(finding.body), EXCERPT))}` };
}

function place({ path, line }: { readonly path: string; readonly line: number | null }): string {
  return `\`${path}${line === null ? '' : `:${line}`}\``;
}

/** A name of the room in code marks: on a forge `@grok` may be somebody, whom our own lines must not call. */
function quiet(line: string): string {
  return line.replaceAll(/(?<![\w`])@[a-z0-9-]+/gi, '`$&`');
}

import type { Place } from './context/places.js';
import { callingNone, code, cutText, finished, opensBlock, quiet, withoutOffers } from './markdown.js';
import { findingOf, standingLabel } from '../workflows/room/findings.js';
import { type Lines, numbersOf, placeOf } from '../workflows/room/lines.js';
import { nameOf } from '../workflows/room/members.js';
import { short } from '../workflows/room/notes.js';
import { recordedFinding, type RoundRecord } from '../workflows/room/record.js';
import type { Draft, DraftFinding, ParticipantId, RoomState, StandingOf, TextId } from '../workflows/room/state.js';
import { SEVERITIES, type Severity, type Side, type Verdict } from '../workflows/room/words.js';
import type { FileComment, LineComment } from './forge/port.js';

/** A draft as it goes to the forge: one body, and a comment for each line that is in the diff. The forge adds its hidden marker. */
interface PostedReview {
  readonly verdict: Verdict;
  readonly body: string;
  readonly bodyWithout: (refused: ReadonlySet<number>) => string;
  readonly comments: readonly LineComment[];
  readonly fileComments: readonly FileComment[];
  /** Indexes of the merged findings that had no place in the diff and stand in the body (D4). */
  readonly unplaced: readonly number[];
  /** Indexes of those that are sent as comments, by position among the comments, those on files last. */
  readonly beside: readonly number[];
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
  /** By index of the merged finding: where it can stand in the diff of the draft's commit (D9). */
  readonly places: readonly Place[];
  /** Characters that the forge takes as one body or comment. */
  readonly limit: number;
}

/** Findings that stand beside the diff: with many more a forge takes the review for a flood (facts: 65 to 100). */
export const BESIDE_LIMIT = 40;

/**
 * D4, D7, D9, G1: the drafter's text, what does not stand beside the diff, the standing of every unsettled finding, who
 * read what and who declined. Each finding stands in one place. Over the limit the body is trimmed by priority, blockers
 * last, and says how much.
 */
export function postedReview(given: ToPost): PostedReview {
  const input = { ...given, text: textOf(given) };
  const { draft, places } = input;
  const unplaced = [...places.keys()].filter((index) => places[index]!.at === 'body');
  const beside = gravest(
    draft.findings,
    [...places.keys()].filter((index) => places[index]!.at !== 'body'),
  ).slice(0, BESIDE_LIMIT);
  const atLines = beside.flatMap((index) => commentAt(input, draft.findings[index]!, places[index]!, index));
  const atFiles = beside.flatMap((index) => fileCommentAt(input, draft.findings[index]!, places[index]!, index));
  const sent = [...atLines, ...atFiles].map(({ index }) => index);
  const bodyWithout = (refused: ReadonlySet<number>) => {
    const nowhere = new Set([...unplaced, ...sent.filter((_, position) => refused.has(position))]);
    return composed(input, {
      nowhere,
      further: new Set([...places.keys()].filter((index) => !nowhere.has(index) && !sent.includes(index))),
    });
  };
  return {
    verdict: draft.verdict,
    comments: atLines.map(({ comment }) => comment),
    fileComments: atFiles.map(({ comment }) => comment),
    unplaced,
    beside: sent,
    bodyWithout: (refused) => bodyWithout(refused).body,
    ...bodyWithout(new Set()),
  };
}

/** On GitLab everybody who is in the project. */
const EVERYBODY = 'all';

/**
 * A text as it is posted. Whom the room knows by a name is somebody else on a forge, and `@claude` there may start work of
 * its own; every line ends in the one way that is looked for.
 */
function textOf({ state, text }: ToPost): (id: TextId) => string {
  const names = new Set([EVERYBODY, ...state.participants.map(({ name }) => name)]);
  return (id) => callingNone(text(id).replaceAll(/\r\n?/g, '\n'), names);
}

/** Blockers first, each severity in the draft's order. */
function gravest(findings: readonly DraftFinding[], indexes: readonly number[]): number[] {
  return [...indexes].sort((one, other) => rank(findings[one]!) - rank(findings[other]!) || one - other);
}

const rank = ({ severity }: { readonly severity: Severity }): number => SEVERITIES.indexOf(severity);

interface Sent<Comment> {
  readonly index: number;
  readonly comment: Comment;
}

function commentAt(input: ToPost, finding: DraftFinding, place: Place, index: number): Sent<LineComment>[] {
  if (place.at !== 'lines') return [];
  const { path, line, startLine, side } = place;
  // What stands at the last line of its range alone says which lines it is about.
  const lost = finding.startLine !== undefined && startLine === undefined;
  const whole = lost ? withoutOffers(remark(input, finding, linesSaid(finding))) : remark(input, finding);
  const body = cutText(whole, input.limit).text;
  return [{ index, comment: { path, line, ...(startLine !== undefined && { startLine }), side, body } }];
}

function fileCommentAt(input: ToPost, finding: DraftFinding, place: Place, index: number): Sent<FileComment>[] {
  if (place.at !== 'file') return [];
  return [{ index, comment: { path: place.path, body: cutText(remark(input, finding), input.limit).text } }];
}

interface Entry {
  readonly severity: Severity;
  readonly text: string;
}

interface Section {
  readonly title: string;
  /** One short line above the entries. */
  readonly lead?: string;
  readonly entries: readonly Entry[];
}

/** Room for the headings, the verdict and the line that says what was cut. */
const OVERHEAD = 400;
/** An entry cut to less than this says nothing. */
const SHORTEST_ENTRY = 120;

function composed(input: ToPost, at: { nowhere: ReadonlySet<number>; further: ReadonlySet<number> }): { body: string; cut: number } {
  const { draft, text, limit } = input;
  const room = new Room(limit - OVERHEAD);
  const listed = (indexes: ReadonlySet<number>) =>
    draft.findings.filter((_, index) => indexes.has(index)).map((finding) => unplacedEntry(input, finding));
  const standing = draft.posting.status === 'draft' ? [] : draft.posting.standing;
  const sections: Section[] = [
    { title: 'Findings without a place in the diff', entries: listed(at.nowhere) },
    { title: 'Further findings', lead: `_The ${BESIDE_LIMIT} gravest stand beside the diff._`, entries: listed(at.further) },
    { title: 'Standing of the findings', entries: standing.map((entry) => standingEntry(input, entry)) },
  ];
  const entries = sections.flatMap((section) => section.entries);
  const kept = new Map<Entry, string>();
  const take = (severity: Severity): void => {
    for (const entry of entries) if (entry.severity === severity) kept.set(entry, room.take(entry.text, SHORTEST_ENTRY));
  };
  const [gravestSeverity, ...others] = SEVERITIES;
  take(gravestSeverity);
  const reviewers = reviewerLines(input).map((line) => room.take(line, line.length));
  const body = room.take(finished(text(draft.body)), 1);
  others.forEach(take);

  const dropped = entries.filter((entry) => kept.get(entry) === '').length;
  const whole = dropped === 0 ? '' : `, ${dropped} whole ${dropped === 1 ? 'entry' : 'entries'} among them,`;
  const blocks = [
    `**Verdict: ${draft.verdict.replace('_', ' ')}**`,
    body,
    ...sections.map((section) =>
      block(
        section,
        section.entries.map((entry) => kept.get(entry)!),
      ),
    ),
    block({ title: 'Reviewers' }, reviewers),
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

function block({ title, lead }: Omit<Section, 'entries'>, lines: readonly string[]): string {
  const shown = lines.filter((line) => line !== '');
  return shown.length === 0 ? '' : [`### ${title}`, ...(lead === undefined ? [] : [lead]), shown.join('\n')].join('\n\n');
}

/** Two line breaks and a little more than a line costs besides its own characters. */
const BREAKS = 4;

/** Hands out what is left of the body, and counts what it could not give. */
class Room {
  cut = 0;

  constructor(private left: number) {}

  /** The text, or its start where that is at least `least` characters, or nothing. */
  take(text: string, least: number): string {
    const fits = cutText(text, Math.max(0, this.left - BREAKS));
    const given = fits.cut > 0 && fits.text.length < least ? { text: '', cut: text.length } : fits;
    this.cut += given.cut;
    if (given.text !== '') this.left -= given.text.length + BREAKS;
    return given.text;
  }
}

function remark({ state, text }: ToPost, { severity, body, raisedBy, agreedBy, disputedBy }: DraftFinding, lines = ''): string {
  const heard = (what: string, ids: readonly ParticipantId[]): string[] =>
    ids.length === 0 ? [] : [`${what} ${ids.map((id) => nameOf(state, id)).join(', ')}`];
  const said = [...heard('raised by', raisedBy), ...heard('agreed by', agreedBy), ...heard('disputed by', disputedBy)];
  const own = finished(text(body));
  return `**${severity}**${lines}${opensBlock(own) ? '\n\n' : ' '}${own}${said.length === 0 ? '' : `\n\n_${quiet(said.join('; '))}_`}`;
}

function linesSaid({ line, startLine, side }: Lines & { readonly side: Side }): string {
  if (line === null || startLine === undefined) return '';
  return ` (lines ${numbersOf({ line, startLine })}${side === 'old' ? ' of the old file' : ''})`;
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

function place(finding: Lines & { readonly path: string; readonly side: Side }): string {
  return `${code(placeOf(finding))}${finding.side === 'old' && finding.line !== null ? ' (old)' : ''}`;
}

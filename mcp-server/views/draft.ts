import { findingOf, standingLabel, standings } from '../../workflows/room/findings.js';
import { short } from '../../workflows/room/notes.js';
import { recordedFinding } from '../../workflows/room/record.js';
import type { Actor, Draft, DraftFinding, ParticipantId, StandingOf } from '../../workflows/room/state.js';
import type { Severity, Side, Standing, Verdict } from '../../workflows/room/words.js';
import { wireLines } from './finding.js';
import { type Around, type Named, named, plainName, seen, type Seen, type Snapshot } from './snapshot.js';
import { iso } from './time.js';

/** A draft on the wire. */
export interface WireDraft {
  readonly round: number;
  readonly head_sha: string;
  readonly verdict: Verdict;
  readonly body: string;
  readonly findings: readonly WireDraftFinding[];
  /** D7: every unsettled finding of the latest round, live until the posting fixes it. */
  readonly standing: readonly WireStanding[];
  readonly coverage: readonly WireCoverageLine[];
  readonly declined: readonly (Named & { readonly reason: string })[];
  readonly drafted_by: Actor;
  readonly drafted_by_name: string;
  readonly drafted_at: string;
  readonly assembled: boolean;
  /** What the owner is to know before posting; never posted itself (B20). */
  readonly notice: string | null;
  readonly stale: boolean;
  readonly edited: boolean;
  readonly version: number;
  readonly status: 'draft' | 'posting' | 'posted';
  /** Why the last posting failed. */
  readonly failure: string | null;
  readonly posted_at: string | null;
  readonly url: string | null;
  /** Merged findings that had no place in the diff and stand in the posted body (D4). */
  readonly unplaced: readonly { readonly index: number; readonly path: string; readonly line?: number; readonly start_line?: number }[];
}

interface WireDraftFinding {
  readonly path: string;
  readonly line?: number;
  readonly start_line?: number;
  readonly side: Side;
  readonly severity: Severity;
  readonly body: string;
  readonly raised_by: readonly ParticipantId[];
  readonly agreed_by: readonly ParticipantId[];
  readonly disputed_by: readonly ParticipantId[];
  readonly finding_ids: readonly string[];
}

interface WireStanding {
  readonly finding_id: string;
  readonly standing: Standing;
  /** The standing as people read it. */
  readonly label: string;
  /** Where and what, in short; absent for a finding that was deleted since (R6). */
  readonly path?: string;
  readonly line?: number;
  readonly start_line?: number;
  readonly severity?: Severity;
  readonly raised_by_name?: string;
  readonly excerpt?: string;
}

interface WireCoverageLine {
  readonly participant: ParticipantId;
  readonly line: string;
}

/** B20. */
const ASSEMBLED_NOTICE = 'assembled by barista: no agent drafted this round. Check it before you post.';

/** How much of a finding a standing quotes. */
const EXCERPT = 160;

/** The newest round's draft (D6), as `reader` may see it; null where there is none. `around.coverage` is that round's. */
export function draftView(snapshot: Snapshot, reader: ParticipantId, around: Pick<Around, 'head' | 'coverage'>): WireDraft | null {
  const { draft } = snapshot.state;
  return draft && wireDraft(snapshot, reader, draft, around);
}

/** The draft that belongs to round `number`: the state's where it has it, else as the record keeps it. */
export function draftOfRound(snapshot: Snapshot, number: number): Draft | null {
  const { draft } = snapshot.state;
  return draft?.round === number ? draft : (snapshot.records.get(number)?.draft ?? null);
}

export function wireDraft(snapshot: Snapshot, reader: ParticipantId, draft: Draft, around: Pick<Around, 'head' | 'coverage'>): WireDraft {
  const isNewest = draft === snapshot.state.draft;
  // The standing is of the latest round while this is the draft to post, and of its own round once a newer one took its place.
  const latest = seen(snapshot, reader, isNewest ? undefined : draft.round);
  const own = seen(snapshot, reader, draft.round);
  const { room, text } = latest;
  const { posting } = draft;
  const head = around.head?.sha ?? snapshot.state.head.sha;
  return {
    round: draft.round,
    head_sha: draft.headSha,
    verdict: draft.verdict,
    body: text(draft.body),
    findings: draft.findings.map((finding) => wireDraftFinding(finding, text)),
    standing: (posting.status === 'draft' ? standings(room) : posting.standing).map((entry) => wireStanding(snapshot, latest, entry)),
    coverage: around.coverage.map(({ participant, line }) => ({ participant, line })),
    declined: (own.round?.declines ?? []).map((decline) => ({ ...named(room, decline.by), reason: text(decline.reason) })),
    drafted_by: draft.draftedBy,
    drafted_by_name: plainName(room, draft.draftedBy),
    drafted_at: iso(draft.savedAt),
    assembled: draft.assembled,
    notice: draft.assembled ? ASSEMBLED_NOTICE : null,
    stale: posting.status !== 'posted' && draft.headSha !== head,
    edited: draft.edited,
    version: draft.version,
    status: posting.status,
    failure: posting.status === 'draft' ? posting.failure : null,
    posted_at: posting.status === 'posted' ? iso(posting.at) : null,
    url: posting.status === 'posted' ? posting.url : null,
    unplaced: posting.status === 'posted' ? posting.unplaced.flatMap((index) => unplacedAt(draft, index)) : [],
  };
}

function wireDraftFinding(finding: DraftFinding, text: (id: string) => string): WireDraftFinding {
  return {
    path: finding.path,
    ...wireLines(finding),
    side: finding.side,
    severity: finding.severity,
    body: text(finding.body),
    raised_by: finding.raisedBy,
    agreed_by: finding.agreedBy,
    disputed_by: finding.disputedBy,
    finding_ids: finding.findings,
  };
}

function unplacedAt(draft: Draft, index: number): WireDraft['unplaced'][number][] {
  const finding = draft.findings[index];
  return finding ? [{ index, path: finding.path, ...wireLines(finding) }] : [];
}

function wireStanding(snapshot: Snapshot, view: Seen, { finding: id, standing }: StandingOf): WireStanding {
  const { room, text } = view;
  const base = { finding_id: id, standing, label: standingLabel(room, standing) };
  // What was fixed at the posting may have left the state with its round since.
  const finding = findingOf(room, id) ?? recordedFinding(snapshot.records, id);
  if (!finding) return base;
  const { path, severity, raisedBy } = finding;
  return {
    ...base,
    path,
    ...wireLines(finding),
    severity,
    raised_by_name: plainName(room, raisedBy),
    excerpt: short(text(finding.body), EXCERPT),
  };
}

import type { ActivityDeps } from './deps.js';
import { mergeDraft } from '../workflows/room/merge.js';
import { recordsOf } from '../workflows/room/record.js';
import type { RoomActivities } from '../workflows/activities.js';
import type { DraftFinding, RoomState } from '../workflows/room/state.js';
import type { Verdict } from '../workflows/room/words.js';
import { needsFix } from '../workflows/room/findings.js';
import { nameOf } from '../workflows/room/members.js';
import { unsettled } from '../workflows/room/rounds.js';

/** B20: one merged finding per unsettled finding, and the reviews' summaries one after the other. */
export function createAssembleDraft({ store }: ActivityDeps): RoomActivities['assembleDraft'] {
  return async ({ slug, seq }) => {
    const snapshot = await store.rooms.snapshot(slug, {
      records: 'all',
      texts: (room) => [...(room.round?.reviews.map((review) => review.summary) ?? []), ...room.findings.map((finding) => finding.body)],
    });
    if (!snapshot || snapshot.seq < seq)
      throw new Error(`room ${slug} is at event ${snapshot?.seq ?? 0} in the database, not yet at ${seq}`);
    const { state: room, texts } = snapshot;
    const findings = unsettled(room);
    const body =
      room.round?.reviews
        .map((review) => `${nameOf(room, review.by)} (${review.verdict}): ${texts.get(review.summary) ?? ''}`)
        .join('\n\n') ?? '';
    // Copies of its own: the draft keeps its text when an agent is deleted with its reviews (R6).
    const [bodyId, ...findingIds] = await store.texts.stage(slug, 'barista', [
      body,
      ...findings.map((finding) => texts.get(finding.body) ?? ''),
    ]);
    const merged = findings.map((finding, index): DraftFinding => {
      const { path, line, startLine, side, severity } = finding;
      return {
        path,
        line,
        ...(startLine !== undefined && { startLine }),
        side,
        severity,
        body: findingIds[index]!,
        raisedBy: [finding.raisedBy],
        agreedBy: [],
        disputedBy: [],
        findings: [finding.id],
      };
    });
    return { verdict: verdictOf(room), body: bodyId!, findings: mergeDraft(merged, { state: room, records: recordsOf(snapshot.records) }) };
  };
}

function verdictOf(room: RoomState): Verdict {
  const verdicts = room.round?.reviews.map((review) => review.verdict) ?? [];
  if (verdicts.includes('request_changes') || room.findings.some((finding) => needsFix(room, finding))) return 'request_changes';
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === 'approve') ? 'approve' : 'comment';
}

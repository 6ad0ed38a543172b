import type { ParticipantId } from '../workflows/room/state.js';
import { dateOf, type Db, type Tx } from './db.js';

/** Review calls of one participant no further apart than the working window; epoch milliseconds, both inclusive. */
export interface ReviewSpan {
  readonly participant: ParticipantId;
  readonly from: number;
  readonly last: number;
}

export interface Spans {
  /** Records a review call (B4), refused ones too. Calls told late or out of order only ever widen what is known. */
  recordCall(slug: string, round: number, participant: ParticipantId, at: number, windowMs: number): Promise<void>;
  /** Every span of the round, by participant and time. Two of one participant may overlap: their union is what counts. */
  spans(slug: string, round: number): Promise<ReviewSpan[]>;
}

export function createSpans(db: Db): Spans {
  return {
    async recordCall(slug, round, participant, at, windowMs) {
      const call = dateOf(at);
      // One statement, so that two servers serving the same participant lose neither call (DESIGN 2).
      await db.$executeRaw`
        WITH widened AS (
          UPDATE review_spans SET from_at = least(from_at, ${call}), last_at = greatest(last_at, ${call})
          WHERE slug = ${slug} AND round = ${round} AND participant = ${participant} AND from_at = (
            SELECT max(from_at) FROM review_spans
            WHERE slug = ${slug} AND round = ${round} AND participant = ${participant}
              AND from_at <= ${dateOf(at + windowMs)} AND last_at >= ${dateOf(at - windowMs)}
          )
          RETURNING 1
        )
        INSERT INTO review_spans (slug, round, participant, from_at, last_at)
        SELECT ${slug}, ${round}, ${participant}, ${call}, ${call}
        WHERE NOT EXISTS (SELECT FROM widened)
        ON CONFLICT DO NOTHING`;
    },
    spans: (slug, round) => spansOf(db, slug, round),
  };
}

export async function spansOf(db: Db | Tx, slug: string, round: number): Promise<ReviewSpan[]> {
  return (await spansOfRounds(db, [{ slug, round }])).get(slug) ?? [];
}

/** As {@link Spans.spans}, of one round of each of many rooms, by slug. */
export async function spansOfRounds(
  db: Db | Tx,
  rounds: readonly { readonly slug: string; readonly round: number }[],
): Promise<Map<string, ReviewSpan[]>> {
  const bySlug = new Map<string, ReviewSpan[]>();
  if (rounds.length === 0) return bySlug;
  const rows = await db.reviewSpan.findMany({ where: { OR: [...rounds] }, orderBy: [{ participant: 'asc' }, { from: 'asc' }] });
  for (const { slug, participant, from, last } of rows) {
    const spans = bySlug.get(slug) ?? [];
    bySlug.set(slug, spans);
    spans.push({ participant, from: from.getTime(), last: last.getTime() });
  }
  return bySlug;
}

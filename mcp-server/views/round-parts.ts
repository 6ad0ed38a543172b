import { innerSize, jsonSize, startWithin } from '../../activities/context/json-size.js';
import type { WireDraft } from './draft.js';
import { type Container, fitted, type Part, sizeInList } from './parts.js';
import type { PagedDraft, RoundPage, WireCoverage, WireReview } from './round.js';

/** How the long things of a round are taken apart for its pages: a review, a draft, a coverage row. */

/** One entry of a list of the page, cut to fit where it is longer than a page. */
export function listPart<T extends object>(value: T, budget: number, list: (page: RoundPage) => T[], within?: Container): Part<RoundPage> {
  const entry = fitted(value, budget - 1 - (within?.size ?? 0));
  return { size: sizeInList(entry), ...(within && { within }), put: (page) => void list(page).push(entry) };
}

export function reviewParts(review: WireReview, budget: number): Part<RoundPage>[] {
  const head = fitted({ ...review, findings: [], references: [] }, budget - 1);
  const { summary: _, ...kept } = head;
  const continued: WireReview = { ...kept, coverage: null, continued: true };
  const within: Container = { id: `review ${review.id}`, size: sizeInList(continued) };
  const on = (page: RoundPage): WireReview =>
    listed(
      page.reviews,
      (other) => other.id === review.id,
      () => ({ ...continued, findings: [], references: [] }),
    );
  return [
    { size: sizeInList(head), opens: within.id, put: (page) => void page.reviews.push({ ...head, findings: [], references: [] }) },
    ...review.findings.map((finding) => listPart(finding, budget, (page) => on(page).findings, within)),
    ...review.references.map((reference) => listPart(reference, budget, (page) => on(page).references, within)),
  ];
}

export function coverageParts(row: WireCoverage, budget: number): Part<RoundPage>[] {
  const empty = (): WireCoverage => ({ ...head, files: [] });
  const head = fitted({ ...row, files: [] }, budget - 1);
  const within: Container = { id: `coverage ${row.participant}`, size: sizeInList(head) };
  const on = (page: RoundPage): WireCoverage => listed(page.coverage, (other) => other.participant === row.participant, empty);
  return [
    { size: within.size, opens: within.id, put: (page) => void page.coverage.push(empty()) },
    ...row.files.map((file) => listPart(file, budget, (page) => on(page).files, within)),
  ];
}

function listed<T>(list: T[], is: (entry: T) => boolean, make: () => T): T {
  const known = list.find(is);
  if (known) return known;
  const made = make();
  list.push(made);
  return made;
}

/** `,"draft":` */
const DRAFT_KEY = 10;
/** `,"body_continues":true` */
const CONTINUES = 22;

export function draftParts(draft: WireDraft | null, budget: number): Part<RoundPage>[] {
  if (!draft) return [{ size: DRAFT_KEY + 4, put: (page) => void (page.draft = null) }];
  const lists = () => ({ body: '', findings: [], standing: [], coverage: [], declined: [] });
  // Said again on every page of it: so it leaves at least half of one to what goes on.
  const head = fitted({ ...draft, ...lists(), unplaced: draft.unplaced.slice(0, UNPLACED) }, Math.floor(budget / 2));
  const empty = (): PagedDraft => ({ ...head, ...lists() });
  const within: Container = { id: 'draft', size: DRAFT_KEY + jsonSize(empty()) + CONTINUES };
  const on = (page: RoundPage): PagedDraft => (page.draft ??= empty());
  const pieces = inPieces(draft.body, budget - within.size);
  return [
    { size: within.size, opens: within.id, put: (page) => void on(page) },
    ...pieces.map((piece, at) => ({
      size: innerSize(piece),
      within,
      put: (page: RoundPage) => {
        const shown = on(page);
        shown.body += piece;
        if (at < pieces.length - 1) shown.body_continues = true;
        else delete shown.body_continues;
      },
    })),
    ...draft.findings.map((finding) => listPart(finding, budget, (page) => on(page).findings, within)),
    ...draft.standing.map((standing) => listPart(standing, budget, (page) => on(page).standing, within)),
    ...draft.coverage.map((line) => listPart(line, budget, (page) => on(page).coverage, within)),
    ...draft.declined.map((decline) => listPart(decline, budget, (page) => on(page).declined, within)),
  ];
}

/** Enough to say that lines had no place; the whole list is in the posted body. */
const UNPLACED = 10;
/** Characters of a body that stay together, and the fewest there is always room for. */
const PIECE = 2_000;
const SHORTEST_PIECE = 12;

/** A text in pieces that join to it again. */
function inPieces(text: string, budget: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== '';) {
    const piece = startWithin(rest, Math.max(SHORTEST_PIECE, Math.min(PIECE, budget)));
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

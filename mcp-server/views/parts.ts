import { cutText, innerSize, jsonSize } from '../../activities/context/json-size.js';

/**
 * An answer as a row of parts, packed into pages in order. Sizes are characters of JSON (C2), so a page's size is
 * what is on every page, its containers, and its parts.
 */
export interface Part<Page> {
  /** Characters it adds to a page, its comma included. */
  readonly size: number;
  /** What holds it, and is said again on every page that has a part of it. */
  readonly within?: Container;
  /** This part is the container's own beginning. */
  readonly opens?: string;
  put(page: Page): void;
}

export interface Container {
  readonly id: string;
  /** Characters it takes on a page it is only continued on. */
  readonly size: number;
}

/** Packs parts into pages that hold `room` characters each; at least one page. */
export function packed<Page>(parts: readonly Part<Page>[], room: number): Part<Page>[][] {
  let page: Part<Page>[] = [];
  const pages = [page];
  let left = room;
  let open = new Set<string>();
  for (const part of parts) {
    const cost = (): number => part.size + (part.within && !open.has(part.within.id) ? part.within.size : 0);
    if (cost() > left && page.length > 0) {
      page = [];
      pages.push(page);
      left = room;
      open = new Set();
    }
    left -= cost();
    page.push(part);
    if (part.within) open.add(part.within.id);
    if (part.opens !== undefined) open.add(part.opens);
  }
  return pages;
}

/** What a value takes in an array. */
export const sizeInList = (value: unknown): number => jsonSize(value) + 1;

/** Below this, a text is not worth reading: its list is shortened instead. */
const SHORTEST = 200;

/**
 * `value` within `budget` characters of JSON: its longest texts are cut, each with a marker that says how much was
 * cut, and if that is not enough the oldest entries of its lists go, with a count in `left_out`. Unchanged where it fits.
 */
export function fitted<T extends object>(value: T, budget: number): T {
  if (jsonSize(value) <= budget) return value;
  let cut = value;
  for (let longest = budget; longest >= SHORTEST; longest = Math.floor(longest / 2)) {
    cut = withShortTexts(value, longest);
    if (jsonSize(cut) <= budget) return cut;
  }
  return withShortLists(cut, budget);
}

function withShortTexts<T>(value: T, longest: number): T {
  if (typeof value === 'string') return (innerSize(value) > longest ? cutText(value, longest) : value) as T;
  if (Array.isArray(value)) return value.map((entry) => withShortTexts(entry as unknown, longest)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withShortTexts(entry as unknown, longest)])) as T;
}

/** `,"left_out":` and a number. */
const LEFT_OUT_SIZE = 24;

function withShortLists<T extends object>(value: T, budget: number): T {
  const lists = Object.entries(value).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const total = lists.reduce((sum, [, list]) => sum + list.length, 0);
  for (let keep = total - 1; keep >= 0; keep--) {
    const kept = Object.fromEntries(
      lists.map(([key, list]) => [key, keep === 0 ? [] : list.slice(-Math.ceil((list.length * keep) / total))]),
    );
    const left = total - Object.values(kept).reduce((sum, list) => sum + list.length, 0);
    const shorter = { ...value, ...kept, left_out: left };
    if (keep === 0 || jsonSize(shorter) <= budget - LEFT_OUT_SIZE) return shorter;
  }
  return value;
}

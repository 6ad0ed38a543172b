import { DateTime } from 'luxon';
import type { Shown } from './activities.js';
import type { Heard } from './heard.js';
import type { RoomTold } from './messages.js';

/** How far a delivery has come. */
export interface Progress {
  /** What was last read, or why it could not be; null: nothing yet. */
  readonly read: string | null;
  readonly rooms: ReadonlyMap<string, RoomTold>;
  /** A line each: a room that opened by itself, or why one did not. */
  readonly openings: readonly string[];
  /** Epoch milliseconds of the next look; null: nothing is waited for. */
  readonly lookAgainAt: number | null;
}

/** What was heard, in a few words. */
export function whatOf(heard: Heard): string {
  switch (heard.kind) {
    case 'pull_request':
      return `pull request ${heard.what}`;
    case 'ci':
      return 'CI';
    case 'access':
      return `access ${heard.what}`;
    case 'ignored':
      return `ignored: ${heard.reason}`;
  }
}

/** What a read showed, in a few words. */
export function readingOf({ sha, state, draft }: Shown): string {
  return `${sha === null ? 'its branch is gone' : `head \`${sha.slice(0, 7)}\``}, ${state}${draft === true ? ', draft' : ''}`;
}

/** What an operator reads in the Temporal UI, in Markdown. */
export function detailsOf(heard: Heard, { read, rooms, openings, lookAgainAt }: Progress): string {
  const lines = [
    `**${whatOf(heard)}**${placeOf(heard)}`,
    heard.kind === 'pull_request' && heard.headSha !== null ? `- heard: head \`${heard.headSha.slice(0, 7)}\`` : null,
    read === null ? null : `- read: ${read}`,
    ...[...rooms].map(([slug, told]) => `- room \`${slug}\` ${SAID[told]}`),
    ...openings.map((opening) => `- ${opening}`),
    lookAgainAt === null ? null : `- the forge does not show it yet; looks again at ${atUtc(lookAgainAt)}`,
  ];
  return lines.filter((line) => line !== null).join('\n');
}

const SAID: Readonly<Record<RoomTold, string>> = {
  told: 'was told',
  knew: 'knew it already',
  gone: 'does not run and could not be told',
};

function placeOf(heard: Heard): string {
  switch (heard.kind) {
    case 'pull_request':
      return ` · ${heard.url}`;
    case 'ci':
      return ` · ${heard.repository} at \`${heard.headSha.slice(0, 7)}\``;
    case 'access': {
      const which = heard.repositories === null ? 'every repository' : `${heard.repositories.length} repositories`;
      return ` · ${heard.identity} App, ${which} of ${heard.account}`;
    }
    case 'ignored':
      return '';
  }
}

function atUtc(at: number): string {
  return DateTime.fromMillis(at, { zone: 'utc' }).toFormat("yyyy-MM-dd HH:mm:ss 'UTC'");
}

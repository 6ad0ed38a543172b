import type { TestRoom } from '../support/room.js';
import { idOf } from '../support/room.js';
import { roundView, type RoundPage, type RoundQuery } from '../../mcp-server/views/round.js';
import type { Around } from '../../mcp-server/views/snapshot.js';

/** A world outside the room that is well: the head is where the room has it, CI is green. */
export function around(room: TestRoom, more: Partial<Around> = {}): Around {
  return {
    head: { sha: room.read().sha, readAt: room.now },
    ci: { state: 'success', summary: '3 passed', url: 'https://ci.example/1' },
    calls: {},
    coverage: room.state.participants
      .filter((participant) => participant.roles.includes('reviewer'))
      .map(({ id, name }) => ({
        participant: id,
        shown: 1,
        partial: 0,
        notShown: 1,
        files: [{ path: 'b.ts', state: 'not_shown' as const }],
        line: `@${name} read 1 of 2 files through Barista; not: b.ts`,
      })),
    ...more,
  };
}

/** The round as somebody sees it, whole unless asked for by pages. */
export function viewOf(room: TestRoom, name: string, query: RoundQuery = {}, more: Partial<Around> = {}): RoundPage {
  return roundView(room.snapshot, idOf(name), { maxChars: Infinity, ...query }, around(room, more), room.now);
}

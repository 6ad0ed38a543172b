import { describe, expect, test } from 'vitest';
import { LiveRoom } from '../../workflows/live-room.js';
import type { HeadSeen } from '../../workflows/room/events.js';
import { learnHead } from '../../workflows/room-head.js';
import { noteOf } from '../../workflows/room/notes.js';
import { BASE, sha } from '../support/room.js';
import { opened } from './support.js';

/** A room with round 1 open at a1, and what it posts of the heads it is told of. */
function told(...heads: [short: string, known: number | undefined, base?: string][]): { heads: string; notes: number } {
  const { state } = opened();
  const room = LiveRoom.from({ kind: 'resume', state, outbox: { from: state.seq, events: [] } }, 0);
  for (const [short, known, baseSha = BASE] of heads) {
    const seen: HeadSeen = { sha: sha(short), baseSha, state: 'open', move: { commits: 1, rewritten: false } };
    learnHead(room, known === undefined ? seen : { ...seen, knownSeq: known }, state.openedAt);
  }
  const { events } = room.batch();
  return { heads: room.state.head.sha.slice(0, 2), notes: events.filter((event) => noteOf(state, event, String) !== null).length };
}

describe('P1, P4: heads that are told of late, twice or out of order', () => {
  test('P1: however many tell of a head, one note', () => {
    expect(told(['b2', 1], ['b2', 1], ['b2', undefined])).toEqual({ heads: 'b2', notes: 1 });
  });

  test('P4: what was read before the room learnt of another head changes nothing', () => {
    expect(told(['c3', 1], ['b2', 1])).toEqual({ heads: 'c3', notes: 1 });
  });

  test('P4, P5: nor does a state that was read before the room learnt of another; both times it is looked at again', () => {
    const { state } = opened();
    const room = LiveRoom.from({ kind: 'resume', state, outbox: { from: state.seq, events: [] } }, 0);
    const read = (is: 'open' | 'merged', short: string): HeadSeen => ({
      sha: sha(short),
      baseSha: BASE,
      state: is,
      move: null,
      knownSeq: 1,
    });
    learnHead(room, read('merged', 'a1'), state.openedAt);
    learnHead(room, read('open', 'a1'), state.openedAt);
    learnHead(room, read('merged', 'b2'), state.openedAt);
    expect([room.state.head.state, room.state.head.sha, room.batch().events.length, room.headDoubts]).toEqual(['merged', sha('a1'), 1, 2]);
    // What it knows already is no news, whenever it was read.
    learnHead(room, read('merged', 'a1'), state.openedAt);
    expect(room.headDoubts).toBe(2);
  });

  test('P1: a head that returns, read since, is a new note', () => {
    expect(told(['b2', 1], ['c3', 2], ['b2', 3])).toEqual({ heads: 'b2', notes: 3 });
  });

  test('P1: another merge base under the same head, as after a merge, is no new head', () => {
    expect(told(['b2', 1], ['b2', 2, sha('b2')])).toEqual({ heads: 'b2', notes: 1 });
  });

  test("P1: the round's own commit is none", () => {
    expect(told(['b2', 1], ['a1', 2])).toEqual({ heads: 'a1', notes: 1 });
  });
});

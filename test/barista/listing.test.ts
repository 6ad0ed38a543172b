import { describe, expect, test } from 'vitest';
import { listedUntil, listingOf } from '../../workflows/barista/listing.js';
import type { ClockedRoom } from '../support/clocked-room.js';
import { MINUTE, NOON, aRoom } from '../support/room.js';
import { closed, opened } from './support.js';

/** What a list shows of the room at this age if nothing happens before: `phase on whom [chips]`. */
function listed(room: Pick<ClockedRoom, 'state' | 'calls'>, age: number): string {
  const { phase, chips, waitingOn } = listingOf(room.state, room.calls, NOON + age * MINUTE);
  return `${phase} on ${waitingOn.join(' ') || 'nobody'} [${chips.join(', ')}]`;
}

/** The age until which that holds; null: until something happens. */
function until(room: Pick<ClockedRoom, 'state' | 'calls'>, age: number): number | null {
  const at = listedUntil(room.state, room.calls, NOON + age * MINUTE);
  return at === null ? null : (at - NOON) / MINUTE;
}

describe('V1: what a list shows holds until the moment that is kept with it', () => {
  test('B14: of two windows to uphold, the one that ends first', () => {
    const room = opened({ author: true })
      .pass(1)
      .submit('ana', { findings: [{}] })
      .submit('bo', { findings: [{}] })
      .pass(0);
    room.answer('cy', 'f1', 'reject', 'no').pass(5).answer('cy', 'f2', 'reject', 'no');
    expect([listed(room, 8), until(room, 8)]).toEqual(['waiting_for_answers on ag_ana ag_bo []', 33]);
    expect([listed(room, 33), until(room, 33)]).toEqual(['waiting_for_answers on ag_bo []', 38]);
    expect([listed(room, 38), until(room, 38)]).toEqual(['drafting on ag_ana []', null]);
  });

  test('S7: the end of a decline, with Barista or without', () => {
    const declines = opened()
      .pass(1)
      .decline('bo', 'busy', NOON + 10 * MINUTE)
      .submit('ana', { findings: [{}] });
    const off = aRoom()
      .join('ana', 'bo')
      .open('ana')
      .decline('bo', 'busy', NOON + 10 * MINUTE);
    expect(listed({ state: off.state, calls: {} }, 0)).toBe('reviewing on ag_ana []');
    expect(until({ state: off.state, calls: {} }, 0)).toBe(10);
    expect(listed({ state: off.state, calls: {} }, 10)).toBe('reviewing on ag_ana ag_bo []');
    expect([listed(declines, 3), until(declines, 3)]).toEqual(['reviewing on nobody []', 10]);
    expect([listed(declines, 10), until(declines, 10)]).toEqual(['reviewing on ag_bo []', null]);
  });

  test('B8: idle time and the cap bring the chip `no review`; a call puts idle time off', () => {
    const room = opened();
    expect([listed(room, 2), until(room, 2)]).toEqual(['reviewing on ag_ana ag_bo []', 32]);
    expect(listed(room, 32)).toBe('reviewing on ag_ana ag_bo [no review]');
    room.pass(20).call('bo');
    expect([listed(room, 32), until(room, 32)]).toEqual(['reviewing on ag_ana ag_bo []', 37]);
    expect([listed(room, 37), until(room, 38)]).toEqual(['reviewing on ag_ana ag_bo [no review]', 92]);
    // A call of the moment before is told of a little later.
    expect(until(room, 37)).toBe(37 + 1 / 60);
  });

  test('B8, V2: no chip `no review` where there is one that is hidden', () => {
    const room = opened().submit('ana');
    expect([listed(room, 95), until(room, 2)]).toEqual(['reviewing on ag_bo []', null]);
  });

  test('nothing else but an event changes it', () => {
    expect(until(opened().barista(false), 2)).toBeNull();
    expect(until(opened().pullRequest('merged'), 2)).toBeNull();
    expect(until(closed({ author: true }), 3)).toBeNull();
    expect(until(closed().pass(60), 63)).toBeNull();
  });
});

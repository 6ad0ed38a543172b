import { expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge } from '../../activities/forge/port.js';
import { Ci } from '../../mcp-server/calls/world.js';
import type { Store } from '../../prisma/store.js';
import { PATIENT } from '../support/edge.js';
import { aRoom } from '../support/room.js';

test('V5: CI is not waited for without end: it is unknown', async () => {
  const now = () => 0;
  const silent: Forge = { ...createLocalForge({ allowedRoots: [], now }), ci: () => new Promise(() => {}) };
  const ci = new Ci({ forge: silent, now, store: {} as Store, timeLimits: { ...PATIENT, ci: 20 } });
  expect(await ci.of(aRoom().state.pullRequest, 'a'.repeat(40))).toEqual({
    state: 'unknown',
    summary: 'CI could not be read just now.',
    url: null,
  });
});

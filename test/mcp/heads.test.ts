import { renameSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { Forge } from '../../activities/forge/port.js';
import { Heads } from '../../mcp-server/calls/heads.js';
import { aRoom } from '../support/room.js';
import { GitWorld } from '../support/git-world.js';
import { PATIENCE } from '../support/patience.js';
import { startWorld, type World } from '../support/world.js';

describe('V4: the head', () => {
  let git: GitWorld;
  let reads: number;
  let now: number;
  let heads: Heads;
  const room = () => ({ ...aRoom().state, pullRequest: { forge: 'local' as const, key: 'k', repository: 'r', url: git.pullRequest } });

  beforeEach(() => {
    git = new GitWorld();
    git.push({ a: '1\n' });
    reads = 0;
    now = aRoom().state.head.since;
    const real = createLocalForge({ allowedRoots: [git.path], now: () => now });
    const counted: Forge = { ...real, head: (ref) => (reads++, real.head(ref)) };
    heads = new Heads(counted, () => now, PATIENCE.timeout);
  });
  afterEach(() => git.dispose());

  test('is read at most once in 30 seconds for all callers that only show it', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => heads.shown(room())));
    expect(new Set(answers.map((answer) => answer?.head.headSha))).toEqual(new Set([git.head('topic')]));
    expect(reads).toBe(1);
    now += 29_999;
    git.push({ a: '2\n' });
    expect((await heads.shown(room()))!.fresh).toBe(false);
    expect(reads).toBe(1);
    now += 1;
    expect(await heads.shown(room())).toMatchObject({ fresh: true, head: { headSha: git.head('topic') } });
    expect(reads).toBe(2);
  });

  test('is read again at once where the room has heard of another since', async () => {
    await heads.shown(room());
    now += 1_000;
    const heard = { ...room(), head: { ...room().head, since: now } };
    git.push({ a: '2\n' });
    expect((await heads.shown(heard))!.head.headSha).toBe(git.head('topic'));
    expect(reads).toBe(2);
  });

  test('is read anew by whoever decides on it, with what it knew', async () => {
    await heads.shown(room());
    const head = git.push({ a: '2\n' });
    expect(await heads.forCommand(room())).toMatchObject({ sha: head, state: 'open', knownSeq: 1, move: null });
    expect(reads).toBe(2);
  });

  test('is null when it cannot be read', async () => {
    const elsewhere = { ...room(), pullRequest: { ...room().pullRequest, url: 'local:/nowhere/at/all?base=main&head=topic' } };
    expect(await heads.shown(elsewhere)).toBeNull();
  });

  test('is not waited for without end: it is unknown to whoever shows it, and whoever decides on it is told so', async () => {
    const silent: Forge = { ...createLocalForge({ allowedRoots: [], now: () => now }), head: () => new Promise(() => {}) };
    const impatient = new Heads(silent, () => now, 20);
    expect(await impatient.shown(room())).toBeNull();
    await expect(impatient.forCommand(room())).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The forge did not answer within 0.02 seconds.',
    });
  });
});

describe('while the forge cannot be reached', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());
  const away = (path: string) => `${path}-away`;

  test('N2, N1, O1, S9: a round closes anyway and the note says so; next and open are refused, roles first, and a repeat is none', async () => {
    const [lead, other] = [await world.agent('ann'), await world.agent('bob')];
    const room = await world.room({ agents: [lead, other] });
    const opened = await world.ok(lead, 'open_review_round', { room });
    renameSync(world.git.path, away(world.git.path));
    try {
      expect(await world.ok(lead, 'open_review_round', { room })).toEqual(opened);
      expect(await world.refused(lead, 'open_review_round', { room, request_id: 'another' })).toMatchObject({ code: 'round_open' });
    } finally {
      renameSync(away(world.git.path), world.git.path);
    }
    for (const agent of [lead, other]) await world.ok(agent, 'submit_review', { room, verdict: 'approve', summary: 's', findings: [] });
    renameSync(world.git.path, away(world.git.path));
    try {
      expect(await world.refused(lead, 'next_round', { room })).toMatchObject({ code: 'forge_unavailable' });
      expect((await world.ok(lead, 'get_review_round', { room })).round.state).toBe('open');
      expect((await world.ok(lead, 'close_review_round', { room })).round).toMatchObject({ number: 1, state: 'closed' });
      expect(await world.refused(lead, 'open_review_round', { room })).toMatchObject({ code: 'forge_unavailable' });
      expect(await world.refused(other, 'open_review_round', { room })).toMatchObject({ code: 'role_required' });
      const { messages } = await world.ok(lead, 'wait_for_messages', { room, timeout_seconds: 0 });
      expect(messages.at(-1).text).toMatch(/could not be (checked|read|reached)/);
    } finally {
      renameSync(away(world.git.path), world.git.path);
    }
    expect((await world.ok(lead, 'open_review_round', { room })).round.number).toBe(2);
  });
});

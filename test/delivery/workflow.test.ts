import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PULL_REQUEST, SkippedDeliveries, heardOf, shown } from '../support/skipped-deliveries.js';
import { commit } from '../support/skipped-time.js';
import type { AccessHeard } from '../../workflows/delivery/heard.js';

let world: SkippedDeliveries;
beforeAll(async () => {
  world = await SkippedDeliveries.start();
});
afterAll(() => world?.stop());
beforeEach(() => world.reset());

const HOUR = 3_600;
const lastLook = () => Number(world.asked.at(-1)!.replace('look ', ''));

describe('P4: a head read that lags behind what was heard is read again', () => {
  test('shown at once: one read, told to every room, over', async () => {
    const [one, two] = [await world.room(), await world.room()];
    expect(await world.ends(heardOf('pushed'))).toEqual({
      what: 'pull request pushed',
      rooms: { [one]: 'told', [two]: 'told' },
      opened: [],
    });
    expect(world.asked).toEqual(['look 0']);
    for (const room of [one, two]) expect(await world.told(room)).toEqual(['a2 open']);
  });

  test('shown after 15 seconds: read at 2, 5 and 15, told when it differs', async () => {
    const room = await world.room();
    world.forge = (seconds) => shown(seconds < 15 ? 'a1' : 'a2');
    await world.ends(heardOf('pushed'));
    expect(world.asked).toEqual(['look 0', 'look 2', 'look 5', 'look 15']);
    expect(await world.told(room)).toEqual(['a2 open']);
  });

  test('404 for a fresh commit is a lag too', async () => {
    const room = await world.room();
    world.forge = (seconds) => (seconds < 5 ? { kind: 'unread', trouble: 'not_found', why: 'no such commit', rooms: [] } : shown('a2'));
    await world.ends(heardOf('pushed'));
    expect(world.asked).toEqual(['look 0', 'look 2', 'look 5']);
    expect(await world.told(room)).toEqual(['a2 open']);
  });

  test('an old delivery never finds its head: it changes nothing, and ends after a minute', async () => {
    const room = await world.room();
    world.forge = () => shown('a1');
    expect(await world.ends(heardOf('pushed'))).toMatchObject({ rooms: { [room]: 'knew' } });
    expect(world.asked).toEqual(['look 0', 'look 2', 'look 5', 'look 15', 'look 60']);
    expect(await world.told(room)).toEqual([]);
  });

  test('merged, but shown as open: read again', async () => {
    const room = await world.room();
    world.forge = (seconds) => shown('a2', { state: seconds < 2 ? 'open' : 'merged' });
    world.known = commit('a2');
    await world.ends(heardOf('merged'));
    world.known = commit('a1');
    expect(world.asked).toEqual(['look 0', 'look 2']);
    expect(await world.told(room)).toEqual(['a2 merged']);
  });

  test('the details say what was heard, what was read, who was told, and what it waits for', async () => {
    const room = await world.room();
    world.forge = (seconds) => shown(seconds < 60 ? 'a1' : 'a2');
    const handle = await world.comes(heardOf('pushed'));
    await expect.poll(() => world.details(handle)).toMatch(/looks again at \d{4}-/);
    expect(await world.details(handle)).toContain(`room \`${room}\` knew it already`);
    await handle.result();
    expect(await world.details(handle)).toBe(
      `**pull request pushed** · ${PULL_REQUEST.url}\n- heard: head \`a200000\`\n- read: head \`a200000\`, open\n- room \`${room}\` was told`,
    );
  });
});

describe('P4: a delivery that died half way is taken again when it comes again', () => {
  test('one that is done is not done again', async () => {
    await world.room();
    await world.ends(heardOf('pushed'), 'once-and-done');
    expect(await world.take({ forge: 'github', id: 'once-and-done', heard: heardOf('pushed') }, 0)).toBe('done');
    expect(world.asked).toEqual(['look 0']);
  });

  test('refused by the forge it fails, and the next one of the same id does it', async () => {
    await world.room();
    world.forge = () => ({ kind: 'unread', trouble: 'refused', why: 'The App is not installed.', rooms: [] });
    await expect(world.ends(heardOf('pushed'), 'refused-first')).rejects.toSatisfy(
      (error: WorkflowFailedError) => error.cause instanceof ApplicationFailure && error.cause.message === 'The App is not installed.',
    );
    await world.reset();
    const room = await world.room();
    expect(await world.ends(heardOf('pushed'), 'refused-first')).toMatchObject({ rooms: { [room]: 'told' } });
  });

  test('a forge that is away for an hour: the rooms are told when it is back', async () => {
    const room = await world.room();
    world.forge = (seconds) => {
      if (seconds < HOUR) throw ApplicationFailure.create({ type: 'forge_away', message: 'away', nextRetryDelay: '10m' });
      return shown('a2');
    };
    expect(await world.ends(heardOf('pushed'))).toMatchObject({ rooms: { [room]: 'told' } });
    expect(lastLook()).toBeGreaterThanOrEqual(HOUR);
    expect(lastLook()).toBeLessThan(HOUR + 2 * 600);
  });

  test('one that is away for a day: it fails after six hours, and can be taken again', async () => {
    await world.room();
    world.forge = () => {
      throw ApplicationFailure.create({ type: 'forge_away', message: 'away', nextRetryDelay: '1h' });
    };
    await expect(world.ends(heardOf('pushed'), 'away-for-long')).rejects.toThrow(WorkflowFailedError);
    expect(lastLook()).toBeGreaterThanOrEqual(4 * HOUR);
    expect(lastLook()).toBeLessThan(6 * HOUR);
    await world.reset();
    const room = await world.room();
    expect(await world.ends(heardOf('pushed'), 'away-for-long')).toMatchObject({ rooms: { [room]: 'told' } });
  });
});

describe('who is told', () => {
  test('nobody stands on it: the forge is not asked for a second look', async () => {
    expect(await world.ends(heardOf('pushed'))).toEqual({ what: 'pull request pushed', rooms: {}, opened: [] });
    expect(world.asked).toEqual(['look 0']);
  });

  test('a room that has just ended is no fault', async () => {
    const [one, two] = [await world.room(), await world.room()];
    const handle = world.env.client.workflow.getHandle(`room/${one}`);
    await handle.signal('end');
    await expect.poll(async () => (await handle.describe()).status.name).toBe('COMPLETED');
    expect(await world.ends(heardOf('pushed'))).toMatchObject({ rooms: { [one]: 'gone', [two]: 'told' } });
  });

  test('V5: what was heard of CI makes what was read of it old', async () => {
    await world.ends({ kind: 'ci', repository: PULL_REQUEST.repository, headSha: commit('a2'), key: null });
    expect([world.recorded, world.asked]).toEqual([['CI'], ['ci a2']]);
  });

  test('what is ignored is kept with its reason', async () => {
    expect(await world.ends({ kind: 'ignored', reason: 'nothing is done on ping events' })).toEqual({
      what: 'ignored: nothing is done on ping events',
      rooms: {},
      opened: [],
    });
    expect([world.recorded, world.asked]).toEqual([['ignored: nothing is done on ping events'], []]);
  });
});

describe('rooms that open by themselves', () => {
  test('are opened once each, however often it looks', async () => {
    world.owners = ['us_olga', 'us_kim'];
    world.forge = (seconds) => shown(seconds < 2 ? 'a1' : 'a2');
    expect(await world.ends(heardOf('opened'))).toMatchObject({ opened: ['room-of-us_olga', 'room-of-us_kim'] });
    expect(world.asked).toEqual(['look 0', 'open us_olga', 'open us_kim', 'look 2']);
  });

  test('one that cannot be opened keeps no other from it, and the delivery can be taken again', async () => {
    world.owners = ['us_olga', 'us_kim'];
    world.opens = (owner) => {
      if (owner === 'us_olga') throw ApplicationFailure.nonRetryable('The App may not read it.');
      return { slug: 'room-of-kim', why: 'room opened' };
    };
    await expect(world.ends(heardOf('opened'), 'half-opened')).rejects.toThrow(WorkflowFailedError);
    expect(world.asked.slice(-2)).toEqual(['open us_olga', 'open us_kim']);
    world.opens = (owner) => ({ slug: `room-of-${owner}`, why: 'room opened' });
    expect(await world.ends(heardOf('opened'), 'half-opened')).toMatchObject({ opened: ['room-of-us_olga', 'room-of-us_kim'] });
  });

  test('a push opens none', async () => {
    world.owners = ['us_olga'];
    await world.ends(heardOf('pushed'));
    expect(world.asked).toEqual(['look 0']);
  });
});

describe('B29: what an App may reach', () => {
  const access = (what: AccessHeard['what']): AccessHeard => ({
    kind: 'access',
    what,
    repositories: [PULL_REQUEST.repository],
    identity: 'operator',
    account: 'octo-org',
    place: 'https://github.com',
    url: null,
  });

  test('taken: the rooms there know at once that their pull request cannot be read', async () => {
    const room = await world.room();
    world.pullRequests = [PULL_REQUEST];
    world.forge = () => ({ kind: 'unread', trouble: 'refused', why: 'The App is not installed.', rooms: [room] });
    expect(await world.ends(access('taken'))).toMatchObject({ what: 'access taken', rooms: { [room]: 'told' } });
    expect(await world.told(room)).toEqual([{ trouble: 'refused', brokenSince: expect.any(Number) as number }]);
  });

  test('given again: they are told of the head', async () => {
    const room = await world.room();
    world.pullRequests = [PULL_REQUEST];
    await world.ends(access('given'));
    expect(await world.told(room)).toEqual(['a2 open']);
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../mcp-server/server.js';
import { freePort } from '../../stack/ports.js';
import { settings, silent, startEdge, type Edge } from '../support/edge.js';
import { ProjectedRoom } from '../support/store.js';
import { barista, firstJson, start, type Running } from '../support/command.js';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

async function alert(name: string): Promise<string> {
  const room = await ProjectedRoom.open(edge.store, name, { barista: true });
  await room.do((r) => r.join('ana').open('ana').emit({ type: 'IdleRanOut', number: 1 }));
  return room.slug;
}

const env = (url: string) => ({ BARISTA_URL: url, BARISTA_KEY: edge.owner.key });
/** In a whole line: what comes may come in pieces. */
const saw = (watch: Running, text: string) =>
  watch.saw((out) => (out.slice(0, out.lastIndexOf('\n') + 1).includes(text) ? true : undefined));

async function stop(watch: Running): Promise<void> {
  watch.child.kill('SIGINT');
  expect(await watch.ended).toMatchObject({ code: 0, err: '' });
}

test('B29: barista watch prints a line an alert as it comes, goes on over a restart of the server, and ends with Ctrl-C', async () => {
  const onOnePort = { ...settings(edge.databaseUrl), port: await freePort() };
  const stopped = await startServer(onOnePort, silent);
  const { url } = stopped;
  const old = await alert('old');
  const watch = start(['watch', '--after', '0'], env(url));
  await saw(watch, old);
  const slug = await alert('fresh');
  await saw(watch, slug);
  expect(watch.out().split('\n')[1]).toBe(
    `2030-01-07 12:00  ${slug}  Round 1 has no review: whoever it waits for has been idle for 30 minutes. It needs a reviewer.  ${url}/rooms/${slug}`,
  );

  await stopped.stop();
  const missed = await alert('missed');
  const server = await startServer(onOnePort, silent);
  try {
    await saw(watch, missed);
    expect(watch.out().trimEnd().split('\n')).toHaveLength(3);
    await stop(watch);

    const json = start(['watch', '--json', '--after', '0'], env(url));
    const first = await json.saw(firstJson);
    expect(first).toMatchObject({ room: old, kind: 'no_review', round: 1 });
    await saw(json, missed);
    await stop(json);

    // From now on, and from the one it had last.
    const on = start(['watch', '--json', '--after', first.id], env(url));
    expect(await on.saw(firstJson)).toMatchObject({ room: slug });
    await stop(on);
  } finally {
    await server.stop();
  }
});

test('barista watch says what is wrong and ends: no server, no such alert', async () => {
  const away = await barista(['watch'], env('http://127.0.0.1:9'));
  expect(away).toMatchObject({ code: 1, out: '', err: expect.stringContaining('No Barista server answers') });
  const wrong = await barista(['watch', '--after', 'al_none'], env(edge.server.url));
  expect(wrong).toMatchObject({ code: 1, out: '', err: expect.stringContaining('last-event-id: must be the id of an alert of yours') });
});

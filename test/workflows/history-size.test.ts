// What a room's history costs, counted on Temporal's own server with the real activities (DESIGN, History stays small).
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HEAD_SIGNAL, roomWorkflowId } from '../../workflows/messages.js';
import type { Person } from '../mcp/edge.js';
import { startWorld, type World } from '../mcp/world.js';

/** Events at most, but for a first reveal and a change of head. */
const WRITE = 9;
const DEADLINE = 15;

let world: World;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  world = await startWorld();
  connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! });
}, 120_000);
afterAll(async () => {
  await connection.close();
  await world.stop();
});

async function eventsOf(room: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(roomWorkflowId(room)).fetchHistory();
  return events!.map(({ eventType }) => String(eventType));
}

/** A room's history once nothing more comes of what happened. */
async function settledEvents(room: string): Promise<string[]> {
  for (let before = await eventsOf(room); ; ) {
    await delay(300);
    const after = await eventsOf(room);
    if (after.length === before.length) return after;
    before = after;
  }
}

/** The events that `act`, and all that comes of it, add to the room's history. */
async function added(room: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = await settledEvents(room);
  await act();
  return (await settledEvents(room)).slice(before.length);
}

test('x', async () => {
    const crew = [await world.agent('xx'), await world.agent('yy'), await world.agent('zz')];
    const room = await world.room({ barista: true, agents: crew, durations: { head_quiet: 'PT2S', remind_after: 'PT6S', working_window: 'PT1S', idle_close: 'PT12S', draft_reminder: 'PT5S', draft_handoff: 'PT10S'  } });
    let n = 0;
    const t0 = Date.now();
    let submitted = false;
    while (Date.now() - t0 < 60_000) {
      const e = await eventsOf(room);
      if (e.length > n) console.log(((Date.now() - t0) / 1000).toFixed(1), e.slice(n).join(' '));
      n = e.length;
      if (!submitted && e.length > 40 && Date.now() - t0 > 5000) { submitted = true; await world.ok(crew[0]!, 'submit_review', { room, verdict: 'comment', summary: 's', findings: [] }); }
      await delay(500);
    }
    console.log((await world.ok(crew[0]!, 'wait_for_messages', { room, timeout_seconds: 0 })).messages.map((m: any) => m.at + m.text).join('\n'));
}, 100_000);

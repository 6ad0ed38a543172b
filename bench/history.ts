import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { roomWorkflowId } from '../workflows/messages.js';
import type { BenchClient } from './client.js';
import type { Row } from './measure.js';
import { manyFiles, repositoryOf } from './repository.js';

interface Size {
  readonly events: number;
  readonly bytes: number;
}

/** What a room's history grows by. The limits are held by a test; here they are seen. */
export async function historyRows(client: BenchClient, temporal: Client): Promise<Row[]> {
  const repository = repositoryOf(manyFiles(2));
  try {
    const crew = [await client.agent('gil'), await client.agent('hal')] as const;
    const room = await client.room(repository.pullRequest, crew, {
      barista: true,
      durations: { head_quiet: 'PT1S', remind_after: 'PT3S', working_window: 'PT1S' },
    });
    const [lead, other] = crew;
    const size = async (): Promise<Size> => {
      const { historyLength, historySize } = await temporal.workflow.getHandle(roomWorkflowId(room)).describe();
      return { events: historyLength, bytes: historySize ?? 0 };
    };
    /** Once nothing more comes of what happened. */
    const settled = async (): Promise<Size> => {
      for (let before = await size(); ;) {
        await delay(500);
        const after = await size();
        if (after.events === before.events) return after;
        before = after;
      }
    };
    const grown = async (act: () => Promise<unknown>): Promise<Size> => {
      const before = await settled();
      await act();
      const after = await settled();
      return { events: after.events - before.events, bytes: after.bytes - before.bytes };
    };
    const until = async (happened: (notes: string) => boolean): Promise<void> => {
      for (;;) {
        const { messages } = await client.tool(lead, 'wait_for_messages', { room, timeout_seconds: 0 });
        if (happened(JSON.stringify(messages))) return;
        await delay(100);
      }
    };
    const review = (summary: string) => ({ room, verdict: 'approve', summary, findings: [] });
    const start = await size();
    await until((notes) => notes.includes('round 1 opened'));
    const reminder = await grown(() => until((notes) => notes.includes('waits for your review')));
    const write = await grown(() => client.tool(lead, 'submit_review', review('One.')));
    const reads = await grown(async () => {
      await client.tool(lead, 'get_review_round', { room });
      await client.tool(lead, 'get_pr_context', { room });
      await client.tool(lead, 'wait_for_messages', { room, timeout_seconds: 0 });
      await client.tool(other, 'post_message', { room, text: 'Hello.' });
    });
    await client.tool(other, 'submit_review', review('Two.'));
    await until((notes) => notes.includes('draft the review'));
    await client.tool(lead, 'draft_review', { room, verdict: 'approve', body: 'Good.', findings: [] });
    const end = await settled();
    return [
      ...rows('a lone write (submit_review)', write),
      ...rows('a deadline (a reminder)', reminder),
      ...rows('a read, a page, a poll and a message', reads),
      ...rows('a round of two reviewers, from joining to the draft', { events: end.events - start.events, bytes: end.bytes - start.bytes }),
    ];
  } finally {
    rmSync(repository.path, { recursive: true, force: true });
  }
}

function rows(what: string, { events, bytes }: Size): Row[] {
  return [
    { what: `history: ${what}`, p50: events, unit: 'events' },
    { what: `history: ${what}`, p50: bytes, unit: 'bytes' },
  ];
}

import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchClient } from './client.js';
import { against, percentiles, timed, type Row, type Timing } from './measure.js';
import { longLine, manyFiles, repositoryOf } from './repository.js';
import { residentOf } from './resident.js';

const LARGE = 3_400;
const LONG_LINE = 17_000_000;

const findings = [1, 2, 3].map((line) => ({
  path: 'src/area-0/file-0.ts',
  line,
  severity: 'minor',
  body: `A remark on line ${line}, in a sentence or two.`,
}));

/** What callers wait for, over HTTP, against a bare Update. */
export async function callRows(client: BenchClient, url: string, bare: Timing, runs: number): Promise<Row[]> {
  const [ann, bob] = [await client.agent('ann'), await client.agent('bob')];
  const small = repositoryOf(manyFiles(2));
  const large = repositoryOf(manyFiles(LARGE));
  const long = repositoryOf([longLine(LONG_LINE)]);
  try {
    const room = await client.room(small.pullRequest, [ann, bob]);
    await client.tool(ann, 'open_review_round', { room });
    const submit = await timed(runs, (at) =>
      client.tool(ann, 'submit_review', { room, verdict: 'comment', summary: `Take ${at}.`, findings }),
    );
    const read = await timed(runs, () => client.tool(ann, 'get_review_round', { room }));
    const wake = await wakeUp(client, { room, waiter: ann, poster: bob }, Math.ceil(runs / 2));

    const wide = await client.room(large.pullRequest, [ann]);
    const beganFirst = performance.now();
    const { page_count: pages } = await client.tool(ann, 'get_pr_context', { room: wide });
    const firstPage = performance.now() - beganFirst;
    const next = await timed(runs, (at) => client.tool(ann, 'get_pr_context', { room: wide, page: 2 + (at % (pages - 1)) }));

    const heavy = await client.room(long.pullRequest, [ann]);
    const before = await residentOf(url);
    const beganLong = performance.now();
    await client.tool(ann, 'get_pr_context', { room: heavy });
    const longPage = performance.now() - beganLong;
    const after = await residentOf(url);
    return [
      against(bare, 'submit_review, whole, by MCP over HTTP', submit),
      against(bare, 'get_review_round', read),
      against(bare, 'wait_for_messages: from post to answer', wake),
      { what: `get_pr_context: the first page of ${LARGE} files, never read before`, p50: firstPage, unit: 'ms' },
      against(bare, `get_pr_context: a next page of ${pages}`, next),
      { what: 'get_pr_context: a file of one 17 MB line', p50: longPage, unit: 'ms' },
      { what: "the server's memory grew by, for that", p50: Math.max(0, after - before) / 2 ** 20, unit: 'MiB' },
    ];
  } finally {
    for (const { path } of [small, large, long]) rmSync(path, { recursive: true, force: true });
  }
}

interface Two {
  readonly room: string;
  readonly waiter: string;
  readonly poster: string;
}

/** From the moment that one posts to the moment that another's wait is answered. */
async function wakeUp(client: BenchClient, { room, waiter, poster }: Two, runs: number): Promise<Timing> {
  let after = (await client.tool(waiter, 'join_room', { room })).last_message_id as string;
  const taken: number[] = [];
  for (let at = 0; at < runs; at++) {
    const waiting: Promise<{ last_message_id: string }> = client.tool(waiter, 'wait_for_messages', { room, after, timeout_seconds: 40 });
    await delay(50); // until the wait has surely begun
    const began = performance.now();
    const [answer] = await Promise.all([waiting, client.tool(poster, 'post_message', { room, text: `Message ${at}.` })]);
    taken.push(performance.now() - began);
    after = answer.last_message_id;
  }
  return percentiles(taken);
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchClient } from './client.js';
import { timed, type Row, type Timing } from './measure.js';
import { residentOf } from './resident.js';

/** GitHub lists 3 000 files of a pull request, GitLab 1 000 or 3 000. */
const FILES = 3_400;
const LINE_BYTES = 17_000_000;

/** What the pull request changes: so many files, or one line of so many bytes beside a small file. */
export type Shape = 'files' | 'line';

export interface ForgesReady {
  /** Settings that a server reaches them by. */
  readonly env: Record<string, string>;
  /** The same branch of the same repository, on each forge; `local` comes last. */
  readonly pullRequests: Readonly<Record<'GitHub' | 'GitLab' | 'local', string>>;
}

interface Forges extends ForgesReady {
  change(shape: Shape, size: number): Promise<void>;
  stop(): Promise<void>;
}

/** A GitHub and a GitLab over HTTP, both of one real repository, with the caps of the real ones. */
export async function startForges(): Promise<Forges> {
  const child = fork(fileURLToPath(new URL('./fake-forges.ts', import.meta.url)), { execArgv: ['--import', import.meta.resolve('tsx')] });
  const exited = once(child, 'exit');
  const [ready] = (await once(child, 'message')) as [ForgesReady];
  return {
    ...ready,
    async change(shape, size) {
      const done = once(child, 'message');
      child.send({ shape, size });
      await done;
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}

interface Read {
  readonly first: number;
  readonly later: Timing;
  readonly laterOf: string;
  /** MiB that the server held at its highest, above what it holds idle. */
  readonly peak: number;
  /** `whole`, or how many gaps are named. */
  readonly how: string;
}

/** Pull requests past what the forges list and show, read by a reviewer, beside the same commits read from the disk. */
export async function forgeRows(client: BenchClient, url: string, forges: Forges, runs: number): Promise<Row[]> {
  const reader = await client.agent('fay');
  const idle = await residentOf(url);
  const rows: Row[] = [];
  const measure = async (what: string, files: number): Promise<void> => {
    const reads = new Map<string, Read>();
    for (const [name, pullRequest] of Object.entries(forges.pullRequests)) {
      const room = await client.room(pullRequest, [reader]);
      reads.set(name, await readWhole(client, { url, reader, room, files, idle, runs }));
    }
    const local = reads.get('local')!;
    for (const [name, read] of reads) {
      const beside = (timing: Timing, other: Timing) =>
        name === 'local' ? {} : { local: { p50: timing.p50 / other.p50, p95: timing.p95 / other.p95 } };
      const once = (ms: number): Timing => ({ p50: ms, p95: ms });
      const at = `${name}, ${what}`;
      rows.push(
        {
          what: `${at}: the first page, never read before (${read.how})`,
          p50: read.first,
          unit: 'ms',
          ...beside(once(read.first), once(local.first)),
        },
        { what: `${at}: ${read.laterOf}`, ...read.later, unit: 'ms', ...beside(read.later, local.later) },
        { what: `${at}: the server's memory at its highest, above idle`, p50: read.peak, unit: 'MiB' },
      );
    }
  };
  await forges.change('files', FILES);
  await measure(`${FILES} files`, FILES);
  await forges.change('line', LINE_BYTES);
  await measure('one line of 17 MB', 2);
  return rows;
}

interface Asked {
  readonly url: string;
  readonly reader: string;
  readonly room: string;
  readonly files: number;
  /** Bytes. */
  readonly idle: number;
  readonly runs: number;
}

/** @throws {Error} where files are missing and no gap says so (C9) */
async function readWhole(client: BenchClient, { url, reader, room, files, idle, runs }: Asked): Promise<Read> {
  const page = (number: number) => client.tool(reader, 'get_pr_context', { room, page: number });
  const began = performance.now();
  const { peak, value } = await watched(url, () => page(1));
  const first = performance.now() - began;
  const { gaps, file_count: listed, page_count: pages } = value;
  if (listed !== files && gaps.length === 0) throw new Error(`${room} shows ${listed} of ${files} files and names no gap.`);
  const later = await timed(runs, (at) => page(pages === 1 ? 1 : 2 + (at % (pages - 1))));
  const laterOf = pages === 1 ? 'the page again, its texts read anew' : 'a later page, from what is kept';
  return {
    first,
    later,
    laterOf,
    peak: Math.max(0, peak - idle) / 2 ** 20,
    how: gaps.length === 0 ? 'whole' : `${gaps.length} gaps named`,
  };
}

/** The most bytes that the server held while `run` ran. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the contract's JSON
async function watched(url: string, run: () => Promise<any>): Promise<{ peak: number; value: any }> {
  let [peak, running] = [0, true];
  const look = async () => {
    while (running) {
      peak = Math.max(peak, await residentOf(url));
      await delay(20);
    }
    peak = Math.max(peak, await residentOf(url));
  };
  const looking = look();
  try {
    const value = await run();
    running = false;
    await looking;
    return { value, peak };
  } finally {
    running = false;
  }
}

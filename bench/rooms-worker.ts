// The worker of the many rooms: a process of its own, so that what it holds can be weighed.
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { createActivities } from '../activities/index.js';
import type { Forge } from '../activities/forge/port.js';
import { createStore } from '../prisma/store.js';

/** A forge on which nothing ever moves; whatever else a room asked of it would be a fault of the benchmark. */
const still = {
  headFingerprint: () => Promise.resolve('still'),
  head: () => Promise.resolve({ headSha: 'a'.repeat(40), baseSha: 'b'.repeat(40), baseRefSha: 'b'.repeat(40), state: 'open', readAt: 0 }),
} as unknown as Forge;

async function main(): Promise<void> {
  const { DATABASE_URL, BENCH_TEMPORAL, BENCH_TASK_QUEUE, BENCH_ROOMS } = process.env as Record<string, string>;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const now = (): number => Date.now();
  const store = createStore({ url: DATABASE_URL!, now });
  const connection = await NativeConnection.connect({ address: BENCH_TEMPORAL! });
  const worker = await Worker.create({
    connection,
    taskQueue: BENCH_TASK_QUEUE!,
    workflowsPath: fileURLToPath(new URL('../workflows/review-room.ts', import.meta.url)),
    activities: createActivities({ store, forge: still, now, log: pino({ level: 'silent' }) }),
    maxCachedWorkflows: Number(BENCH_ROOMS),
    stickyQueueScheduleToStartTimeout: '1s',
  });
  process.on('message', (asked) => {
    if (asked === 'stop') return worker.shutdown();
    global.gc?.();
    process.send!({ resident: process.memoryUsage.rss() });
  });
  process.on('disconnect', () => process.exit(1)); // nobody is left to measure for
  const running = worker.run();
  process.send!('ready');
  await running;
  await store.close();
  await connection.close();
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { timed, type Timing } from './measure.js';

/** A bare Update of a workflow that does nothing, on the same server. */
export async function bareUpdate(client: Client, address: string, runs: number): Promise<Timing> {
  const taskQueue = `bench-${randomUUID()}`;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./noop.workflow.ts', import.meta.url)),
  });
  const running = worker.run();
  try {
    const handle = await client.workflow.start('noop', { taskQueue, workflowId: taskQueue });
    const timing = await timed(runs, (at) => handle.executeUpdate('bare', { args: [at] }));
    await handle.terminate();
    return timing;
  } finally {
    worker.shutdown();
    await running;
    await connection.close();
  }
}

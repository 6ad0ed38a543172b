import { writeFileSync } from 'node:fs';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** With RECORD_HISTORIES=1, keeps what was lived for `replay.test.ts`. */
export async function keepHistory(name: string, handle: WorkflowHandle): Promise<void> {
  const history = await handle.fetchHistory();
  if (process.env.RECORD_HISTORIES !== '1') return;
  const file = new URL(`./histories/${name.replaceAll(/[^a-z]+/gi, '-')}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(JSON.parse(historyToJSON(history), elsewhere))}\n`);
}

/** Nothing of the machine it was lived on: a stack trace names its folders, an identity its processes. */
function elsewhere(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  return key === 'identity' && typeof value === 'string' ? value.replace(/^\d+@.*/, 'worker') : value;
}

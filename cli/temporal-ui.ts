import type { RunningStack } from '../stack/running.js';

/** Where the Temporal UI shows a workflow: this run of it, else its latest. Null where the UI is not ours to know. */
export function inTemporalUi(
  { temporalUi, temporalNamespace }: Pick<RunningStack, 'temporalUi' | 'temporalNamespace'>,
  workflowId: string,
  runId?: string,
): string | null {
  if (temporalUi === null) return null;
  const workflow = `${temporalUi}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`;
  return runId === undefined ? workflow : `${workflow}/${runId}/history`;
}

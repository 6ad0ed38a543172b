import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { startOptions } from '../activities/room-door/start-options.js';
import { phaseOf } from '../workflows/barista/status.js';
import { ROOM_WORKFLOW, TASK_QUEUE, type RoomInput } from '../workflows/messages.js';
import { seenBy } from '../workflows/room/visibility.js';
import { CommandFailed } from './failure.js';
import { withStore, withTemporal } from './operator.js';

/**
 * DESIGN 12: a run from the stored state, where the room's own is gone.
 * @throws CommandFailed where the room runs, has ended, or was never opened to its end
 */
export async function restartRoom(env: NodeJS.ProcessEnv, slug: string): Promise<{ seq: number; run_id: string }> {
  return withStore(env, async ({ rooms }) => {
    const [row, state] = await Promise.all([rooms.get(slug), rooms.state(slug)]);
    if (!row) throw new CommandFailed(`There is no room ${slug}. barista room list names them.`);
    if (!state) throw new CommandFailed(`Room ${slug} was never opened to its end: barista room open ${row.pullRequest.url} does that.`);
    if (state.ended) throw new CommandFailed(`Room ${slug} has ended (${state.ended.reason}); it does not run any more.`);
    const input: RoomInput = { kind: 'resume', state, outbox: { from: state.seq, events: [] } };
    return withTemporal(env, async ({ client }) => {
      try {
        const run = await client.workflow.start(ROOM_WORKFLOW, {
          ...startOptions(slug, state.pullRequest, phaseOf(seenBy(state, null), Date.now()), TASK_QUEUE),
          args: [input],
          workflowIdConflictPolicy: 'FAIL',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        });
        return { seq: state.seq, run_id: run.firstExecutionRunId };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        throw new CommandFailed(`Room ${slug} runs. To start it again, end its run first (Terminate in the Temporal UI).`);
      }
    });
  });
}

import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import {
  COMMAND_NAMES,
  FLUSH_SIGNAL,
  HEAD_SIGNAL,
  REFUSED,
  type Outbox,
  type RoomInput,
  type UpdateInput,
  type UpdateOutput,
} from '../../workflows/messages.js';
import type { RoomActivities } from '../../workflows/activities.js';
import { apply } from '../../workflows/room/apply.js';
import { decide } from '../../workflows/room/decide/index.js';
import type { HeadSeen, RoomEvent } from '../../workflows/room/events.js';
import type { RoomState } from '../../workflows/room/state.js';

const { project } = proxyActivities<Pick<RoomActivities, 'project'>>({ startToCloseTimeout: '10 s' });

/** The real rules behind the real names, and nothing of Barista: what a door needs to be tried. */
export async function reviewRoom(input: RoomInput): Promise<void> {
  let state: RoomState;
  let outbox: Outbox;
  let flush = false;
  let renew = false;

  if (input.kind === 'resume') {
    ({ state, outbox } = input);
  } else {
    const opened: RoomEvent = { type: 'RoomOpened', ...input.opened, at: Date.now() };
    state = apply(null, opened);
    outbox = { from: 0, events: [opened] };
    flush = true;
  }

  for (const name of COMMAND_NAMES) {
    setHandler(
      defineUpdate<UpdateOutput, [UpdateInput]>(name),
      ({ command, projectedSeq }) => {
        const decision = decide(state, command, Date.now());
        if (decision.kind === 'refused') throw ApplicationFailure.nonRetryable(decision.refusal.message, REFUSED, decision.refusal);
        const events = decision.events.map((fact): RoomEvent => ({ ...fact, at: Date.now() }));
        state = events.reduce<RoomState>(apply, state);
        const kept = [...outbox.events, ...events].slice(Math.max(0, projectedSeq - outbox.from));
        outbox = { from: Math.max(outbox.from, projectedSeq), events: kept };
        return { result: decision.result, seq: state.seq, events };
      },
      {
        validator: ({ command }) => {
          const decision = decide(state, command, Date.now());
          if (decision.kind === 'refused') throw ApplicationFailure.nonRetryable(decision.refusal.message, REFUSED, decision.refusal);
        },
      },
    );
  }
  setHandler(defineSignal(FLUSH_SIGNAL), () => void (flush = true));
  setHandler(defineSignal('renew'), () => void (renew = true));
  setHandler(defineSignal<[HeadSeen]>(HEAD_SIGNAL), ({ state: pullRequest }) => {
    const event: RoomEvent = { type: 'PullRequestChanged', state: pullRequest, at: Date.now() };
    state = apply(state, event);
    outbox = { from: outbox.from, events: [...outbox.events, event] };
    flush = true;
  });

  while (!state.ended || outbox.events.length > 0) {
    await condition(() => flush || renew || state.ended !== null);
    if (flush || state.ended) {
      flush = false;
      const batch = outbox;
      const { seq } = await project({ slug: state.slug, ...batch });
      const done = Math.max(0, seq - outbox.from);
      outbox = { from: outbox.from + done, events: outbox.events.slice(done) };
    }
    if (renew && !state.ended) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof reviewRoom>({ kind: 'resume', state, outbox });
    }
  }
  await condition(allHandlersFinished);
}

import { ApplicationFailure } from '@temporalio/common';
import { ProjectionConflict, NoSuchRoom } from '../prisma/store.js';
import type { RoomActivities } from '../workflows/activities.js';
import { PROJECTION_CONFLICT } from '../workflows/messages.js';
import { callsOf } from '../workflows/barista/idle.js';
import type { ActivityDeps } from './deps.js';
import { createAssembleDraft } from './assemble-draft.js';
import { lookAtHead } from './head.js';
import { keepContext } from './keep-context.js';
import { createPostReview } from './post-review.js';
import { createWatchHead } from './watch-head.js';

/** What rooms do in the world. Each may run twice, or again after it has worked; none minds. */
export function createActivities(deps: ActivityDeps): RoomActivities {
  const { store, forge } = deps;
  return {
    async project({ slug, from, events }) {
      try {
        const projected = await store.project(slug, { from, events });
        if (projected.kind === 'behind') throw new ProjectionConflict(slug, projected.seq + 1, 'is missing, and the room no longer has it');
        return { seq: projected.seq };
      } catch (error) {
        if (error instanceof ProjectionConflict || error instanceof NoSuchRoom) {
          throw ApplicationFailure.nonRetryable(error.message, PROJECTION_CONFLICT);
        }
        throw error;
      }
    },
    async readCalls({ slug, round }) {
      return callsOf(await store.spans.spans(slug, round));
    },
    async readHead({ keep, ...known }) {
      const seen = await lookAtHead(forge, known);
      if (keep) await keepContext(deps, known.pullRequest, { baseSha: seen.baseSha, headSha: seen.sha });
      return seen;
    },
    watchHead: createWatchHead(deps),
    assembleDraft: createAssembleDraft(deps),
    postReview: createPostReview(deps),
  };
}

import type { DeliveryActivities } from '../../workflows/delivery/activities.js';
import type { ActivityDeps } from '../deps.js';
import type { Door } from '../room-door.js';
import { createChangeAccess } from './access.js';
import { createOpenAutomaticRoom } from './automatic-room.js';
import { createLook } from './look.js';

export interface DeliveryDeps extends ActivityDeps {
  readonly door: Door;
}

/** What deliveries do in the world. Each may run twice, or again after it has worked; none minds. */
export function createDeliveryActivities(deps: DeliveryDeps): DeliveryActivities {
  const { store, now } = deps;
  return {
    async recordDelivery({ delivery: { forge, id }, what, at }) {
      await store.deliveries.came(forge, { id, what, at });
    },
    async hearCi({ repository, sha, key }) {
      // What ran for a pull request may have run on a commit made for it: its head's is as old then.
      for (const ran of [sha, ...(key == null ? [] : [key])]) await store.deliveries.ciHeard(repository, ran, now());
    },
    lookAtPullRequest: createLook(deps),
    openAutomaticRoom: createOpenAutomaticRoom(deps),
    changeAccess: createChangeAccess(deps),
  };
}

import { ownerTopic, type StoredAlert } from '../../prisma/store.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { Call } from '../deps.js';
import { iso } from '../views/time.js';
import type { EventSource } from './event-stream.js';

/** Stands for the time before the first alert. */
const BEGINNING = '0';

/**
 * B29: what the caller, as an owner, is told from after this alert on; from now on where none is named.
 * @throws Refusal `invalid`, naming `field`, for what is no alert of the caller's
 */
export async function alertsAfter(after: string | undefined, field: string, call: Call): Promise<EventSource> {
  const { alerts } = call.deps.store;
  const owner = call.caller.id;
  const start = after === undefined ? await newest(call) : { id: after, position: await positionOf(after, field, call) };
  let { position } = start;
  return {
    topic: ownerTopic(owner),
    from: start.id,
    async next() {
      const found = await alerts.list(owner, position);
      position = found.at(-1)?.position ?? position;
      return found.length === 0 ? null : found.map((alert) => ({ id: alert.id, event: 'alert', data: wireAlert(alert, call) }));
    },
  };
}

async function newest({ deps, caller }: Call): Promise<{ id: string; position: number }> {
  return (await deps.store.alerts.newest(caller.id)) ?? { id: BEGINNING, position: 0 };
}

async function positionOf(id: string, field: string, { deps, caller }: Call): Promise<number> {
  const position = id === BEGINNING ? 0 : await deps.store.alerts.positionOf(caller.id, id);
  if (position !== null) return position;
  throw new Refusal(
    'invalid',
    `${field}: must be the id of an alert of yours.`,
    'Pass the id of the last alert you have, or 0 for all of them.',
    field,
  );
}

function wireAlert({ id, kind, room, round, text, link, at }: StoredAlert, { deps }: Call) {
  return { id, kind, room, round, text, url: deps.address() + link, at: iso(at) };
}

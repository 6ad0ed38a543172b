import { type SearchAttributeUpdatePair, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from './messages.js';
import type { Calls } from './barista/idle.js';
import { chipsOf, phaseOf, waitingOn } from './barista/status.js';
import { type Step, nextClock } from './barista/step.js';
import { nameOf } from './room/members.js';
import type { RoomState } from './room/state.js';

const phase = defineSearchAttributeKey(SEARCH_ATTRIBUTES.phase, SearchAttributeType.KEYWORD);
const round = defineSearchAttributeKey(SEARCH_ATTRIBUTES.round, SearchAttributeType.INT);
const chips = defineSearchAttributeKey(SEARCH_ATTRIBUTES.chips, SearchAttributeType.KEYWORD_LIST);
const waiting = defineSearchAttributeKey(SEARCH_ATTRIBUTES.waitingOn, SearchAttributeType.KEYWORD_LIST);
const deadline = defineSearchAttributeKey(SEARCH_ATTRIBUTES.nextDeadline, SearchAttributeType.DATETIME);

/** Keeps what operators filter rooms by true; only what changed is written, since each write is an event of history. */
export function publishAttributes(room: RoomState, step: Step, calls: Calls, now: number): void {
  const next = nextClock(step);
  const wanted: SearchAttributeUpdatePair[] = [
    { key: phase, value: phaseOf(room, now) },
    { key: round, value: room.round?.number ?? 0 },
    { key: chips, value: listOrNone(chipsOf(room, calls, now)) },
    { key: waiting, value: listOrNone(waitingOn(room, now).map((id) => nameOf(room, id))) },
    { key: deadline, value: next && new Date(next.at) },
  ];
  const { typedSearchAttributes } = workflowInfo();
  const changed = wanted.filter(({ key, value }) => JSON.stringify(typedSearchAttributes.get(key) ?? null) !== JSON.stringify(value));
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** An empty list is no attribute at all on the server, so it is written as none. */
function listOrNone(values: string[]): string[] | null {
  return values.length === 0 ? null : values;
}

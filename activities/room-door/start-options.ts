import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, roomWorkflowId } from '../../workflows/messages.js';
import type { PullRequest } from '../../workflows/room/state.js';
import type { Phase } from '../../workflows/room/words.js';

/** A killed worker costs a room this long instead of 10 s. */
const WORKFLOW_TASK_TIMEOUT_MS = 3_000;
/** A keyword may be 2 048 bytes long; only a local path comes near. */
const KEYWORD_CHARACTERS = 500;

/** How a room's workflow is started: by the door for a new room, by an operator for one whose run is gone. */
export function startOptions(slug: string, pullRequest: PullRequest, phase: Phase, taskQueue: string) {
  return {
    workflowId: roomWorkflowId(slug),
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    staticSummary: `Reviews ${pullRequest.url.slice(0, 300)}`,
    typedSearchAttributes: [
      keyword(SEARCH_ATTRIBUTES.repository, pullRequest.repository),
      keyword(SEARCH_ATTRIBUTES.pullRequest, pullRequest.key),
      keyword(SEARCH_ATTRIBUTES.phase, phase),
    ],
  };
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, 'KEYWORD'), value: value.slice(0, KEYWORD_CHARACTERS) };
}

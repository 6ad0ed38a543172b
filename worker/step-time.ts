/**
 * For `Worker.create`: how long one step of a workflow may take. The SDK has this limit and does not show it, and takes
 * five seconds where nothing is said; of a step that takes longer, for the machine stands still, Node itself dies
 * (nodejs/node#38503), and with it everything else the process does.
 */
export const STEP_TIME = { isolateExecutionTimeout: '1m' } as const;

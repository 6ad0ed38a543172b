/** How long a test waits for what must come, and how often it looks, in ms: nothing is asserted about time. */
export const PATIENCE = { timeout: 120_000, interval: 20 };

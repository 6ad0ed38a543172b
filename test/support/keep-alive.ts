/**
 * For `keepAliveTimeout` of a server that tests ask: it ends no idle connection by itself. One that it ended after the
 * usual five seconds, while a test's process stood still, would be written to by the next call, which then fails.
 */
export const KEPT_BY_CLIENTS = 0;

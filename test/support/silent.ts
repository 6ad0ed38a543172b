import type { Logger } from '@temporalio/worker';

/** A logger for tests in which failing attempts are part of the play. */
export const silent: Logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

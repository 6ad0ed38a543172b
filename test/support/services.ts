import { inject } from 'vitest';
import type { ServiceName } from './global-setup.js';

/** A fresh database with every migration applied, for this test file alone. @returns its connection string */
export function createDatabase(): Promise<string> {
  return ask('database');
}

/** A fresh database with nothing in it. @returns its connection string */
export function createEmptyDatabase(): Promise<string> {
  return ask('empty-database');
}

/** The run's Temporal dev server (in memory; namespace `default`, Barista's search attributes), as `host:port`. */
export function temporalAddress(): Promise<string> {
  return ask('temporal');
}

/** The time-skipping server's program. */
export function timeSkippingServerPath(): Promise<string> {
  return ask('time-skipping-server-path');
}

/** The Temporal CLI, for `TEMPORAL_CLI_PATH` of processes that a test starts. */
export function temporalCliPath(): Promise<string> {
  return ask('temporal-cli-path');
}

async function ask(service: ServiceName): Promise<string> {
  const response = await fetch(`${inject('services')}/${service}`, { method: 'POST' });
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer;
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { StackError } from './errors.js';

/** What an operator can search rooms by. */
export const searchAttributes = {
  BaristaRepository: 'Keyword',
  BaristaPullRequest: 'Keyword',
  BaristaPhase: 'Keyword',
  BaristaRound: 'Int',
  BaristaChips: 'KeywordList',
  BaristaWaitingOn: 'KeywordList',
  BaristaNextDeadline: 'Datetime',
} as const;

/** Temporal's IndexedValueType. */
const TYPE_NUMBERS = { Keyword: 2, Int: 3, Datetime: 6, KeywordList: 7 } as const;

const names = Object.keys(searchAttributes) as (keyof typeof searchAttributes)[];
const typeNumber = (name: keyof typeof searchAttributes) => TYPE_NUMBERS[searchAttributes[name]];

/**
 * Registers the search attributes that a namespace lacks and waits until the server knows them: a room that sets an
 * unregistered one would be stuck.
 * @throws StackError when the server refuses, or has one of these names as another type
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let known = await list(connection, namespace);
  const wrong = names.filter((name) => name in known && known[name] !== typeNumber(name));
  if (wrong.length > 0) {
    throw new StackError(
      `Temporal's namespace ${namespace} has ${wrong.join(', ')} as another type (${wrong.map((name) => searchAttributes[name]).join(', ')} needed). Use another namespace: set TEMPORAL_NAMESPACE.`,
    );
  }
  const missing = names.filter((name) => !(name in known));
  if (missing.length === 0) return;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, typeNumber(name)])),
    });
  } catch (error) {
    known = await list(connection, namespace); // another process may just have added them
    if (missing.some((name) => !(name in known))) {
      const commands = missing.map((name) => `--name ${name} --type ${searchAttributes[name]}`).join(' ');
      throw new StackError(
        `Temporal refused to add search attributes to namespace ${namespace} (${(error as Error).message}). Add them by hand: temporal operator search-attribute create --namespace ${namespace} ${commands}`,
      );
    }
  }
  while (missing.some((name) => !(name in known))) {
    if (performance.now() > deadline)
      throw new StackError(
        `Temporal took the search attributes of namespace ${namespace} but does not list them after ${timeoutMs / 1000} s. Start again in a minute.`,
      );
    await wait(100);
    known = await list(connection, namespace);
  }
}

/** The search attributes that a namespace lacks. */
export async function missingSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const known = await list(connection, namespace);
  return names.filter((name) => known[name] !== typeNumber(name));
}

async function list(connection: Connection, namespace: string): Promise<Record<string, unknown>> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return customAttributes ?? {};
}

import type { Agent } from '../../prisma/store.js';
import { InvalidInput } from '../schema/check.js';

/**
 * Ids of the owner's agents that are meant, in the order they were named; `agents` are its living ones. @throws
 * {InvalidInput} with each name that is nobody's, or that comes again
 */
export function crewOf(names: readonly string[], agents: readonly Agent[], field: string): string[] {
  const found = names.map((name) => agents.find((agent) => agent.id === name || agent.name === name.replace(/^@/, ''))?.id);
  const wrong = names.flatMap((name, index) => {
    const id = found[index];
    if (id !== undefined && found.indexOf(id) === index) return [];
    const message = id === undefined ? `${JSON.stringify(name)} is none of your agents` : `${JSON.stringify(name)} is named before`;
    return [{ field: `${field}[${index}]`, message }];
  });
  if (wrong.length > 0) throw new InvalidInput(wrong);
  return found.filter((id) => id !== undefined);
}

/** Those of a crew that still live, in its order. */
export function living(crew: readonly string[], agents: readonly Agent[]): Agent[] {
  return crew.flatMap((id) => agents.find((agent) => agent.id === id) ?? []);
}

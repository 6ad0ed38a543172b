import type { RepositoryPlace } from '../prisma/store.js';
import { ForgeError, type Forge, type RepositoryRef } from './forge/port.js';

/**
 * The repository as its forge knows it now. One that the forge shows no more (its App is gone, it was deleted) is still
 * `known` by its last address: whoever wants it off must be able to turn it off. @throws {ForgeError}
 */
export async function repositoryNow(forge: Forge, ref: RepositoryRef, known: readonly RepositoryPlace[]): Promise<RepositoryRef> {
  try {
    return await forge.repository(ref);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const last = known.find((place) => place.forge === ref.forge && place.url.toLowerCase() === ref.url.toLowerCase());
    if (last === undefined) throw error;
    return { ...ref, repository: last.repository };
  }
}

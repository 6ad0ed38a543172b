import type { Store } from '../prisma/store.js';
import type { Forge, RepositoryRef } from './forge/port.js';

/**
 * P3: a repository's deliveries come while at least one owner's rooms open by themselves there, and no longer. What
 * owners set is read again after the forge was told, so that of two at once the later one decides. @throws {ForgeError}
 */
export async function settleHook(
  { forge, store }: { readonly forge: Forge; readonly store: Pick<Store, 'repositories'> },
  ref: RepositoryRef,
) {
  const wanted = async () => (await store.repositories.automatic(ref.forge, ref.repository)).length > 0;
  const told = await wanted();
  await forge.hook?.(ref, told);
  if (!told && (await wanted())) await forge.hook?.(ref, true);
}

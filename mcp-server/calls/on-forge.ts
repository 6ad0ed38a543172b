import { ForgeError, type ForgeName } from '../../activities/forge/port.js';
import { notReachable, type AddressField } from '../../activities/not-reachable.js';
import { Refusal } from '../../workflows/room/refusal.js';
import type { Call } from '../deps.js';

interface Address {
  readonly forge: ForgeName;
  readonly repository: string;
  readonly url: string;
}

/**
 * What an address names, as its forge knows it. `ask` asks the forge of what was read from the address.
 * @throws {Refusal} of that field: `invalid`, or `not_found` where the forge has no such thing or may not be asked for it
 * @throws {ForgeError} `unavailable`
 */
export async function atAddress<Ref extends Address>(
  field: AddressField,
  parse: () => Ref,
  ask: (ref: Ref) => Promise<Ref>,
  call: Call,
): Promise<Ref> {
  return ofField(field, async () => {
    const ref = parse();
    try {
      return await ask(ref);
    } catch (error) {
      if (!(error instanceof ForgeError) || (error.kind !== 'refused' && error.kind !== 'not_found')) throw error;
      if (!(await isTold(ref, call))) throw notReachable(field);
      if (error.kind === 'not_found') throw error;
      // Of a forge it says which App or token lacks what, and where to mend it (W9); of this disk it would tell what is there.
      throw ref.forge === 'local' ? notReachable(field) : new Refusal('not_found', error.message, undefined, field);
    }
  });
}

/** R11: what a forge says of an address is for a sole owner, or one that has the repository: it would tell others what is there. */
async function isTold({ forge, repository, url }: Address, { deps: { store }, caller }: Call): Promise<boolean> {
  if (await store.accounts.mayOpen(caller.id, forge, repository)) return true;
  const asked = `${url.toLowerCase()}/`;
  return (await store.repositories.ofOwner(caller.id)).some(
    (known) => known.forge === forge && asked.startsWith(`${known.url.toLowerCase()}/`),
  );
}

/** What is wrong with what was asked of a forge is said of the field it was asked with. @throws {Refusal} @throws {ForgeError} */
export async function ofField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError) || (error.kind !== 'invalid' && error.kind !== 'not_found')) throw error;
    throw new Refusal(error.kind, error.message, undefined, field);
  }
}

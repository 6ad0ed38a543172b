import { ForgeError, type RepositoryRef } from '../../activities/forge/port.js';
import { parseRepository } from '../../activities/forge/repository-ref.js';
import { settleHook } from '../../activities/hooks.js';
import { notReachable } from '../../activities/not-reachable.js';
import { repositoryNow } from '../../activities/repository-now.js';
import {
  DEFAULT_REPOSITORY_SETTINGS,
  type AutomaticRooms,
  type Identity,
  type RepositoryPlace,
  type RepositorySettings,
} from '../../prisma/store.js';
import type { Call } from '../deps.js';
import { InvalidInput } from '../schema/check.js';
import { repositoryView, type WireRepository } from '../views/repository.js';
import { crewOf, living } from './crew.js';
import { atAddress, ofField } from './on-forge.js';

/** What an owner wants changed of a repository; what is left out stays as it is. */
export interface RepositoryChange {
  readonly repository: string;
  /** null: rooms open by hand alone. `crew` by id or name. */
  readonly automatic?: Partial<AutomaticRooms> | null | undefined;
  readonly postAs?: Identity | null | undefined;
  readonly commentInstead?: boolean | undefined;
}

/** The caller's repositories, by address: those that are linked to it, and those it set something for. */
export async function listRepositories(call: Call): Promise<WireRepository[]> {
  const [mine, set] = await Promise.all([ownedBy(call), call.deps.store.repositories.ofOwner(call.caller.id)]);
  const isSet = new Set(set.map(({ repository }) => repository));
  const linked = mine.links
    .filter(({ repository }) => !isSet.has(repository))
    // One that was linked before addresses were kept with links: a local one, whose name is where it is.
    .map(({ forge, repository }) => ({ forge: forge as RepositoryPlace['forge'], repository, url: repository }));
  const places = [...set, ...linked].sort((a, b) => (a.url < b.url ? -1 : 1));
  const all = await Promise.all(places.map((place) => shown(place, mine, call)));
  return all.filter((one) => one.linked || one.automatic !== null || one.post_as !== null || one.comment_instead);
}

/**
 * Sets what is given, and answers the whole. Only on a repository that the caller may open rooms on (R11). Safe to repeat:
 * a call that was cut short anywhere is finished by the same one again. @throws {Refusal} @throws {ForgeError}
 */
export async function setRepository(change: RepositoryChange, call: Call): Promise<WireRepository> {
  const { store, forge } = call.deps;
  const ref = await refOf(change, call);
  if (!(await store.accounts.mayOpen(call.caller.id, ref.forge, ref.repository))) throw notReachable('repository');
  checkIdentity(change, ref, call);
  const automatic = change.automatic ? await automaticOf(change.automatic, ref, call) : change.automatic;
  // First the deliveries, then what they are for: half of it is a hook that nobody listens to.
  if (automatic) await ofField('automatic', async () => forge.hook?.(ref, true));
  await store.repositories.keep(call.caller.id, placeOf(ref), {
    ...(automatic !== undefined && { automatic }),
    ...(change.postAs !== undefined && { postAs: change.postAs }),
    ...(change.commentInstead !== undefined && { commentInstead: change.commentInstead }),
  });
  if (automatic) await settleHook(call.deps, ref);
  else if (automatic === null) await withoutHook(ref, call);
  const settings = await store.repositories.settings(call.caller.id, ref.forge, ref.repository);
  return shown({ ...placeOf(ref), settings }, await ownedBy(call), call);
}

const placeOf = ({ forge, repository, url }: RepositoryRef): RepositoryPlace => ({ forge, repository, url });

/** What only takes away may be asked of what its forge shows no more. */
async function refOf({ repository, automatic }: RepositoryChange, call: Call): Promise<RepositoryRef> {
  const { deps, caller } = call;
  return atAddress(
    'repository',
    () => parseRepository(repository, deps.forges.addresses),
    async (ref) => repositoryNow(deps.forge, ref, automatic ? [] : await deps.store.repositories.ofOwner(caller.id)),
    call,
  );
}

function checkIdentity({ postAs }: RepositoryChange, { forge }: RepositoryRef, { deps }: Call): void {
  if (postAs !== 'reviewer' || deps.forges.reviewers.has(forge)) return;
  const message =
    forge === 'github'
      ? 'this server has no reviewer App: its operator sets REVIEWER_APP_ID and REVIEWER_APP_PRIVATE_KEY_FILE'
      : `this server has one identity alone on ${forge}: leave it out, or say operator`;
  throw new InvalidInput([{ field: 'post_as', message }]);
}

async function automaticOf(asked: Partial<AutomaticRooms>, ref: RepositoryRef, call: Call): Promise<AutomaticRooms> {
  const { forges, store } = call.deps;
  if (ref.forge === 'local')
    throw new InvalidInput([{ field: 'automatic', message: 'a local repository tells of no pull requests: open its rooms yourself' }]);
  if (ref.forge === 'github' && !forges.heard.has('github')) {
    const message = 'this server takes no deliveries of GitHub: its operator sets GITHUB_WEBHOOK_SECRET';
    throw new InvalidInput([{ field: 'automatic', message }]);
  }
  const { automatic: kept } = await store.repositories.settings(call.caller.id, ref.forge, ref.repository);
  const agents = await store.accounts.agents(call.caller.id);
  if (asked.crew === undefined && kept === null)
    throw new InvalidInput([{ field: 'automatic.crew', message: 'is required to turn automatic rooms on: ids or names of your agents' }]);
  return {
    recipe: asked.recipe ?? kept?.recipe ?? 'panel',
    crew: asked.crew === undefined ? living(kept?.crew ?? [], agents).map(({ id }) => id) : crewOf(asked.crew, agents, 'automatic.crew'),
    barista: asked.barista ?? kept?.barista ?? true,
    label: asked.label === undefined ? (kept?.label ?? null) : asked.label,
  };
}

/** They are off already: what fails now is only the hook, and that is said. */
async function withoutHook(ref: RepositoryRef, { deps }: Call): Promise<void> {
  try {
    await settleHook(deps, ref);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const message = `Automatic rooms are off, but their webhook could not be removed: ${error.message} The same call again tries it again.`;
    throw new ForgeError(error.kind, message, error.retryAfter, error.facts);
  }
}

type Owned = Awaited<ReturnType<typeof ownedBy>>;

/** What is the same for each of the caller's repositories. */
async function ownedBy({ deps, caller }: Call) {
  const { accounts } = deps.store;
  const [links, agents] = await Promise.all([accounts.repositoryLinks(caller.id), accounts.agents(caller.id)]);
  return { links, agents };
}

type SetPlace = RepositoryPlace & { readonly settings?: RepositorySettings };

async function shown(place: SetPlace, { links, agents }: Owned, { deps, caller }: Call): Promise<WireRepository> {
  const { accounts, forgeStates } = deps.store;
  const { forge, repository, settings = DEFAULT_REPOSITORY_SETTINGS } = place;
  return repositoryView({
    place,
    linked: links.some((link) => link.forge === forge && link.repository === repository),
    settings,
    crew: living(settings.automatic?.crew ?? [], agents),
    // R11: how it stands is for those who may open rooms on it.
    troubles: (await accounts.mayOpen(caller.id, forge, repository)) ? await forgeStates.of(forge, repository) : [],
    now: deps.now(),
  });
}

import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Forge, RepositoryRef } from '../../activities/forge/port.js';
import { encodePath, parseRepository } from '../../activities/forge/repository-ref.js';
import type { Store } from '../../prisma/store.js';
import { CommandFailed, inWords } from '../failure.js';
import { answer } from '../output.js';
import { localFromHere, startedIn } from '../where.js';

/** For whoever runs Barista: these go to the database and the forges themselves, without the server. */

const WHICH = 'https://github.com/OWNER/NAME, https://gitlab.com/GROUP/PROJECT, or the top folder of one on disk';

export function linkCommand(): Command {
  return operatorCommand('link')
    .description('Lets a person open rooms on a repository. Needed once there are two people; for whoever runs Barista.')
    .action(async (which: string, options: Options) => {
      const { user, ref } = await atRepository(which, { ...options, known: false }, async ({ user, ref, store }) => {
        const { forge, repository, url } = ref;
        // First where people see it: a link alone does not say.
        await store.repositories.keep(user.id, { forge, repository, url }, {});
        await store.accounts.linkRepository(user.id, forge, repository);
      });
      answer(options, wire(user, ref), [`@${user.name} may open rooms on ${ref.url}`]);
    });
}

export function unlinkCommand(): Command {
  return operatorCommand('unlink')
    .description('Takes that back. Rooms that are open go on; no more open by themselves. For whoever runs Barista.')
    .action(async (which: string, options: Options) => {
      const { settleHook } = await import('../../activities/hooks.js');
      const { user, ref, done } = await atRepository(which, { ...options, known: true }, async ({ user, ref, store, forge }) => {
        const { forge: name, repository, url } = ref;
        const unlinked = await store.accounts.unlinkRepository(user.id, name, repository);
        const mayOpen = await store.accounts.mayOpen(user.id, name, repository);
        if (!mayOpen) {
          const { automatic } = await store.repositories.settings(user.id, name, repository);
          if (automatic) await store.repositories.keep(user.id, { forge: name, repository, url }, { automatic: null });
          if ((await store.repositories.automatic(name, repository)).length === 0) await settleHook({ forge, store }, ref);
        }
        return { unlinked, mayOpen };
      });
      const was = done.unlinked ? `is no longer linked to ${ref.url}` : `was not linked to ${ref.url}`;
      const still = done.mayOpen ? ': as the only person they may open rooms on it all the same' : '';
      answer(options, { ...wire(user, ref), unlinked: done.unlinked }, [`@${user.name} ${was}${still}`]);
    });
}

interface Options {
  readonly user?: string;
  readonly json?: boolean;
}

function operatorCommand(name: string): Command {
  return new Command(name)
    .argument('[repository]', WHICH, '.')
    .option('--user <name>', "the person's name; the first person where left out")
    .option('--json', 'print JSON');
}

const wire = (user: User, { forge, repository, url }: RepositoryRef) => ({ user, forge, repository, url });

type User = Awaited<ReturnType<Store['accounts']['users']>>[number];

/** The repository as its forge knows it, or as it was `known` to the person, and the person; then the work. */
async function atRepository<T>(
  which: string,
  options: Options & { readonly known: boolean },
  work: (at: { user: User; ref: RepositoryRef; store: Store; forge: Forge }) => Promise<T>,
): Promise<{ user: User; ref: RepositoryRef; done: T }> {
  const { databaseUrlOf, operatorEnv, withStore } = await import('../operator.js');
  const { readSettings } = await import('../../config/settings.js');
  const { setUpForges } = await import('../../activities/forge/set-up.js');
  const { repositoryNow } = await import('../../activities/repository-now.js');
  const { forgeFacts } = await import('../../activities/forge/facts.js');
  const settings = readSettings({ ...operatorEnv(process.env), DATABASE_URL: databaseUrlOf(process.env) });
  // Whoever runs Barista says which folders may be opened: here any.
  const forge = setUpForges({ ...settings, localRepositories: null }, () => Date.now(), new AbortController().signal);
  return inWords(async () => {
    const named = parseRepository(addressOf(which), forgeFacts(settings.forges).addresses);
    return withStore(process.env, async (store) => {
      const users = await store.accounts.users();
      const user = options.user === undefined ? users[0] : users.find(({ name }) => name === options.user);
      if (!user) throw new CommandFailed(`There is no user ${options.user ?? 'yet'}. Make one with barista user add NAME.`);
      const ref = await repositoryNow(forge, named, options.known ? await store.repositories.ofOwner(user.id) : []);
      return { user, ref, done: await work({ user, ref, store, forge }) };
    });
  });
}

/** A plain path is one as seen from where the command was run. */
function addressOf(which: string): string {
  if (/^(https?|local):/i.test(which)) return localFromHere(process.env, which);
  return `local:${encodePath(resolve(startedIn(process.env), which))}`;
}

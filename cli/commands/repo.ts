import { resolve } from 'node:path';
import { Command } from 'commander';
import { ForgeError } from '../../activities/forge/port.js';
import { CommandFailed } from '../failure.js';
import { answer } from '../output.js';
import { startedIn } from '../where.js';

export function repoCommand(): Command {
  const link = new Command('link')
    .description(
      'Lets a person open rooms on a repository on disk. Needed once there are two people; for whoever runs Barista: it goes to the database itself.',
    )
    .argument('[path]', 'top folder of the repository', '.')
    .option('--user <name>', "the person's name; the first person where left out")
    .option('--json', 'print JSON')
    .action(async (path: string, options: { user?: string; json?: boolean }) => {
      const { withStore } = await import('../operator.js');
      const repository = await repositoryAt(resolve(startedIn(process.env), path));
      const user = await withStore(process.env, async ({ accounts }) => {
        const users = await accounts.users();
        const found = options.user === undefined ? users[0] : users.find(({ name }) => name === options.user);
        if (!found) throw new CommandFailed(`There is no user ${options.user ?? 'yet'}. Make one with barista user add NAME.`);
        await accounts.linkRepository(found.id, 'local', repository);
        return found;
      });
      answer(options, { user, forge: 'local', repository }, [`@${user.name} may open rooms on ${repository}`]);
    });
  return new Command('repo').description('The repositories that people may open rooms on.').addCommand(link);
}

async function repositoryAt(path: string): Promise<string> {
  const { findRepository } = await import('../../activities/forge/local/repository.js');
  const { localRef } = await import('../../activities/forge/pull-request.js');
  try {
    const { top, gitDir } = await findRepository(path, null);
    return localRef(top, 'base', 'head', gitDir).repository;
  } catch (error) {
    throw error instanceof ForgeError ? new CommandFailed(error.message) : error;
  }
}

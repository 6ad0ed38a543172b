import { Command } from 'commander';
import { Refusal } from '../../workflows/room/refusal.js';
import { CommandFailed } from '../failure.js';
import { answer } from '../output.js';
import { serverUrlOf } from '../where.js';

export function userCommand(): Command {
  const add = new Command('add')
    .description('Makes a person and its key, which is shown this once. For whoever runs Barista: it goes to the database itself.')
    .argument('<name>', '1 to 39 of a-z, 0-9 and -')
    .option('--json', 'print JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const { withStore } = await import('../operator.js');
      const made = await withStore(process.env, async ({ accounts }) => {
        const user = await accounts.addUser(name).catch((error: unknown) => {
          throw error instanceof Refusal ? new CommandFailed(error.message) : error;
        });
        return { ...user, key: await accounts.issueKey({ kind: 'person', id: user.id }) };
      });
      answer(options, made, [
        `@${made.name} (${made.id}) has the key ${made.key}`,
        `It is shown this once. ${made.name} uses it with BARISTA_URL=${serverUrlOf(process.env)} and BARISTA_KEY set to it.`,
        'From now on each owner, you too, opens rooms on linked repositories only: barista repo link URL --user NAME links one.',
      ]);
    });
  return new Command('user').description('The people who own rooms.').addCommand(add);
}

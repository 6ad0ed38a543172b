import { Command } from 'commander';
import { CommandFailed } from '../failure.js';
import { answer } from '../output.js';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Brings the database (DATABASE_URL) up to this version; npm start does it by itself. Safe to repeat.')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { databaseUrlOf } = await import('../operator.js');
      const url = databaseUrlOf(process.env);
      const { migrate } = await import('../../prisma/migrate.js');
      const applied = await migrate(url).catch((error: unknown) => {
        throw new CommandFailed(error instanceof Error ? error.message.split('\n')[0]! : String(error));
      });
      const line = applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`;
      answer(options, { applied }, [line]);
    });
}

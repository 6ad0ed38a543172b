import { Command } from 'commander';

export function upCommand(): Command {
  return new Command('up')
    .description('Starts everything on this machine (npm start): PostgreSQL, Temporal and its UI, a worker, the server. Ctrl-C stops it.')
    .option('--json', 'print one line of JSON when it is ready')
    .action(async (options: { json?: boolean }) => (await import('../up.js')).up(options));
}

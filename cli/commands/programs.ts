import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from 'commander';
import { nodeArguments } from '../../stack/programs.js';
import { CommandFailed } from '../failure.js';

/** One server, one worker: what more machines are given. They need a database and Temporal that run already. */
export function programCommands(): Command[] {
  return [
    command('server', 'Runs one HTTP server (MCP and REST), beside whatever others there are.', 'mcp-server/main.ts'),
    command('worker', 'Runs one worker, beside whatever others there are.', 'worker/main.ts'),
  ];
}

function command(name: string, description: string, entry: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: { json?: boolean }) => run(entry, options));
}

async function run(entry: string, { json }: { json?: boolean }): Promise<void> {
  const { databaseUrlOf, operatorEnv } = await import('../operator.js');
  databaseUrlOf(process.env); // says what to do where there is none
  const child = spawn(process.execPath, [...nodeArguments(entry), ...(json ? ['--json'] : [])], {
    stdio: 'inherit',
    env: operatorEnv(process.env),
  });
  // Ctrl-C reaches both; what only this process gets is passed on.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new CommandFailed(signal ? `It was ended by ${signal}.` : 'It did not end in good order: see above.');
}

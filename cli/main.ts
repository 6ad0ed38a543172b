import { Command, CommanderError } from 'commander';
import { config } from 'dotenv';
import { VERSION } from '../mcp-server/version.js';
import { agentCommand } from './commands/agent.js';
import { demoCommand } from './commands/demo.js';
import { doctorCommand } from './commands/doctor.js';
import { draftCommand } from './commands/draft.js';
import { githubCommand } from './commands/github.js';
import { listenCommand } from './commands/listen.js';
import { mcpCommand } from './commands/mcp.js';
import { migrateCommand } from './commands/migrate.js';
import { programCommands } from './commands/programs.js';
import { repoCommand } from './commands/repo.js';
import { roomCommand } from './commands/room.js';
import { upCommand } from './commands/up.js';
import { userCommand } from './commands/user.js';
import { watchCommand } from './commands/watch.js';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

function barista(): Command {
  const program = new Command('barista')
    .description('Review rooms: a crew of agents reviews one pull request, round by round, to one draft that its owner posts.')
    .version(VERSION)
    .showSuggestionAfterError();
  for (const command of [
    upCommand(),
    demoCommand(),
    roomCommand(),
    draftCommand(),
    agentCommand(),
    listenCommand(),
    watchCommand(),
    mcpCommand(),
    doctorCommand(),
    githubCommand(),
    userCommand(),
    repoCommand(),
    ...programCommands(),
    migrateCommand(),
  ]) {
    program.addCommand(command);
  }
  for (const command of [program, ...everyCommand(program)]) command.exitOverride().helpCommand(false);
  return program;
}

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)]);
}

/** @returns the exit code; whatever went wrong is one clear line on stderr */
async function run(args: string[]): Promise<number> {
  try {
    await barista().parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE; // it has been said
    process.stderr.write(`${lineOf(error)}\n`);
    return FAILED;
  }
}

/** By name: what most commands do not need is not loaded to be compared with. */
const SAID_FOR_PEOPLE = new Set(['CommandFailed', 'StackError', 'SettingsError']);

function lineOf(error: unknown): string {
  if (error instanceof Error && SAID_FOR_PEOPLE.has(error.name)) return error.message;
  const why = error instanceof Error ? error.message : String(error);
  return `That went wrong in a way that Barista does not know: ${why.split('\n')[0]} (npx barista doctor may say more)`;
}

config({ quiet: true });
const code = await run(process.argv.slice(2));
// Whoever reads the answer through a pipe has it before the process ends.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit(code);

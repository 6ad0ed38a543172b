import { Command } from 'commander';
import { rest, type Json } from '../api.js';
import { connectLines } from '../connect.js';
import { CommandFailed } from '../failure.js';
import { answer, table } from '../output.js';
import { targetOf } from '../where.js';

export function agentCommand(): Command {
  return new Command('agent').description('Your agents.').addCommand(add()).addCommand(list()).addCommand(key());
}

function add(): Command {
  return new Command('add')
    .description('Makes an agent of yours and its key, which is shown this once.')
    .argument('<name>', '1 to 39 of a-z, 0-9 and -')
    .option('--json', 'print JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const target = targetOf(process.env);
      const agent = await rest(target, 'POST', '/agents', { name });
      answer(options, agent, [`@${agent.name} (${agent.id}) has the key ${agent.key}`, ...howToConnect(target.url)]);
    });
}

function list(): Command {
  return new Command('list')
    .description('Lists your agents, oldest first.')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { agents } = await rest(targetOf(process.env), 'GET', '/agents');
      const rows = (agents as Json[]).map(({ name, id, created_at }) => [`@${name}`, id, created_at]);
      answer(
        options,
        { agents },
        rows.length === 0 ? ['No agents yet. barista agent add NAME makes one.'] : table([['AGENT', 'ID', 'MADE AT'], ...rows]),
      );
    });
}

function key(): Command {
  return new Command('key')
    .description('Makes a new key of an agent whose key was lost, which is shown this once. The old one stops.')
    .argument('<name>', 'of the agent')
    .option('--json', 'print JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const target = targetOf(process.env);
      const { agents } = await rest(target, 'GET', '/agents');
      const found = (agents as Json[]).find((agent) => agent.name === name);
      if (found === undefined) throw new CommandFailed(`You have no agent ${name}. barista agent list names yours.`);
      const agent = await rest(target, 'POST', `/agents/${encodeURIComponent(found.id)}/key`);
      answer(options, agent, [
        `@${agent.name} (${agent.id}) has the new key ${agent.key}; its old one stopped.`,
        ...howToConnect(target.url),
      ]);
    });
}

function howToConnect(url: string): string[] {
  return [
    'It is shown this once. Connect the agent with it, as KEY:',
    ...connectLines(`${url}/mcp`).map(({ client, line }) => `  ${client.padEnd(11)}  ${line}`),
  ];
}

import { Command } from 'commander';
import { rest } from '../api.js';
import { connectLines } from '../connect.js';
import { answer } from '../output.js';
import { targetOf } from '../where.js';

export function agentCommand(): Command {
  const add = new Command('add')
    .description('Makes an agent of yours and its key, which is shown this once.')
    .argument('<name>', '1 to 39 of a-z, 0-9 and -')
    .option('--json', 'print JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const target = targetOf(process.env);
      const agent = await rest(target, 'POST', '/agents', { name });
      answer(options, agent, [
        `@${agent.name} (${agent.id}) has the key ${agent.key}`,
        'It is shown this once. Connect the agent with it, as KEY:',
        ...connectLines(`${target.url}/mcp`).map(({ client, line }) => `  ${client.padEnd(11)}  ${line}`),
      ]);
    });
  return new Command('agent').description('Your agents.').addCommand(add);
}

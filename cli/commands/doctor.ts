import { Command } from 'commander';
import { CommandFailed } from '../failure.js';
import { answer } from '../output.js';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Checks each thing that Barista needs, and says what to do about what is wrong.')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { checkEverything } = await import('../doctor/checks.js');
      const findings = await checkEverything(process.env);
      answer(
        options,
        { checks: findings },
        findings.flatMap(({ what, ok, says, do: todo }) => [
          `${ok ? 'ok  ' : 'FAIL'}  ${what}: ${says}`,
          ...(todo ? [`      ${todo}`] : []),
        ]),
      );
      const wrong = findings.filter(({ ok }) => !ok);
      if (wrong.length > 0) throw new CommandFailed(`Not in order: ${wrong.map(({ what }) => what).join(', ')}.`);
    });
}

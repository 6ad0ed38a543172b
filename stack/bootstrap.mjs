// node stack/bootstrap.mjs COMMAND [ARGUMENTS]: what package.json's scripts run.
import { run } from './setup.mjs';

const [command = '', ...args] = process.argv.slice(2);
switch (command) {
  case 'test':
    // The program's own name for "run once": without it vitest would wait for changes on a terminal.
    await run('node_modules/vitest/vitest.mjs', ['run', ...args], { dev: true });
    break;
  case 'bench':
    await run('bench/main.ts', args);
    break;
  default:
    await run('cli/main.ts', [command, ...args]);
}

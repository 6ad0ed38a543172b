import { resolve } from 'node:path';
import { Command } from 'commander';
import { narrator } from '../demo/narrator.js';
import { interrupted, Interrupted } from '../interrupted.js';
import { startedIn } from '../where.js';

interface Options {
  repo?: string;
  base?: string;
  head?: string;
  exit?: boolean;
  json?: boolean;
}

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Shows a whole review in about a minute: a crew of scripted agents on a clone of a real repository, which is left untouched.',
    )
    .option('--repo <path>', 'repository to show; the one it is started in where left out')
    .option('--base <branch>', 'what is compared against; chosen where left out')
    .option('--head <branch>', 'what is reviewed; the current branch where left out')
    .option('--exit', 'end when the review is posted, instead of staying up until Ctrl-C')
    .option('--json', 'print lines of JSON')
    .action(demo);
}

async function demo({ repo, base, head, exit = false, json = false }: Options): Promise<void> {
  const signal = interrupted();
  const { runDemo } = await import('../demo/demo.js');
  try {
    await runDemo({
      repository: resolve(startedIn(process.env), repo ?? '.'),
      base,
      head,
      stays: !exit,
      env: process.env,
      signal,
      tell: narrator(json, performance.now()),
    });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
}

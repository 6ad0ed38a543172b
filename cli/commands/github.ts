import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { answer } from '../output.js';
import { isLoopbackUrl } from '../../config/loopback.js';
import { dataDirOf, startedIn } from '../where.js';

interface Options {
  readonly org?: string;
  readonly name?: string;
  readonly url?: string;
  readonly github?: string;
  readonly reviewer?: boolean;
  readonly appId?: number;
  readonly privateKeyFile?: string;
  readonly webhookSecretFile?: string;
  readonly json?: boolean;
}

/** GitHub's codes are good for an hour. */
const WAIT_MS = 60 * 60_000;
/** GitHub takes no longer one. */
const MAX_NAME = 34;

export function githubCommand(): Command {
  const makes = ['org', 'name', 'url'];
  const setup = new Command('setup')
    .description('Makes the GitHub App in your browser, or takes one that there is, and keeps it in the data folder.')
    .option('--org <organization>', 'who owns the App; you where left out')
    .option('--name <name>', 'of the App, unlike any other on GitHub', nameOf)
    .option('--url <address>', 'under which GitHub reaches this server; PUBLIC_URL where left out', publicAddressOf)
    .option('--github <address>', 'a GitHub Enterprise Server, e.g. https://github.example.com', githubAddressOf)
    .option('--reviewer', 'makes or takes the App that posts reviews, beside the operator App')
    .addOption(new Option('--app-id <number>', 'an App that there is').argParser(idOf).conflicts(makes))
    .option('--private-key-file <file>', 'its private key; it is copied')
    .option('--webhook-secret-file <file>', "its webhook's secret; it is copied")
    .option('--json', 'print JSON, a line each: where to go, then what was kept')
    .action(async (options: Options, command: Command) => {
      if ((options.appId === undefined) !== (options.privateKeyFile === undefined))
        command.error('error: --app-id and --private-key-file go together', { exitCode: 2 });
      if (options.webhookSecretFile !== undefined && options.appId === undefined)
        command.error('error: --webhook-secret-file goes with --app-id', { exitCode: 2 });
      await run(options);
    });
  return new Command('github').description('The GitHub App that Barista works as.').addCommand(setup);
}

async function run(options: Options): Promise<void> {
  const { makeApp, takeApp } = await import('../github/setup.js');
  const { tell } = await import('../github/told.js');
  const { readGitHubApiUrl } = await import('../../config/forge-settings.js');
  const { readPublicUrl } = await import('../../config/settings.js');
  const { interrupted } = await import('../interrupted.js');
  const env = process.env;
  const role = options.reviewer ? 'reviewer' : 'operator';
  const set = readPublicUrl(env);
  const publicUrl = options.url ?? (set === null || isLoopbackUrl(set) ? null : set);
  const common = {
    dataDir: dataDirOf(env),
    role,
    webUrl: options.github ?? null,
    apiUrl: readGitHubApiUrl(env),
    operatorNamed: Boolean(env.GITHUB_APP_ID?.trim()),
    now: () => Date.now(),
  } as const;
  const fileOf = (path: string): string => resolve(startedIn(env), path);
  const done =
    options.appId !== undefined && options.privateKeyFile !== undefined
      ? await takeApp({
          ...common,
          id: options.appId,
          privateKeyFile: fileOf(options.privateKeyFile),
          webhookSecretFile: options.webhookSecretFile && fileOf(options.webhookSecretFile),
        })
      : await makeApp({
          ...common,
          org: options.org,
          name: options.name,
          publicUrl,
          opened: (link) => answer(options, { open: link }, [`Open this in your browser, on this machine: ${link}`, 'Ctrl-C ends it.']),
          warn: (line) => process.stderr.write(`${line}\n`),
          signal: AbortSignal.any([interrupted(), AbortSignal.timeout(WAIT_MS)]),
        });
  tell(done, { ...common, env, publicUrl, serverHas: set, json: options.json });
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME) throw new InvalidArgumentError(`It must be 1 to ${MAX_NAME} characters.`);
  return name;
}

function idOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be the number of an App.');
}

function addressOf(text: string): URL {
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) {
    const url = new URL(text);
    if (url.username === '' && url.password === '' && url.search === '' && url.hash === '') return url;
  }
  throw new InvalidArgumentError('It must be an http or https address.');
}

function githubAddressOf(text: string): string {
  const url = addressOf(text);
  if (url.pathname !== '/') throw new InvalidArgumentError('It must be the address of a GitHub alone, e.g. https://github.example.com.');
  return url.origin;
}

function publicAddressOf(text: string): string {
  const url = addressOf(text);
  if (isLoopbackUrl(url.href)) throw new InvalidArgumentError('GitHub cannot reach this machine by that address.');
  return url.href.replace(/\/+$/, '');
}

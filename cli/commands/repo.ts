import { Command, Option } from 'commander';
import { RECIPES } from '../../workflows/room/words.js';
import { rest, type Json } from '../api.js';
import { answer, table } from '../output.js';
import { localFromHere, targetOf } from '../where.js';
import { linkCommand, unlinkCommand } from './repo-link.js';

export function repoCommand(): Command {
  return new Command('repo')
    .description('The repositories that people open rooms on.')
    .addCommand(list())
    .addCommand(set())
    .addCommand(linkCommand())
    .addCommand(unlinkCommand());
}

function list(): Command {
  return new Command('list')
    .description('Lists your repositories: what is set for each, and what troubles it on its forge.')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { repositories } = await rest(targetOf(process.env), 'GET', '/repositories');
      const rows = (repositories as Json[]).map((one) => [one.url, automaticOf(one), postsAs(one)]);
      const troubles = (repositories as Json[]).flatMap(troublesOf);
      answer(
        options,
        { repositories },
        rows.length === 0
          ? ['No repositories yet. barista repo set URL sets one up.']
          : [...table([['REPOSITORY', 'AUTOMATIC ROOMS', 'POSTS AS'], ...rows]), ...troubles],
      );
    });
}

interface SetOptions {
  readonly automatic?: boolean;
  readonly recipe?: string;
  readonly crew?: string[];
  readonly label?: string;
  readonly anyLabel?: boolean;
  readonly barista?: boolean;
  readonly postAs?: string;
  readonly commentInstead?: boolean;
  readonly json?: boolean;
}

function set(): Command {
  const command = new Command('set')
    .description('Sets your choices for a repository. What you leave out stays as it is.')
    .argument('<url>', 'https://github.com/OWNER/NAME, https://gitlab.com/GROUP/PROJECT or local:PATH')
    .option('--automatic', 'open a room when a pull request opens or leaves draft; needs --crew the first time')
    .option('--no-automatic', 'open rooms by hand alone')
    .addOption(new Option('--recipe <recipe>', 'of automatic rooms: who does what').choices(RECIPES))
    .option('--crew <names>', 'of automatic rooms: your agents that join, e.g. grok,rex', (names: string) =>
      names.split(',').flatMap((name) => name.trim() || []),
    )
    .addOption(new Option('--label <label>', 'only for pull requests with this label').conflicts('anyLabel'))
    .option('--any-label', 'for every pull request')
    .option('--barista', 'of automatic rooms: Barista runs the rounds')
    .option('--no-barista', 'of automatic rooms: the lead opens and closes the rounds')
    .addOption(new Option('--post-as <identity>', 'who posts reviews').choices(['operator', 'reviewer', 'default']))
    .option('--comment-instead', 'post as a comment of the operator where the reviewer App is not installed')
    .option('--no-comment-instead', 'post nothing there')
    .option('--json', 'print JSON');
  return command.action(async (url: string, options: SetOptions) => {
    const change = { ...automaticAsked(command, options), ...postingAsked(options) };
    if (Object.keys(change).length === 0) wrongUsage(command, 'say what to set, e.g. --automatic --crew grok,rex');
    const one = await rest(targetOf(process.env), 'PUT', '/repositories', { repository: localFromHere(process.env, url), ...change });
    answer(options, one, [one.url, `  automatic rooms: ${automaticOf(one)}`, `  posts as: ${postsAs(one)}`, ...troublesOf(one)]);
  });
}

/** Any choice of automatic rooms turns them on. */
function automaticAsked(command: Command, { automatic, recipe, crew, label, anyLabel, barista }: SetOptions): object {
  const rooms = {
    ...(recipe !== undefined && { recipe }),
    ...(crew !== undefined && { crew }),
    ...(barista !== undefined && { barista }),
    ...(anyLabel === true ? { label: null } : label !== undefined && { label }),
  };
  if (automatic !== false) return automatic === true || Object.keys(rooms).length > 0 ? { automatic: rooms } : {};
  if (Object.keys(rooms).length > 0) wrongUsage(command, '--no-automatic goes with no choice of automatic rooms');
  return { automatic: null };
}

function postingAsked({ postAs, commentInstead }: SetOptions): object {
  return {
    ...(postAs !== undefined && { post_as: postAs === 'default' ? null : postAs }),
    ...(commentInstead !== undefined && { comment_instead: commentInstead }),
  };
}

function wrongUsage(command: Command, says: string): never {
  return command.error(`error: ${says}`, { exitCode: 2 });
}

function automaticOf({ automatic }: Json): string {
  if (automatic === null) return 'off';
  const crew = (automatic.crew as Json[]).map(({ name }) => `@${name}`).join(' ') || 'no crew';
  return [
    automatic.recipe,
    crew,
    ...(automatic.barista ? [] : ['without Barista']),
    ...(automatic.label === null ? [] : [`label ${automatic.label}`]),
  ].join(', ');
}

function postsAs({ post_as, comment_instead }: Json): string {
  return `${post_as ?? 'default'}${comment_instead ? ', else a comment' : ''}`;
}

function troublesOf({ url, troubles }: Json): string[] {
  return (troubles as Json[]).map(({ identity, message }) => `${url}: ${message} (${identity})`);
}

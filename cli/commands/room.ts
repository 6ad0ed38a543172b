import { Command, Option } from 'commander';
import { runningStack } from '../../stack/running.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import { RECIPES } from '../../workflows/room/words.js';
import { rest, type Json } from '../api.js';
import { answer, table } from '../output.js';
import { clockLines, disputeLines } from '../room-words.js';
import { inTemporalUi } from '../temporal-ui.js';
import { dataDirOf, localFromHere, targetOf } from '../where.js';

export function roomCommand(): Command {
  return new Command('room')
    .description('Review rooms.')
    .addCommand(open())
    .addCommand(list())
    .addCommand(show())
    .addCommand(finalDraft())
    .addCommand(archive())
    .addCommand(restart());
}

function open(): Command {
  return new Command('open')
    .description('Opens a room on a pull request, or names the one there is.')
    .argument(
      '<url>',
      'https://github.com/OWNER/NAME/pull/N, https://gitlab.com/GROUP/PROJECT/-/merge_requests/N or local:PATH?base=main&head=topic',
    )
    .addOption(new Option('--recipe <recipe>', 'who does what').choices(RECIPES).default('panel'))
    .option('--no-barista', 'the lead opens and closes the rounds, not Barista')
    .option('--another', 'a second room beside the one there is')
    .option('--json', 'print JSON')
    .action(async (url: string, options: { recipe: string; barista: boolean; another?: boolean; json?: boolean }) => {
      const room = await rest(targetOf(process.env), 'POST', '/rooms', {
        pull_request: localFromHere(process.env, url),
        recipe: options.recipe,
        barista: options.barista,
        another: options.another ?? false,
      });
      answer(options, room, [
        `${room.slug}: ${room.title}${room.created ? '' : ' (already open)'}`,
        ...status(room),
        ...afterOpening(room),
      ]);
    });
}

function afterOpening({ slug, created }: Json): string[] {
  if (created) return [`Next: tell your agents to join ${slug}. barista draft show ${slug} shows their review once it is drafted.`];
  return ['It stays as it is: --recipe and --no-barista count for a new room only (--another opens one).'];
}

function list(): Command {
  return new Command('list')
    .description('Lists your rooms, newest first.')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { rooms } = await rest(targetOf(process.env), 'GET', '/rooms');
      const rows = (rooms as Json[]).map((room) => [
        room.slug,
        String(room.round),
        phaseOf(room),
        waitsOn(room),
        room.chips.join(', '),
        room.title,
      ]);
      answer(
        options,
        { rooms },
        rows.length === 0 ? ['No rooms yet.'] : table([['ROOM', 'ROUND', 'PHASE', 'WAITS ON', 'CHIPS', 'TITLE'], ...rows]),
      );
    });
}

function show(): Command {
  return new Command('show')
    .description('Shows one room: who is in it, its latest round, what it waits for.')
    .argument('<slug>')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { json?: boolean }) => {
      const target = targetOf(process.env);
      const room = await rest(target, 'GET', `/rooms/${encodeURIComponent(slug)}`);
      const members = (room.members as Json[]).map(({ name, kind, roles }) => [`  @${name}`, kind, roles.join(' + ')]);
      const ui = temporalUiOf(room.slug, target.url);
      answer(options, { ...room, ...(ui !== null && { temporal_ui: ui }) }, [
        `${room.slug}: ${room.title}`,
        ...status(room),
        ...disputeLines(room.review).map(indented),
        ...clockLines(room.clocks, room.round, Date.now()).map(indented),
        ...troubles(room),
        ...table(members),
        ...(ui === null ? [] : [`  in the Temporal UI: ${ui}`]),
      ]);
    });
}

const indented = (line: string): string => `  ${line}`;

/** Null where it is not the stack of the data folder that answers: another's UI is not known. */
function temporalUiOf(slug: string, url: string): string | null {
  const running = runningStack(dataDirOf(process.env));
  return running?.url === url ? inTemporalUi(running, roomWorkflowId(slug)) : null;
}

function finalDraft(): Command {
  return new Command('final-draft')
    .description('Has the latest round drafted as it is, although something still needs a fix; only while it is offered.')
    .argument('<slug>')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { json?: boolean }) => {
      const taken = await rest(targetOf(process.env), 'POST', `/rooms/${encodeURIComponent(slug)}/review/final-draft`);
      answer(options, taken, [`Round ${taken.round} is drafted as it is. barista draft show ${slug} shows the draft once it is written.`]);
    });
}

function archive(): Command {
  return new Command('archive')
    .description('Ends a room: its agents are done, and nothing more is posted from it.')
    .argument('<slug>')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { json?: boolean }) => {
      const ended = await rest(targetOf(process.env), 'POST', `/rooms/${encodeURIComponent(slug)}/archive`);
      answer(options, ended, [`${slug} has ended.`]);
    });
}

function status(room: Json): string[] {
  const waiting = waitsOn(room);
  return [
    `  ${room.pull_request}`,
    `  ${room.recipe}${room.barista?.enabled === false ? ' without Barista' : ''}, ${phaseOf(room)}, round ${room.round}${waiting === '' ? '' : `, waits on ${waiting}`}`,
    ...(room.chips.length > 0 ? [`  ${room.chips.join(', ')}`] : []),
    ...(room.review?.next_steps ? [`  ${room.review.next_steps}`] : []),
  ];
}

const troubles = (room: Json): string[] =>
  (room.forge.troubles as Json[]).map(({ identity, message, since }) => `  ! ${identity} (since ${since}): ${message}`);

const phaseOf = (room: Json): string => (room.state === 'ended' ? 'ended' : room.phase.replaceAll('_', ' '));
const waitsOn = (room: Json): string => (room.waiting_on as Json[]).map(({ name }) => `@${name}`).join(', ');

function restart(): Command {
  return new Command('restart')
    .description('Starts a room whose run in Temporal is gone, from what the database kept. For whoever runs Barista.')
    .argument('<slug>')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { json?: boolean }) => {
      const { restartRoom } = await import('../restart-room.js');
      const restarted = await restartRoom(process.env, slug);
      answer(options, { room: slug, ...restarted }, [`${slug} runs again, from event ${restarted.seq}.`]);
    });
}

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Command } from 'commander';
import type { WireDraft } from '../../mcp-server/views/draft.js';
import { Refused, rest, ServerAway } from '../api.js';
import { edited } from '../draft/editor.js';
import { linesOf, noteLine, unplacedLine } from '../draft/lines.js';
import { editOf, textOf, type DraftEdit } from '../draft/text.js';
import { CommandFailed } from '../failure.js';
import { answer } from '../output.js';
import { startedIn, targetOf, type Target } from '../where.js';

const POLL_MS = { first: 200, longest: 2_000 } as const;

export function draftCommand(): Command {
  return new Command('draft')
    .description('The review that a room has drafted: read it, edit it, post it.')
    .addCommand(show())
    .addCommand(edit())
    .addCommand(post());
}

function show(): Command {
  return new Command('show')
    .description("Shows the draft of a room's newest round, and what is to know before it is posted.")
    .argument('<slug>')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { json?: boolean }) => {
      const draft = await draftOf(targetOf(process.env), slug);
      answer(options, draft, linesOf(slug, draft));
    });
}

function edit(): Command {
  return new Command('edit')
    .description('Opens the draft in VISUAL or EDITOR, verdict, body and findings as one text, and sends what you changed.')
    .argument('<slug>')
    .option('--file <file>', 'take the edited draft from this file: such a text, or what draft show --json printed')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { file?: string; json?: boolean }) => {
      const target = targetOf(process.env);
      const draft = await draftOf(target, slug);
      if (draft.status === 'posting') throw new CommandFailed(`The draft of round ${draft.round} is being posted.`);
      if (draft.status === 'posted')
        throw new CommandFailed(`The review of round ${draft.round} is posted; the next one needs a new round.`);
      const send = (text: string) => sendEdit(target, slug, draft, text);
      const saved =
        options.file === undefined
          ? await edited(process.env, `${slug}.md`, textOf(slug, draft), send)
          : await send(textIn(resolve(startedIn(process.env), options.file)));
      answer(
        options,
        { ...(saved ?? draft), sent: saved !== null },
        saved === null
          ? ['Nothing was changed, so nothing was sent.']
          : [`Saved as version ${saved.version}. barista draft post ${slug} posts it.`],
      );
    });
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** D4. Null where nothing differs from the draft. @throws Refused `conflict` where the draft has changed since */
async function sendEdit(target: Target, slug: string, draft: WireDraft, text: string): Promise<WireDraft | null> {
  const { verdict, body, findings, version } = text.trimStart().startsWith('{') ? fromJson(text) : editOf(text, draft);
  const wanted = { verdict, body, findings };
  if (isDeepStrictEqual(wanted, { verdict: draft.verdict, body: draft.body, findings: draft.findings })) return null;
  return rest(target, 'PUT', draftPath(slug), { ...wanted, version });
}

/** The form of its fields is for the server to judge. */
function fromJson(text: string): DraftEdit {
  try {
    return JSON.parse(text) as DraftEdit;
  } catch (error) {
    throw new CommandFailed(`The draft begins like JSON and is none: ${(error as Error).message}`);
  }
}

function post(): Command {
  return new Command('post')
    .description('Posts the draft to the pull request, once, and waits until it is posted or has failed.')
    .argument('<slug>')
    .option('--no-wait', 'do not wait for its end')
    .option('--json', 'print JSON')
    .action(async (slug: string, options: { wait: boolean; json?: boolean }) => {
      const target = targetOf(process.env);
      const begun = await beginPosting(target, slug);
      if (!options.wait && begun.status === 'posting')
        return answer(options, begun, [`It is being posted. barista draft show ${slug} says how it ends.`]);
      const { round } = begun;
      const ended = await endOfPosting(target, slug, begun);
      if (ended.status === 'posted') {
        return answer(options, ended, [
          `Posted the review of round ${round}${ended.url === null ? '.' : `: ${ended.url}`}`,
          ...noteLine(ended.url),
          ...unplacedLine(ended.unplaced),
        ]);
      }
      const why = ended.failure ?? 'the draft has changed since.';
      throw new CommandFailed(`The review of round ${round} was not posted: ${why} Post it again with barista draft post ${slug}.`);
    });
}

/** D5: a posting that is under way already is the one to wait for; it may have ended since the refusal said so. */
async function beginPosting(target: Target, slug: string): Promise<WireDraft> {
  try {
    return await rest(target, 'POST', `${draftPath(slug)}/post`, {});
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'conflict')) throw error;
    return draftOf(target, slug);
  }
}

/** The draft of that round once it is posted or came back. A server that restarts is waited for: the posting goes on without it. */
async function endOfPosting(target: Target, slug: string, begun: WireDraft): Promise<WireDraft> {
  let draft = begun;
  for (let pause: number = POLL_MS.first; draft.status === 'posting'; pause = Math.min(pause * 2, POLL_MS.longest)) {
    await delay(pause);
    try {
      draft = await draftOfRound(target, slug, begun.round);
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
    }
  }
  return draft;
}

/** Once it is posted, the draft of a newer round may have taken its place. */
async function draftOfRound(target: Target, slug: string, round: number): Promise<WireDraft> {
  const newest = await draftOf(target, slug);
  if (newest.round === round) return newest;
  return (await rest(target, 'GET', `/rooms/${encodeURIComponent(slug)}/review/rounds/${round}`)).draft;
}

const draftPath = (slug: string): string => `/rooms/${encodeURIComponent(slug)}/review/draft`;

const draftOf = (target: Target, slug: string): Promise<WireDraft> => rest(target, 'GET', draftPath(slug));

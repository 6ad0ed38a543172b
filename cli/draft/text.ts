import type { WireDraft } from '../../mcp-server/views/draft.js';
import { SEVERITIES, VERDICTS, type Verdict } from '../../workflows/room/words.js';
import { CommandFailed } from '../failure.js';

/** A draft as one text that a person edits: what Barista must know again stands in lines that begin with `%%`. */

type Finding = WireDraft['findings'][number];
type Lists = 'raised_by' | 'agreed_by' | 'disputed_by' | 'finding_ids';

/** What an owner may change, and of which version. */
export interface DraftEdit {
  readonly version: number;
  readonly verdict: Verdict;
  readonly body: string;
  readonly findings: readonly (Omit<Finding, Lists> & Partial<Pick<Finding, Lists>>)[];
}

export function textOf(slug: string, draft: WireDraft): string {
  const findings = draft.findings.flatMap((finding, index) => [
    '',
    `%% finding ${index + 1}: ${finding.severity} ${placeOf(finding)}`,
    escaped(finding.body),
  ]);
  return [
    `%%% The draft of round ${draft.round} in ${slug}. Leave it as it is and nothing is sent. Lines with %%% are not sent.`,
    `%%% Verdicts: ${VERDICTS.join(', ')}. Severities: ${SEVERITIES.join(', ')}.`,
    '%%% To leave a finding out, delete its %% line and its text. To add one: %% finding new: minor src/a.ts:3',
    `%% version: ${draft.version}`,
    `%% verdict: ${draft.verdict}`,
    escaped(draft.body),
    ...findings,
    '',
  ].join('\n');
}

/** Where a finding stands: `src/a.ts:4-6`, `old src/a.ts:2` for a line of the base, `src/a.ts` for the whole file. */
export function placeOf({ path, start_line: start, line, side }: Pick<Finding, 'path' | 'start_line' | 'line' | 'side'>): string {
  const lines = line === undefined ? '' : `:${start === undefined ? '' : `${start}-`}${line}`;
  return `${side === 'old' ? 'old ' : ''}${path.replaceAll(/[\r\n]/g, ' ')}${lines}`;
}

/**
 * The edit that such a text is of `draft`. What was not touched is the draft's own, to the letter.
 * @throws CommandFailed naming the line that cannot be read, and where the text is of another version
 */
export function editOf(text: string, draft: WireDraft): DraftEdit {
  const sections = sectionsOf(text);
  const version = Number(valueOf(sections, 'version'));
  if (version !== draft.version) {
    throw new CommandFailed(`The draft has changed: it is version ${draft.version}, and this text is of ${version}. Edit it anew.`);
  }
  const verdict = VERDICTS.find((known) => known === valueOf(sections, 'verdict'));
  if (verdict === undefined) throw new CommandFailed(`The verdict must be one of ${VERDICTS.join(', ')}.`);
  const findings = sections.filter(({ name }) => name === 'finding');
  const numbers = findings.map(({ value }) => value.split(':')[0]!).filter((number) => number !== 'new');
  const twice = numbers.find((number, index) => numbers.indexOf(number) !== index);
  if (twice !== undefined) throw new CommandFailed(`Finding ${twice} stands there twice. Name another one new: %% finding new: …`);
  return {
    version,
    verdict,
    body: untouched(sections.find(({ name }) => name === 'verdict')!.text, draft.body),
    findings: findings.map((section) => findingOf(section, draft)),
  };
}

interface Section {
  readonly name: string;
  readonly value: string;
  readonly at: number;
  readonly text: string;
}

function sectionsOf(text: string): Section[] {
  const sections: (Omit<Section, 'text'> & { lines: string[] })[] = [];
  for (const [index, line] of text.replaceAll('\r\n', '\n').split('\n').entries()) {
    if (line.startsWith('%%%')) continue;
    if (!line.startsWith('%%')) {
      const last = sections.at(-1);
      if (last?.name === 'verdict' || last?.name === 'finding') last.lines.push(line.replace(/^\\(\\*%%)/, '$1'));
      else if (line.trim() !== '') throw unreadable(index + 1, 'a text stands below the line %% verdict: or a line %% finding');
      continue;
    }
    const [, name, value] = /^%% *(version:|verdict:|finding\b)\s*(.*?)\s*$/s.exec(line) ?? [];
    if (name === undefined) throw unreadable(index + 1, 'begin it with \\%% if it is your own text');
    sections.push({ name: name.replace(':', ''), value: value!, at: index + 1, lines: [] });
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n') }));
}

function valueOf(sections: readonly Section[], name: string): string {
  const [found, second] = sections.filter((section) => section.name === name);
  if (found !== undefined && second === undefined) return found.value;
  throw new CommandFailed(`There must be one line %% ${name}: in the text.`);
}

function findingOf({ value, at, text }: Section, draft: WireDraft): DraftEdit['findings'][number] {
  const [, number, severityWord, place] = /^(\d+|new): *(\S+) +(.+)$/s.exec(value) ?? [];
  const severity = SEVERITIES.find((known) => known === severityWord);
  if (number === undefined || severity === undefined) {
    throw unreadable(at, `it is %% finding NUMBER: SEVERITY PLACE, e.g. %% finding new: minor src/a.ts:3`);
  }
  const original = draft.findings[Number(number) - 1];
  if (number !== 'new' && original === undefined) throw unreadable(at, `the draft has no finding ${number}; a new one is called new`);
  if (original === undefined) return { ...placeIn(place!), severity, body: untouched(text, '') };
  const { path, line, start_line, side, ...rest } = original;
  const own = { path, ...(line !== undefined && { line }), ...(start_line !== undefined && { start_line }), side };
  return {
    ...rest,
    ...(place!.trim() === placeOf(original).trim() ? own : placeIn(place!)),
    severity,
    body: untouched(text, original.body),
  };
}

function placeIn(place: string): Pick<Finding, 'path' | 'line' | 'start_line' | 'side'> {
  const [, old, path, start, end] = /^(old +)?(.+?)(?::(\d+)(?:-(\d+))?)?$/s.exec(place)!;
  const line = end ?? start;
  return {
    path: path!,
    ...(line !== undefined && { line: Number(line) }),
    ...(end !== undefined && { start_line: Number(start) }),
    side: old === undefined ? 'new' : 'old',
  };
}

/** Blank lines around a text, and how its lines end, are the file's and not its writer's. */
function untouched(text: string, original: string): string {
  const bare = bared(text);
  return bare === bared(original) ? original : bare;
}

const bared = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd();

const escaped = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(/^\\*%%/gm, '\\$&');

const unreadable = (line: number, why: string): CommandFailed => new CommandFailed(`Line ${line} of the text cannot be read: ${why}.`);

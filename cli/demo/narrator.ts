import type { Json } from '../api.js';

/** What the demo prints: for people as it comes, or a line of JSON each. */
export interface Narrator {
  /** Something the demo itself does. */
  say(text: string): void;
  /** A message or note of the room. */
  heard(message: Json): void;
  /** The draft as it was when the owner posted it. */
  draft(draft: Json): void;
  /** Where to look at what is left standing, once the review is posted. */
  end(end: DemoEnd): void;
}

export interface DemoEnd {
  readonly room: string;
  readonly url: string;
  readonly data_dir: string;
  readonly repository: string;
  readonly commit: string;
  readonly read_the_note: string;
  readonly note: string;
  readonly temporal_ui: string | null;
  readonly stays: boolean;
}

export function narrator(json: boolean, began: number): Narrator {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  if (json) {
    const line = (kind: string, value: object) => print(JSON.stringify({ kind, ...value }));
    return {
      say: (text) => line('step', { text }),
      heard: (message) => line('note', { at: message.at, from: message.from_name, text: message.text }),
      draft: (draft) => line('draft', { draft }),
      end: (end) => line('end', end),
    };
  }
  const clock = () => `${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s`;
  return {
    say: (text) => print(`${clock()}  · ${text}`),
    heard: ({ from, from_name: name, text }) => print(indented(`${clock()}  ${from === null ? '' : `@${name}: `}`, text)),
    draft: (draft) => print(['', ...draftLines(draft), ''].join('\n')),
    end: (end) => print(endLines(end).join('\n')),
  };
}

function indented(start: string, text: string): string {
  return start + text.replaceAll('\n', `\n${' '.repeat(10)}`);
}

function draftLines(draft: Json): string[] {
  const where = ({ path, line }: Json) => `${path}${line === undefined ? '' : `:${line}`}`;
  return [
    `The draft of round ${draft.round}, by @${draft.drafted_by_name}: ${draft.verdict}`,
    indented('  ', draft.body),
    ...(draft.findings as Json[]).map((finding) => `  - ${finding.severity}, ${where(finding)}: ${finding.body}`),
    ...(draft.standing as Json[]).map(({ finding_id: id, label }) => `  ${id} stands: ${label}`),
    ...(draft.coverage as Json[]).map(({ line }) => `  ${line}`),
  ];
}

function endLines(end: DemoEnd): string[] {
  return [
    'The owner posted it: as a git note on the reviewed commit, in the clone alone.',
    `  ${end.read_the_note}`,
    ...(end.stays
      ? [
          '',
          'Everything is still up:',
          ...(end.temporal_ui === null ? [] : [`  the room's workflow  ${end.temporal_ui}`]),
          `  MCP                  ${end.url}/mcp`,
          `  REST                 ${end.url}/openapi.json`,
          `  command line         BARISTA_DATA_DIR=${end.data_dir} npx barista room show ${end.room}`,
          '',
          'Ctrl-C ends it. Your own: npm start',
        ]
      : []),
  ];
}

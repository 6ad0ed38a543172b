import type { WireDraft } from '../../mcp-server/views/draft.js';
import { placeOf } from './text.js';

/** A draft for people: what is to know before it is posted, then its text. */
export function linesOf(slug: string, draft: WireDraft): string[] {
  return [
    `${slug}: draft of round ${draft.round} at ${draft.head_sha.slice(0, 7)}, version ${draft.version}, by ${draft.drafted_by_name}${draft.edited ? ', edited by you' : ''}`,
    ...stateOf(draft).map((line) => `  ${line}`),
    '',
    `Verdict: ${draft.verdict}`,
    '',
    draft.body,
    ...draft.findings.flatMap((finding) => [
      '',
      `${placeOf(finding)}  ${finding.severity}${idsOf(finding.finding_ids)}`,
      ...indented(finding.body),
    ]),
    ...section('Standing', draft.standing.map(standingLine)),
    ...section(
      'Coverage',
      draft.coverage.map(({ line }) => line),
    ),
    ...section(
      'Declined',
      draft.declined.map(({ name, reason }) => `@${name}: ${reason}`),
    ),
  ];
}

function stateOf({ status, stale, notice, failure, url, posted_at, unplaced }: WireDraft): string[] {
  return [
    ...(status === 'posting' ? ['is being posted'] : []),
    ...(status === 'posted'
      ? [`posted at ${posted_at}${url === null ? '' : `: ${url}`}`, ...noteLine(url), ...unplacedLine(unplaced)]
      : []),
    ...(failure === null ? [] : [`! the last posting failed: ${failure}`]),
    ...(stale ? ['! stale: the pull request has moved on since'] : []),
    ...(notice === null ? [] : [`! ${notice}`]),
  ];
}

/** How the review of a local pull request is read once it is posted: its address is no page of anybody's. */
export function noteLine(url: string | null): string[] {
  const [, path, commit] = /^local:(.+)\?[^?#]*#([0-9a-f]+)$/s.exec(url ?? '') ?? [];
  if (path === undefined || commit === undefined) return [];
  const folder = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return [`it is a git note: git -C ${folder} notes --ref=barista show ${commit}`];
}

/** What a posting moved into the body (D4). */
export function unplacedLine(unplaced: WireDraft['unplaced']): string[] {
  if (unplaced.length === 0) return [];
  return [`without a place in the diff, so in the body: ${unplaced.map((one) => placeOf({ ...one, side: 'new' })).join(', ')}`];
}

function standingLine(standing: WireDraft['standing'][number]): string {
  const { finding_id: id, label, path, severity, raised_by_name: raiser, excerpt } = standing;
  if (path === undefined) return `${id}  ${label}`;
  return `${id}  ${label}  ${placeOf({ ...standing, path, side: 'new' })}  ${severity}, by ${raiser}: ${excerpt}`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const idsOf = (ids: readonly string[]): string => (ids.length === 0 ? '' : `  (${ids.join(', ')})`);

const indented = (text: string): string[] => text.split('\n').map((line) => (line === '' ? '' : `  ${line}`));

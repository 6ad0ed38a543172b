import type { Json } from '../api.js';
import { ToolRefused, type Agent, type RoundView, type Turn } from './agent.js';
import { remarksOn, type ChangedFile, type Remark } from './remarks.js';
import type { Clone } from './repository.js';

/**
 * The scripted crew. Each does what next_steps tells it and nothing else: none of them opens, closes or advances a
 * round, and the two commits that the builder pushes are noticed as anybody's would be.
 */

/** In the order in which they join, by which build_duel gives the roles: author, reviewer, lead, reviewer. */
export const CREW = ['builder', 'critic', 'chair', 'scout'] as const;

export function turnOf(role: (typeof CREW)[number], agent: Agent, clone: Clone): Turn {
  switch (role) {
    case 'builder':
      return builder(agent, clone);
    case 'critic':
      return reviewer(agent, { from: 0, severities: ['major', 'minor'], waitsFor: null });
    case 'scout':
      // Not before the builder has pushed: so the head moves while the round is open.
      return reviewer(agent, { from: 2, severities: ['minor', 'nit'], waitsFor: 'head_moved' });
    case 'chair':
      return lead(agent);
  }
}

/** Rejects what the critic finds, accepts what it upholds and what the scout finds, and pushes what it accepted. */
function builder(agent: Agent, clone: Clone): Turn {
  const pushed = new Set<string>();
  return async ({ room, round, nextSteps, findings }) => {
    const accepted = findings.filter(({ state }) => state === 'accepted');
    if (nextSteps.includes('rebut_finding')) {
      for (const finding of findings) {
        const answer = answerTo(finding);
        if (!answer) continue;
        await agent.call('rebut_finding', { room, finding_id: finding.id, ...answer });
        if (answer.answer === 'accept') accepted.push(finding);
      }
    }
    const toFix = accepted.filter(({ id }) => !pushed.has(id));
    if (toFix.length === 0 || round === null) return;
    for (const { id } of toFix) pushed.add(id);
    const found = await Promise.all(toFix.map(async (finding) => ({ finding, line: await lineOf(agent, room, finding) })));
    const lines = found.flatMap(({ line }) => (line === null ? [] : [line]));
    const takenOut = found.filter(({ line }) => line !== null).map(({ finding }) => finding.id);
    const said = new Set(found.filter(({ line }) => line === null).map(({ finding }) => whatFor(finding.path)));
    await clone.takeOut(
      lines,
      [...(takenOut.length > 0 ? [`Take out what ${takenOut.join(' and ')} is about`] : []), ...said].join('\n\n'),
    );
  };
}

/** How the builder answers a remark on what it cannot take a line out of: in its commit, so in the description. */
const whatFor = (path: string): string => `Say what ${path} is changed for`;

function answerTo({ state, severity, raised_by_name: raiser }: Json): { answer: 'accept' | 'reject'; reason: string } | null {
  if (state === 'upheld') return { answer: 'accept', reason: 'You are right. I take it out.' };
  if (state !== 'open') return null;
  if (severity === 'nit') return { answer: 'reject', reason: 'A matter of taste; I leave it as it is.' };
  if (raiser.startsWith('critic')) return { answer: 'reject', reason: 'It is what this change is about, and its neighbours rest on it.' };
  return { answer: 'accept', reason: 'It can go.' };
}

/** The line as the reviewer saw it. Null where there is none to read: a whole file, a symlink, a submodule, a file too large. */
async function lineOf(
  agent: Agent,
  room: string,
  { path, line, raised_on: ref }: Json,
): Promise<{ path: string; line: number; text: string } | null> {
  if (line === undefined) return null;
  try {
    const { content } = await agent.call('get_file', { room, path, ref, start_line: line, end_line: line });
    return typeof content === 'string' ? { path, line, text: content.replace(/\r?\n$/, '') } : null;
  } catch (error) {
    if (error instanceof ToolRefused && error.code === 'invalid') return null;
    throw error;
  }
}

interface Reading {
  /** Which of the remarks are this reviewer's, so that two do not say the same. */
  readonly from: number;
  readonly severities: readonly string[];
  /** An event of the room without which it does not submit its first review. */
  readonly waitsFor: string | null;
}

function reviewer(agent: Agent, { from, severities, waitsFor }: Reading): Turn {
  return async (view, heard) => {
    const { room, round, nextSteps, findings } = view;
    const mine = findings.filter(({ raised_by_name: by }) => by === agent.name);
    if (nextSteps.includes('resolve_finding')) {
      for (const finding of mine.filter(({ state, severity }) => state === 'rejected' && severity === 'major')) {
        const note = 'That it is meant does not make it needed: nothing else in the change says what for.';
        await agent.call('resolve_finding', { room, finding_id: finding.id, resolution: 'upheld', note });
      }
    }
    if (!nextSteps.includes('submit_review') || round === null) return;
    if (round.number > 1) return reviewFixes(agent, view, mine);
    if (waitsFor !== null && !heard.has(waitsFor)) return;
    const { files, pages } = await readContext(agent, room);
    const remarks = remarksOn(files).slice(from, from + severities.length);
    await agent.call('submit_review', {
      room,
      verdict: from === 0 && remarks.length > 0 ? 'request_changes' : 'comment',
      summary: `Read all that changes (files: ${files.length}, pages: ${pages}). Remarks: ${remarks.length}.`,
      findings: remarks.map((remark, index) => findingOf(remark, severities[index]!)),
    });
  };
}

function findingOf({ path, line, body }: Remark, severity: string) {
  return { path, ...(line !== undefined && { line }), severity, body };
}

/**
 * From round 2 on: what was accepted is marked fixed where its file changed since (a file that is as in the base again is
 * no longer in the pull request), or the description now says what for; and else it is said to be still so.
 */
async function reviewFixes(agent: Agent, { room, round, findings }: RoundView, mine: readonly Json[]): Promise<void> {
  const { files, inPullRequest, description } = await readContext(agent, room, round!.number - 1);
  const changed = new Set(files.map(({ path }) => path));
  const accepted = mine.filter(({ state }) => state === 'accepted');
  const fixed = accepted.filter(({ path }) => changed.has(path) || !inPullRequest.has(path) || description.includes(whatFor(path)));
  for (const finding of fixed) {
    await agent.call('resolve_finding', { room, finding_id: finding.id, resolution: 'fixed', note: 'It is gone.' });
  }
  const broken = accepted.filter((finding) => !fixed.includes(finding));
  const others = findings.filter(({ raised_by_name: by, severity, state }) => by !== agent.name && severity === 'nit' && state !== 'fixed');
  await agent.call('submit_review', {
    room,
    verdict: broken.length > 0 ? 'request_changes' : 'comment',
    summary: `Read what changed since round ${round!.number - 1}. Of the accepted findings, fixed: ${fixed.length} of ${accepted.length}.`,
    findings: [],
    references: [
      ...broken.map(({ id }) => ({ finding_id: id, stance: 'agree', note: 'Still there.' })),
      ...others.map(({ id }) => ({ finding_id: id, stance: 'agree' })),
    ],
  });
}

/** Enough of a very large pull request for a demo; what was not read shows in the coverage of the draft. */
const PAGES_AT_MOST = 12;

interface Context {
  readonly files: ChangedFile[];
  readonly pages: number;
  readonly description: string;
  /** By the manifest, which only the view since a round has. */
  readonly inPullRequest: ReadonlySet<string>;
}

async function readContext(agent: Agent, room: string, sinceRound?: number): Promise<Context> {
  const files = new Map<string, ChangedFile>();
  const inPullRequest = new Set<string>();
  let description = '';
  for (let page = 1; ; page++) {
    const answer = await agent.call('get_pr_context', { room, page, ...(sinceRound !== undefined && { since_round: sinceRound }) });
    for (const file of answer.files as ChangedFile[]) {
      const known = files.get(file.path);
      files.set(file.path, known?.patch !== undefined && file.patch === undefined ? known : file);
    }
    for (const { path } of (answer.manifest ?? []) as Json[]) inPullRequest.add(path);
    description += answer.description ?? '';
    if (answer.last_page || page === PAGES_AT_MOST) return { files: [...files.values()], pages: page, description, inPullRequest };
  }
}

/** Merges what is left of the findings into one review. */
function lead(agent: Agent): Turn {
  return async ({ room, round, nextSteps, findings, verdicts }) => {
    if (!nextSteps.includes('draft_review') || round === null) return;
    const left = findings.filter(({ state }) => state !== 'fixed' && state !== 'withdrawn');
    const needsFix = left.some(({ needs_fix: needs }) => needs);
    await agent.call('draft_review', {
      room,
      verdict: needsFix ? 'request_changes' : 'comment',
      body: `Two reviewers read this in ${round.number} rounds (${verdicts.map(({ by_name, verdict }) => `@${by_name}: ${verdict}`).join(', ')}). ${left.length === 0 ? 'Nothing is left.' : `Of their findings, left: ${left.length}.`}`,
      findings: left.map(({ id, path, line, side, severity, body }) => ({ path, line, side, severity, body, finding_ids: [id] })),
    });
  };
}

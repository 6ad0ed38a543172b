// One review whole, on each forge with the real stack: two rounds, a push in the middle, the draft, the post, the merge.
import { afterEach, describe, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { PATIENCE } from '../support/patience.js';
import { startWorld, type World } from '../support/world.js';
import { github, gitlab, type Remote } from './remotes.js';

/** Where the forges' honest differences show in a whole room; else it is the same on each. */
interface Place {
  readonly world: World;
  readonly git: World['git'];
  readonly pullRequest: string;
  /** C4: how a push is told of. */
  readonly pushed: 'ahead' | 'unknown';
  /** What is posted comes back as comments; a local repository has notes instead. */
  readonly hasComments: boolean;
  merge(): void;
}

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function local(): Promise<Place> {
  const world = await startWorld();
  running.push(world);
  const { git } = world;
  return { world, git, pullRequest: git.pullRequest, pushed: 'ahead', hasComments: false, merge: () => git.merge() };
}

async function remote(start: () => Promise<Remote>, pushed: Place['pushed']): Promise<Place> {
  const { git, pullRequest, forges, merge, stop } = await start();
  running.push({ stop });
  const world = await startWorld({ forges });
  running.push(world);
  git.push({ 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 2;\n' }, 'Add a and b');
  return { world, git, pullRequest, pushed, hasComments: true, merge };
}

describe.each([
  ['local', local],
  ['GitHub', () => remote(github, 'ahead')],
  ['GitLab', () => remote(gitlab, 'unknown')],
])('%s', (_, start) => {
  test('B2, C3, C5, A5, D4, P5: two rounds with a push in the middle, to the post and the merge', async () => {
    const { world, git, pullRequest, pushed, hasComments, merge } = await start();
    const durations = { head_quiet: 'PT1S', head_poll: 'PT1S' };
    const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: pullRequest, durations });
    expect(opened.status, opened.text).toBe(201);
    const room: string = opened.json.slug;
    const [ana, bo] = [await world.agent('ana'), await world.agent('bo')];
    for (const agent of [ana, bo]) await world.ok(agent, 'join_room', { room });
    const notes = reader(world, ana, room);

    await notes.until(/^barista: round 1 opened/);
    const first = git.head('topic');
    const one = await world.ok(ana, 'get_pr_context', { room });
    expect(one).toMatchObject({ head_sha: first, round_head_sha: first, head_moved: false, gaps: [] });
    expect(one.files.map((file: { path: string }) => file.path)).toEqual(['src/a.ts', 'src/b.ts']);

    const second = git.push({ 'src/a.ts': 'export const a = 3;\n', 'src/c.ts': 'export const c = 3;\n' }, 'Fix a, add c');
    await expect.poll(async () => (await world.ok(ana, 'get_review_round', { room })).head_moved).toBe(true);
    const still = await world.ok(bo, 'get_pr_context', { room });
    expect(still).toMatchObject({ head_sha: first, head_moved: true });
    expect(still.files.map((file: { path: string }) => file.path)).toEqual(['src/a.ts', 'src/b.ts']);
    expect((await world.ok(bo, 'get_file', { room, path: 'src/a.ts' })).content).toBe('export const a = 1;\n');

    const finding = { path: 'src/a.ts', line: 1, severity: 'major', body: 'One is not enough.' };
    await world.ok(ana, 'submit_review', { room, verdict: 'request_changes', summary: 'Not yet.', findings: [finding] });
    await world.ok(bo, 'submit_review', { room, verdict: 'approve', summary: 'Fine.', findings: [] });

    await notes.until(/^barista: round 2 opened.*1 finding carried/);
    const two = await world.ok(ana, 'get_pr_context', { room, since_round: 1 });
    expect(two).toMatchObject({ head_sha: second, head_moved: false });
    expect(two.since).toMatchObject({ round: 1, base_sha: first, head_sha: second, status: pushed, commits: 1, left_out: 0 });
    expect(two.files.map((file: { path: string }) => file.path)).toEqual(['src/a.ts', 'src/c.ts']);
    expect(two.findings).toMatchObject([{ id: 'f1', path: 'src/a.ts', state: 'open' }]);
    expect(two.manifest.map((entry: { path: string; changed_since_round: boolean }) => [entry.path, entry.changed_since_round])).toEqual([
      ['src/a.ts', true],
      ['src/b.ts', false],
      ['src/c.ts', true],
    ]);
    await world.ok(ana, 'resolve_finding', { room, finding_id: 'f1', resolution: 'fixed' });
    await world.ok(ana, 'submit_review', { room, verdict: 'approve', summary: 'Now it is.', findings: [] });
    const nit = { path: 'src/c.ts', line: 1, severity: 'nit', body: 'Why three?' };
    await world.ok(bo, 'submit_review', { room, verdict: 'comment', summary: 'One thing.', findings: [nit] });

    await notes.until(/^barista: @ana: draft the review of round 2/);
    const findings = [{ ...nit, finding_ids: ['f2'], raised_by: [], agreed_by: [], disputed_by: [] }];
    const { draft } = await world.ok(ana, 'draft_review', { room, verdict: 'comment', body: 'Nearly there.', findings });
    expect(draft).toMatchObject({ round: 2, head_sha: second, stale: false });
    expect((await world.rest(world.owner, 'POST', `/rooms/${room}/review/draft/post`)).status).toBe(202);
    const posted = async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`)).json;
    await expect.poll(posted).toMatchObject({ status: 'posted', unplaced: [] });
    if (hasComments) {
      const { comments } = await world.ok(bo, 'get_pr_context', { room });
      expect(comments).toContainEqual(expect.objectContaining({ path: 'src/c.ts', line: 1, body: expect.stringContaining('Why three?') }));
      expect(comments.filter(({ body }: { body: string }) => body.includes('Nearly there.'))).toHaveLength(1);
    } else
      expect(git.git('notes', '--ref=barista', 'show', second)).toMatch(/Nearly there\.[^]*## src\/c\.ts:1\n\n\*\*nit\*\* Why three\?/);

    merge();
    // Nothing is left to the agents, so that their waits end: the owner sees it.
    const said = async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/messages`)).text;
    await expect.poll(said).toMatch(/barista: the pull request was merged/);
    const { json } = await world.rest(world.owner, 'GET', `/rooms/${room}/review/rounds/2`);
    expect(json.chips).toContain('merged');
  });
});

/** Reads the room's notes in order, each once. */
function reader(world: World, who: Person, room: string) {
  let after: string | undefined;
  return {
    async until(pattern: RegExp): Promise<void> {
      for (const deadline = performance.now() + PATIENCE.timeout; ;) {
        const answer = await world.ok(who, 'wait_for_messages', { room, ...(after && { after }), timeout_seconds: 45 });
        after = answer.last_message_id;
        if (answer.messages.some((message: { text: string }) => pattern.test(message.text))) return;
        if (answer.kind === 'done' || performance.now() > deadline) throw new Error(`no note fits ${String(pattern)}`);
      }
    },
  };
}

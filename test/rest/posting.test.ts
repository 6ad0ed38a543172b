import { Client } from '@temporalio/client';
import { afterEach, describe, expect, test } from 'vitest';
import { connectTo } from '../support/connect.js';
import { badGateway, type FakeGitHub } from '../support/fake-github/index.js';
import type { Fault } from '../support/fake-github/faults.js';
import type { FakeGitLab } from '../support/fake-gitlab/index.js';
import { startWorld, type World } from '../support/world.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import * as remotes from './remotes.js';

/** A comment as its forge shows it: `a.ts:3-7`, `a.ts:2 (old)`, `a.ts`, and what it says. */
type Shown = readonly [at: string, body: string];

interface Side extends remotes.Remote {
  comments(): Shown[];
  body(): string;
}

const at = (path: string, start: number | null, line: number | null, old: boolean) =>
  `${path}${line === null ? '' : `:${start === null ? '' : `${start}-`}${line}`}${old ? ' (old)' : ''}`;

async function github(): Promise<Side & { readonly fake: FakeGitHub }> {
  const remote = await remotes.github();
  const { fake } = remote;
  return {
    ...remote,
    comments: () =>
      fake.reviewComments.map(({ path, startLine, line, side, body }) => [
        at(path, startLine, line, side === 'LEFT' && line !== null),
        body,
      ]),
    body: () =>
      fake.reviews
        .filter(({ state }) => state !== 'PENDING')
        .map(({ body }) => body)
        .join('\n=====\n'),
  };
}

async function gitlab(): Promise<Side & { readonly fake: FakeGitLab }> {
  const remote = await remotes.gitlab();
  const { fake } = remote;
  interface Lines {
    readonly position_type: string;
    readonly new_path: string;
    readonly new_line?: number;
    readonly old_line?: number;
    readonly line_range?: { readonly start: { readonly new_line?: number; readonly old_line?: number } };
  }
  const shown = ({ new_path, new_line, old_line, line_range }: Lines) =>
    at(
      new_path,
      line_range?.start.new_line ?? line_range?.start.old_line ?? null,
      new_line ?? old_line ?? null,
      new_line === undefined && old_line !== undefined,
    );
  return {
    ...remote,
    comments: () =>
      fake.state.notes.flatMap(({ position, body }) => (position === null ? [] : [[shown(position as unknown as Lines), body] as const])),
    body: () =>
      fake.state.notes
        .filter(({ position }) => position === null)
        .map(({ body }) => body)
        .join('\n=====\n'),
  };
}

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
const text = (changed: readonly number[]) =>
  `${LINES.map((line, index) => (changed.includes(index + 1) ? `${line} changed` : line)).join('\n')}\n`;

/** A closed round with this review of one agent, drafted as it is. */
async function drafted(side: Side, findings: readonly object[]): Promise<{ world: World; room: string; warnings: string[] }> {
  side.git.pushBase({ 'long.ts': text([]), 'name.ts': text([]), 'gone.ts': 'a\nb\n' });
  side.git.mergeBaseIn();
  side.git
    .remove('gone.ts')
    .rename('name.ts', 'renamed.ts')
    .write('renamed.ts', text([20]));
  side.git.push({
    'long.ts': text([5, 30]),
    'new.ts': LINES.map((_, index) => `fresh ${index}\n`).join(''),
    'image.bin': Buffer.from([0, 1, 2, 0]),
  });
  const world = await startWorld({ forges: side.forges });
  running.push(world);
  const opened = await world.rest(world.owner, 'POST', '/rooms', { pull_request: side.pullRequest, barista: false });
  expect(opened.status, opened.text).toBe(201);
  const room: string = opened.json.slug;
  const ana = await world.agent('ana');
  await world.ok(ana, 'join_room', { room });
  await world.ok(ana, 'open_review_round', { room });
  // As a reviewer does: then the diff is kept, and the submission knows it however slow the machine is.
  await world.ok(ana, 'get_pr_context', { room });
  const submitted = await world.ok(ana, 'submit_review', { room, verdict: 'request_changes', summary: 'Not yet.', findings });
  await world.ok(ana, 'close_review_round', { room });
  const { reviews } = await world.ok(ana, 'get_review_round', { room });
  const merged = reviews[0].findings.map(({ id, path, line, start_line, side: of, severity, body }: Record<string, unknown>) => ({
    path,
    line,
    start_line,
    side: of,
    severity,
    body,
    finding_ids: [id],
  }));
  await world.ok(ana, 'draft_review', { room, verdict: 'request_changes', body: 'Please look.', findings: merged });
  return { world, room, warnings: submitted.warnings };
}

async function posted(world: World, room: string) {
  const path = `/rooms/${room}/review/draft`;
  expect((await world.rest(world.owner, 'POST', `${path}/post`)).status).toBe(202);
  await expect.poll(async () => (await world.rest(world.owner, 'GET', path)).json.status).toBe('posted');
  return (await world.rest(world.owner, 'GET', path)).json;
}

const of = (severity: string, body: string, place: object) => ({ severity, body, ...place });

describe.each([
  ['GitHub', github],
  ['GitLab', gitlab],
])('a review on %s', (_, start) => {
  test('D4, D9: each finding stands in one place: its range, its line, its file, or the body', async () => {
    const side = await start();
    running.push(side);
    const findings = [
      of('major', 'RANGE', { path: 'long.ts', start_line: 4, line: 6 }),
      of('major', 'LEAVES', { path: 'long.ts', start_line: 5, line: 30 }),
      of('minor', 'ONE', { path: 'long.ts', start_line: 5, line: 5 }),
      of('minor', 'OLD', { path: 'gone.ts', start_line: 1, line: 2, side: 'old' }),
      of('minor', 'RENAMED', { path: 'name.ts', line: 20, side: 'old' }),
      of('minor', 'FILE', { path: 'new.ts' }),
      of('minor', 'BINARY', { path: 'image.bin' }),
      of('minor', 'FAR', { path: 'long.ts', start_line: 14, line: 16 }),
      of('minor', 'OUTSIDE', { path: 'none.ts' }),
    ];
    const { world, room, warnings } = await drafted(side, findings);
    expect(warnings).toEqual([
      'findings[1]: lines 5-30 of long.ts do not lie in one hunk of the diff, so its comment will stand at line 30 alone.',
      'findings[7]: lines 14-16 of long.ts do not lie in one hunk of the diff, so its comment will stand in the body of the review.',
    ]);
    const draft = await posted(world, room);
    expect(draft.findings.map(({ start_line, line }: { start_line?: number; line?: number }) => [start_line, line]).slice(0, 3)).toEqual([
      [4, 6],
      [5, 30],
      [undefined, 5],
    ]);
    expect(draft.unplaced).toEqual([
      { index: 7, path: 'long.ts', start_line: 14, line: 16 },
      { index: 8, path: 'none.ts' },
    ]);
    const comments = side.comments();
    expect(comments.map(([place, body]) => `${place} ${/[A-Z]{3,}/.exec(body)?.[0]}`).sort()).toEqual(
      [
        'long.ts:4-6 RANGE',
        'long.ts:30 LEAVES',
        'long.ts:5 ONE',
        'gone.ts:1-2 (old) OLD',
        'renamed.ts:20 (old) RENAMED',
        'new.ts FILE',
        'image.bin BINARY',
      ].sort(),
    );
    expect(comments.find(([, body]) => body.includes('LEAVES'))?.[1]).toContain('**major** (lines 5-30) LEAVES');
    const [listed = '', standing = ''] = side.body().split('### Standing of the findings');
    expect([...listed.matchAll(/^- (.*)$/gm)].map(([, line]) => line)).toEqual([
      '`long.ts:14-16`: **minor** FAR',
      '`none.ts`: **minor** OUTSIDE',
    ]);
    expect(standing).toContain('`long.ts:4-6` (major, raised by `@ana`): RANGE');
  });

  test("D4: the owner's edit of a range is what is posted", async () => {
    const side = await start();
    running.push(side);
    const { world, room } = await drafted(side, [of('major', 'RANGE', { path: 'long.ts', start_line: 4, line: 6 })]);
    const path = `/rooms/${room}/review/draft`;
    const { json: draft } = await world.rest(world.owner, 'GET', path);
    const edit = (lines: object) => {
      const { start_line: _, line: __, ...finding } = draft.findings[0];
      const { verdict, body, version } = draft;
      return world.rest(world.owner, 'PUT', path, { verdict, body, version, findings: [{ ...finding, ...lines }] });
    };
    for (const [lines, message] of [
      [{ start_line: 3 }, 'needs line'],
      [{ start_line: 7, line: 6 }, 'must not be after line'],
    ] as const) {
      const refused = await edit(lines);
      expect([refused.status, refused.json.code, refused.json.field]).toEqual([400, 'invalid', 'findings[0].start_line']);
      expect(refused.json.detail).toContain(message);
    }
    expect((await edit({ start_line: 3, line: 7 })).json.findings).toMatchObject([{ start_line: 3, line: 7 }]);
    await posted(world, room);
    expect(side.comments().map(([place]) => place)).toEqual(['long.ts:3-7']);
  });

  test('D9: past 40 the gravest stand beside the diff, the rest in the body, none twice', async () => {
    const side = await start();
    running.push(side);
    const severities = ['nit', 'minor', 'major', 'blocker'] as const;
    const findings = Array.from({ length: 48 }, (_, index) =>
      of(severities[index % 4]!, `NUMBER-${index}.`, { path: 'new.ts', ...(index % 6 > 0 && { line: (index % 40) + 1 }) }),
    );
    const { world, room } = await drafted(side, findings);
    expect((await posted(world, room)).unplaced).toEqual([]);
    const beside = side.comments().map(([, body]) => Number(/NUMBER-(\d+)/.exec(body)?.[1]));
    const wanted = [3, 2, 1, 0].flatMap((rank) => Array.from({ length: 12 }, (_, index) => index * 4 + rank)).slice(0, 40);
    expect([...beside].sort((one, other) => one - other)).toEqual([...wanted].sort((one, other) => one - other));
    const [, further = ''] = side.body().split('### Further findings\n\n');
    expect(further).toMatch(/^_The 40 gravest stand beside the diff\._/);
    const [listed = ''] = further.split('### Standing');
    expect([...listed.matchAll(/NUMBER-(\d+)/g)].map(([, number]) => Number(number))).toEqual([16, 20, 24, 28, 32, 36, 40, 44]);
  });
});

/** GitHub takes no comment at all, though each line is in the diff. */
const NO_ANCHOR: Fault = {
  on: /^POST .*\/reviews$/,
  status: 422,
  body: { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] },
  times: 1,
};
const NO_READING: Fault = {
  on: /^GET .*\/reviews\/\d+\/comments/,
  status: 403,
  body: { message: 'Resource not accessible by integration' },
};

test('D9: what the forge refuses after all stands in the body, and the draft says which', async () => {
  const side = await github();
  running.push(side);
  const lines = [5, 30].map((line) => of('major', `LINE ${line}.`, { path: 'long.ts', line }));
  const { world, room } = await drafted(side, [...lines, of('minor', 'OUTSIDE', { path: 'none.ts' })]);
  side.fake.faults.push(NO_ANCHOR);
  const draft = await posted(world, room);
  expect(draft.unplaced.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
  expect(side.comments()).toEqual([]);
  for (const said of ['LINE 5.', 'LINE 30.', 'OUTSIDE']) expect(side.body()).toContain(said);
});

test('D5: a review that is posted, and may not be read back, is no failed posting', async () => {
  const side = await github();
  running.push(side);
  const { world, room } = await drafted(side, [of('major', 'LINE 5.', { path: 'long.ts', line: 5 })]);
  side.fake.faults.push(NO_READING);
  expect((await posted(world, room)).unplaced).toEqual([]);
  expect(side.fake.reviews).toHaveLength(1);
  expect(await timeFor(room, 'postReview')).toEqual({ whole: 3_600, silent: 60 });
});

/** Seconds after which Temporal begins the room's activity anew, however it goes, and when it is not heard of. */
async function timeFor(room: string, activity: string): Promise<{ whole: number; silent: number }> {
  const connection = await connectTo(process.env.TEMPORAL_ADDRESS!);
  const client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! });
  const { events } = await client.workflow.getHandle(roomWorkflowId(room)).fetchHistory();
  await connection.close();
  const scheduled = events!.map(({ activityTaskScheduledEventAttributes: of }) => of).find((of) => of?.activityType?.name === activity);
  return { whole: Number(scheduled?.startToCloseTimeout?.seconds), silent: Number(scheduled?.heartbeatTimeout?.seconds) };
}

/** The owner says it otherwise, after the posting came back. */
async function saidOtherwise(world: World, room: string): Promise<void> {
  const path = `/rooms/${room}/review/draft`;
  const draft = async () => (await world.rest(world.owner, 'GET', path)).json;
  expect((await world.rest(world.owner, 'POST', `${path}/post`)).status).toBe(202);
  await expect.poll(async () => (await draft()).failure).toEqual(expect.any(String));
  const { verdict, findings, version } = await draft();
  const edited = findings.map((finding: object) => ({ ...finding, body: 'OTHERWISE.' }));
  const put = await world.rest(world.owner, 'PUT', path, { verdict, body: 'Look again.', findings: edited, version });
  expect(put.status, put.text).toBe(200);
}

describe('D5: a round is posted once, also where its draft is edited after an unclear end', () => {
  test('GitHub took it, and then nobody could look', async () => {
    const side = await github();
    running.push(side);
    const { world, room } = await drafted(side, [of('major', 'LINE 5.', { path: 'long.ts', line: 5 })]);
    const [app] = side.fake.apps;
    side.fake.faults.push(badGateway(/^POST .*\/reviews$/, { works: true }));
    // What it took last before it let the App in no more.
    side.fake.reviews.push = (...taken) => {
      app!.suspended = true;
      return Array.prototype.push.apply(side.fake.reviews, taken);
    };
    await saidOtherwise(world, room);
    app!.suspended = false;
    await posted(world, room);
    expect(side.fake.reviews).toHaveLength(1);
    expect(side.comments()).toHaveLength(1);
  });

  test('GitLab took the remarks, and then the token no more', async () => {
    const side = await gitlab();
    running.push(side);
    const { world, room } = await drafted(side, [of('major', 'LINE 5.', { path: 'long.ts', line: 5 })]);
    side.fake.failures.push({ on: /POST .*\/notes$/, status: 401 });
    await saidOtherwise(world, room);
    expect(side.comments()[0]![1]).toContain('LINE 5.');
    await posted(world, room);
    expect(side.comments().map(([place, body]) => [place, /OTHERWISE/.test(body)])).toEqual([['long.ts:5', true]]);
    expect(side.body()).toContain('Look again.');
  });
});

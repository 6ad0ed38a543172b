import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitLabForge } from '../../activities/forge/gitlab/index.js';
import { ForgeError } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { TOKEN } from '../support/fake-gitlab/index.js';
import { GitLabWorld, NOW } from './gitlab-world.js';

let world: GitLabWorld;
beforeEach(() => void (world = new GitLabWorld()));
afterEach(() => world.stop());

describe('O1: the head and the merge base', () => {
  test('the base commit is the merge base, not the head of the base branch', async () => {
    const base = world.git.head('main');
    const topic = world.git.push({ 'a.ts': 'a\n' });
    const baseRef = world.git.pushBase({ 'b.ts': 'b\n' });
    await world.start();
    world.gitlab.state.draft = true;
    world.gitlab.state.labels.push('review me');
    const asked = { draft: true, labels: ['review me'] };
    expect(await world.head()).toEqual({ state: 'open', headSha: topic, baseSha: base, baseRefSha: baseRef, ...asked, readAt: NOW });
    expect((await world.diff()).files.map((file) => file.path)).toEqual(['a.ts']);
  });

  test('a push whose diff GitLab has not made yet: its own head, its merge base asked for', async () => {
    const base = world.git.head('main');
    world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const first = await world.forge.headFingerprint(world.ref);
    const topic = world.git.push({ 'b.ts': 'b\n' });
    world.gitlab.state.faults.notPrepared = 3;
    const second = await world.forge.headFingerprint(world.ref);
    expect(await world.head()).toMatchObject({ headSha: topic, baseSha: base });
    expect((await world.diff()).files.map((file) => file.path)).toEqual(['a.ts', 'b.ts']);
    const third = await world.forge.headFingerprint(world.ref);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  test('without a merge base to be had it is passing trouble', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start({ notPrepared: 1 });
    world.gitlab.failures.push({ on: /merge_base/, status: 404 });
    await expect(world.head()).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 5 });
    expect(await world.head()).toMatchObject({ state: 'open' });
  });

  test('C9: unrelated histories are compared with the base branch itself', async () => {
    world.git.git('checkout', '-q', '--orphan', 'island');
    world.git.write('island.ts', 'alone\n').commit('Alone');
    world.git.git('branch', '-f', 'topic', 'island');
    await world.start();
    expect(await world.head()).toMatchObject({ state: 'open', baseSha: world.git.head('main'), headSha: world.git.head('island') });
    expect((await world.diff()).files.map((file) => file.path)).toEqual(['island.ts']);
    expect(await world.forge.commitsBetween(world.ref, world.git.head('main'), world.git.head('island'))).toBeNull();
  });

  test.each([
    ['opened', 'open'],
    ['locked', 'open'],
    ['merged', 'merged'],
    ['closed', 'closed'],
  ] as const)('P5: %s is %s', async (state, told) => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const before = await world.forge.headFingerprint(world.ref);
    world.gitlab.state.stateName = state;
    expect((await world.head()).state).toBe(told);
    expect((await world.forge.headFingerprint(world.ref)) === before).toBe(state === 'opened');
  });

  test("R8: resolved by the project's id, which a move does not change", async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const resolved = await world.forge.resolve(parsePullRequest(world.ref.url.replace('group/sub-group', 'Group/Sub-Group')));
    expect(resolved).toMatchObject({ repository: `gitlab:${new URL(world.gitlab.url).host}#4242`, url: world.gitlab.pullRequest });
    world.gitlab.state.formerPath = world.gitlab.state.projectPath;
    world.gitlab.state.projectPath = 'another/home';
    // As a room keeps it: the old address, and the id beside it.
    expect(await world.forge.head(resolved)).toMatchObject({ state: 'open' });
    expect(await world.forge.resolve(world.ref)).toMatchObject({
      key: resolved.key,
      url: expect.stringContaining('another/home') as string,
    });
  });

  test('a self-managed GitLab with a path of its own', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start({}, '/gitlab');
    const resolved = await world.forge.resolve(world.ref);
    expect(resolved.url).toBe(world.gitlab.pullRequest);
    expect(await world.forge.head(resolved)).toMatchObject({ headSha: world.git.head('topic') });
  });

  test('R11: a merge request of another GitLab is refused before any call', async () => {
    await world.start();
    const other = parsePullRequest('https://gitlab.example.com/g/p/-/merge_requests/1');
    await expect(world.forge.head(other)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('GITLAB_URL') as string,
    });
    await expect(world.forge.head(parsePullRequest('https://github.com/o/r/pull/1'))).rejects.toMatchObject({ kind: 'invalid' });
    expect(world.gitlab.calls).toEqual([]);
  });
});

describe('C1: title, description, issue and comments', () => {
  test("comments of all threads with path and line, page by page, without GitLab's own notes", async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const { state } = world.gitlab;
    state.addNote({ body: 'added 1 commit', system: true });
    state.addNote({
      body: 'Why?',
      position: { new_path: 'a.ts', old_path: 'a.ts', new_line: 1, old_line: null },
      discussion: 'd1',
      resolved: true,
    });
    state.addNote({ body: 'Because', discussion: 'd1' });
    for (let at = 0; at < 120; at++) state.addNote({ body: `Talk ${at}` });
    state.issues = [
      { id: 900, iid: 12, title: 'The issue', description: 'Its text', web_url: 'https://gitlab.example.com/g/p/-/issues/12' },
    ];
    const read = await world.forge.describe(world.ref);
    expect(read).toMatchObject({
      title: 'A title',
      description: 'What it does',
      gaps: [],
      issue: { id: '12', title: 'The issue', body: 'Its text' },
    });
    expect(read.comments).toHaveLength(122);
    expect(read.comments[0]).toEqual({
      id: expect.any(String) as string,
      author: 'robin',
      at: '2030-01-07T12:00:00.000Z',
      body: 'Why?',
      path: 'a.ts',
      line: 1,
      url: expect.stringMatching(/#note_\d+$/) as string,
      resolved: true,
    });
    expect(read.comments[1]).toMatchObject({ body: 'Because', path: null, line: null });
  });

  test('an issue of another tracker has its title; none, and a text that is not there', async () => {
    await world.start();
    world.gitlab.state.description = null;
    expect(await world.forge.describe(world.ref)).toMatchObject({ description: '', issue: null, comments: [] });
    world.gitlab.state.issues = [{ id: 'PROJECT-123', title: 'In another tracker' }];
    expect(await world.forge.describe(world.ref)).toMatchObject({
      issue: { id: 'PROJECT-123', title: 'In another tracker', body: '', url: null },
    });
  });

  test('an issue of another project is named with it: the same number here is another one', async () => {
    await world.start();
    const { state } = world.gitlab;
    const issue = { id: 31, iid: 3, title: 'It breaks', description: null, references: { full: 'group/tickets#3' } };
    for (const [of, id] of [
      [99, 'group/tickets#3'],
      [state.projectId, '3'],
    ]) {
      state.issues = [{ ...issue, project_id: of }];
      expect((await world.forge.describe(world.ref)).issue?.id).toBe(id);
    }
  });

  test('C9: internal notes and confidential issues are left out by name, what may not be read is a gap, and 2 000 comments are enough', async () => {
    await world.start();
    const { state } = world.gitlab;
    state.addNote({ body: 'Among us', internal: true });
    state.issues = [{ id: 1, iid: 1, title: 'Secret', description: 'x', confidential: true }];
    for (let at = 0; at < 2_050; at++) state.addNote({ body: 'Talk' });
    const read = await world.forge.describe(world.ref);
    expect(JSON.stringify(read)).not.toMatch(/Among us|Secret/);
    expect(read.comments).toHaveLength(2_000);
    expect(read.gaps).toEqual([
      'The issue it closes is confidential and left out.',
      'Only the first 2000 comments are given.',
      '1 internal note is left out: only members of the project may read them.',
    ]);
    world.gitlab.failures.push({ on: /closes_issues/, status: 403 });
    expect((await world.forge.describe(world.ref)).gaps[0]).toMatch(/^The issue it closes could not be read: GitLab forbids/);
  });
});

describe('F3: what a path is', () => {
  test('a file that is too large is named by its object, and never fetched', async () => {
    const git = world.git;
    git.write('big', 'x'.repeat(1_000_001)).commit('Large');
    await world.start();
    const read = await world.forge.file(world.ref, git.head('topic'), 'big');
    expect(read).toEqual({ kind: 'too_large', sha: git.head('topic:big'), size: 1_000_001 });
    expect(world.gitlab.asked(/files\/big\/raw/)).toEqual([]);
  });
});

describe('V5: the pipeline of the commit', () => {
  test.each([
    ['success', 'success'],
    ['skipped', 'success'],
    ['failed', 'failure'],
    ['canceled', 'failure'],
    ['canceling', 'pending'],
    ['created', 'pending'],
    ['waiting_for_resource', 'pending'],
    ['preparing', 'pending'],
    ['pending', 'pending'],
    ['running', 'pending'],
    ['manual', 'pending'],
    ['scheduled', 'pending'],
    ['something_new', 'pending'],
  ] as const)('%s is %s', async (status, state) => {
    const sha = world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    world.gitlab.state.pipelines = [
      { id: 1, sha, status: 'failed' },
      { id: 2, sha, status },
    ];
    expect(await world.forge.ci(world.ref, sha)).toMatchObject({
      state,
      summary: expect.stringContaining(`Pipeline #2: ${status}`) as string,
      url: expect.stringMatching(/pipelines\/2$/) as string,
    });
  });

  test('none; that of an older commit; that of a fork; that of the merged result', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push({ 'b.ts': 'b\n' });
    await world.start();
    const { state } = world.gitlab;
    expect(await world.forge.ci(world.ref, two)).toEqual({ state: 'none', summary: 'No pipeline ran on this commit.', url: null });
    expect(world.gitlab.asked(/pipelines\/latest/)).toEqual([]);
    state.pipelines = [
      { id: 1, sha: one, status: 'failed' },
      { id: 3, sha: two, status: 'running', project: 99 },
    ];
    expect(await world.forge.ci(world.ref, one)).toMatchObject({ state: 'failure' });
    expect(await world.forge.ci(world.ref, two)).toMatchObject({ state: 'pending' });
    const merged = world.git.checkout('main').git('commit-tree', '-p', 'main', '-p', two, '-m', 'Merged result', `${two}^{tree}`);
    state.headPipeline = { id: 4, sha: merged, status: 'success' };
    expect(await world.forge.ci(world.ref, two)).toMatchObject({ state: 'success' });
    expect(await world.forge.ci(world.ref, one)).toMatchObject({ state: 'failure' });
  });

  test('after a push GitLab goes on naming the pipeline of the head before: it says nothing of the new one', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const { state } = world.gitlab;
    state.pipelines = [{ id: 1, sha: one, status: 'success' }];
    state.headPipeline = { id: 1, sha: one, status: 'success' };
    const two = world.git.push({ 'b.ts': 'b\n' });
    expect(await world.forge.ci(world.ref, two)).toMatchObject({ state: 'none' });
    // Of a commit that is gone since, after a force-push.
    state.headPipeline = { id: 2, sha: 'e'.repeat(40), status: 'success' };
    expect(await world.forge.ci(world.ref, two)).toMatchObject({ state: 'none' });
    expect(await world.forge.ci(world.ref, one)).toMatchObject({ state: 'success' });
  });

  test('the pipeline of a head into which the target was merged says nothing of the commit before it', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    const { state } = world.gitlab;
    world.git.checkout('main').write('b.ts', 'b\n').commit('Base');
    world.git.checkout('topic').git('merge', '-q', '--no-ff', '--no-edit', 'main');
    const two = world.git.head('topic');
    state.pipelines = [{ id: 1, sha: one, status: 'failed' }];
    state.headPipeline = { id: 2, sha: two, status: 'success' };
    expect(await world.forge.ci(world.ref, two)).toMatchObject({ state: 'success' });
    expect(await world.forge.ci(world.ref, one)).toMatchObject({ state: 'failure' });
  });

  test('what may not be read is told, and is never an approval', async () => {
    const sha = world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    world.gitlab.failures.push({ on: /pipelines/, status: 403, body: { message: '403 Forbidden' } });
    await expect(world.forge.ci(world.ref, sha)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('403') as string,
    });
  });
});

describe('issue 5: every failure by who must act, and no word of the token', () => {
  const failing = async (failure: { status: number; headers?: Record<string, string>; body?: unknown }) => {
    world.gitlab.failures.push({ on: /./, ...failure });
    return world.forge.head(world.ref).then(
      () => null,
      (error: unknown) => error as ForgeError,
    );
  };

  test.each([
    [{ status: 401 }, 'refused', /revoked.*GITLAB_TOKEN/, undefined],
    [
      { status: 403, body: { error: 'insufficient_scope', error_description: 'x', scope: 'api' } },
      'refused',
      /lacks the scope api/,
      undefined,
    ],
    [{ status: 404 }, 'not_found', /no merge_requests\/7, or the token may not see it/, undefined],
    [{ status: 400, body: { message: { base: ['is wrong'] } } }, 'invalid', /is wrong/, undefined],
    [{ status: 409 }, 'unavailable', /just now/, undefined],
    [{ status: 500, body: { message: 'x' } }, 'unavailable', /failed at merge_requests\/7 \(500\)/, undefined],
    [{ status: 503, headers: { 'retry-after': '120' } }, 'unavailable', /503/, 120],
    [{ status: 429, headers: { 'retry-after': '30' } }, 'unavailable', /waiting for GitLab until \d\d:\d\d UTC/, 30],
    [{ status: 429, headers: { 'retry-after': new Date(NOW + 90_000).toUTCString() } }, 'unavailable', /waiting for GitLab/, 90],
    [
      { status: 429, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(NOW / 1_000 + 17) } },
      'unavailable',
      /waiting for GitLab/,
      17,
    ],
    [{ status: 429 }, 'unavailable', /waiting for GitLab/, 60],
    [{ status: 429, headers: { 'retry-after': '99999999' } }, 'unavailable', /waiting for GitLab/, 3_600],
    [
      { status: 302, headers: { location: 'https://elsewhere.example.com/api/v4/x' } },
      'refused',
      /elsewhere\.example\.com: set GITLAB_URL/,
      undefined,
    ],
    [{ status: 200, body: '<html>Sign in</html>' }, 'refused', /no form of GitLab's API/, undefined],
  ] as const)('%o is %s', async (failure, kind, message, retryAfter) => {
    await world.start();
    const error = await failing(failure);
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) as string });
    expect(error?.retryAfter).toBe(retryAfter);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(TOKEN);
  });

  test('a limit is kept to by every call until its time has come', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start();
    await failing({ status: 429, headers: { 'retry-after': '30' } });
    const calls = world.gitlab.calls.length;
    world.now += 10_000;
    await expect(world.forge.describe(world.ref)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 20 });
    expect(world.gitlab.calls).toHaveLength(calls);
    world.now += 20_000;
    expect(await world.forge.describe(world.ref)).toMatchObject({ title: 'A title' });
  });

  test('a revoked token, a server that is gone, a stop', async () => {
    await world.start();
    world.gitlab.token = 'glpat-another';
    const revoked = createGitLabForge({ url: `${world.gitlab.url}/`, token: async () => Promise.resolve(TOKEN), now: () => NOW });
    await expect(revoked.head(world.ref)).rejects.toMatchObject({ kind: 'refused' });
    const stop = new AbortController();
    const stopped = createGitLabForge({
      url: world.gitlab.url,
      token: async () => Promise.resolve(TOKEN),
      now: () => NOW,
      stop: stop.signal,
    });
    stop.abort();
    await expect(stopped.head(world.ref)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('stopped') as string,
    });
    await world.gitlab.stop();
    const gone = await world.forge.head(world.ref).catch((error: unknown) => error as ForgeError);
    expect(gone).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('ECONNREFUSED') as string });
    expect(inspect(gone, { depth: 9, showHidden: true })).not.toContain('glpat');
    (world.gitlab as { stop: unknown }).stop = async () => Promise.resolve();
  });

  test('the token is in no URL', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    await world.start({ noRawDiffs: true, leftOut: { 'a.ts': 'collapsed' } });
    await world.diff();
    expect(world.gitlab.calls.length).toBeGreaterThan(4);
    expect(world.gitlab.calls.filter((call) => call.includes(TOKEN))).toEqual([]);
  });
});

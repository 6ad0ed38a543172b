import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { freshSha } from '../support/fake-github/index.js';
import { GitHubWorld, NOON } from '../support/fake-github/world.js';

let world: GitHubWorld;
beforeEach(async () => {
  world = await GitHubWorld.start();
});
afterEach(() => world.stop());

const local = () => createLocalForge({ allowedRoots: null, now: () => NOON });
const localRef = () => parsePullRequest(world.git.pullRequest);

describe('O1: the head and the merge base', () => {
  test('are those that git names, whoever pushes to the base', async () => {
    const base = world.git.head('main');
    const topic = world.git.push({ 'a.ts': 'a\n' });
    const baseRefSha = world.git.pushBase({ 'b.ts': 'b\n' });
    world.github.pull.draft = true;
    world.github.pull.labels.push('review me');
    const head = { state: 'open', headSha: topic, baseSha: base, baseRefSha, readAt: NOON };
    expect(await local().head(localRef())).toEqual(head);
    expect(await world.forge.head(world.ref)).toEqual({ ...head, draft: true, labels: ['review me'] });
  });

  test('a merged pull request keeps the base it was merged into', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    const before = await world.head();
    world.github.merge();
    expect(await world.head()).toEqual({ ...before, state: 'merged' });
  });

  test('a pull request of a deleted fork is read from the base repository', async () => {
    const topic = world.git.push({ 'a.ts': 'a\n' });
    world.github.pull.headRepoGone = true;
    expect(await world.head()).toMatchObject({ headSha: topic, state: 'open' });
    expect((await world.forge.diff(world.ref, await world.head())).files).toHaveLength(1);
  });

  test('P4: a commit GitHub does not know everywhere yet is asked for again, and is no rewritten branch', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push({ 'a.ts': 'b\n' });
    world.github.faults.push(freshSha(/\/compare\//, 2));
    await expect(world.head()).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 3 });
    world.github.faults.push(freshSha(/\/compare\//), freshSha(/\/git\/commits\//));
    await expect(world.forge.commitsBetween(world.ref, one, two)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 3 });
    expect(await world.forge.commitsBetween(world.ref, one, two)).toBe(1);
  });

  test('unrelated histories are compared with the base branch itself', async () => {
    world.git.git('checkout', '-q', '--orphan', 'island');
    world.git.write('island.ts', 'x\n').commit('Island');
    world.git.git('branch', '-q', '-f', 'topic', 'island');
    const head = await world.head();
    expect(head.baseSha).toBe(world.git.head('main'));
    expect(await world.forge.compare(world.ref, head.baseSha, head.headSha)).toMatchObject({ status: 'diverged' });
    expect(await world.forge.diff(world.ref, head)).toEqual(await local().diff(localRef(), head));
  });

  test('P4: the fingerprint changes with head, base branch and state, and costs nothing while nothing changes', async () => {
    const first = await world.forge.headFingerprint(world.ref);
    expect(await world.forge.headFingerprint(world.ref)).toBe(first);
    world.git.push({ 'a.ts': 'a\n' });
    const second = await world.forge.headFingerprint(world.ref);
    expect(second).not.toBe(first);
    world.github.pull.state = 'closed';
    expect(await world.forge.headFingerprint(world.ref)).not.toBe(second);
  });
});

describe('R8: one pull request is one key', () => {
  test('a renamed repository keeps its key, and the old address goes on working', async () => {
    world.git.push({ 'a.ts': 'a\n' });
    const old = world.ref;
    const before = await world.forge.resolve(old);
    expect(before).toMatchObject({
      key: expect.stringMatching(/\/4242#7$/) as string,
      repository: expect.stringMatching(/\/4242$/) as string,
    });
    world.github.rename('new-org', 'renamed');
    const after = await world.again().resolve(old);
    expect(after.key).toBe(before.key);
    expect(after.url).toContain('/new-org/renamed/pull/7');
    expect((await world.forge.diff(before, await world.head())).files).toHaveLength(1);
  });

  test('a repository whose name is a number is read before it is known by its id', async () => {
    world.github.rename('octo-org', '2048');
    const resolved = await world.forge.resolve(world.ref);
    expect(resolved).toMatchObject({ url: expect.stringContaining('/octo-org/2048/pull/7') as string });
    expect(await world.forge.head(resolved)).toMatchObject({ state: 'open' });
  });

  test('an old name that was given to another repository is refused, not read', async () => {
    const ref = await world.forge.resolve(world.ref);
    world.github.repo = { ...world.github.repo, id: 5_555 };
    await expect(world.forge.head(ref)).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('another repository') as string,
    });
  });

  test('a pull request of another GitHub is refused with the setting that names ours', async () => {
    await expect(world.forge.head(parsePullRequest('https://github.com/octo-org/hello/pull/7'))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('GITHUB_API_URL') as string,
    });
  });

  test('a pull request that is not there is not found', async () => {
    await expect(world.forge.resolve(parsePullRequest(world.github.pullRequest.replace('/7', '/8')))).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('C1: title, description, issue and comments', () => {
  test('come from where GitHub keeps each, a thread together, a resolved one marked', async () => {
    const { github } = world;
    world.git.push({ 'a.ts': 'a\n' });
    github.pull.closes = [
      { number: 3, title: 'It breaks', body: 'Badly.' },
      { number: 4, title: 'Also', body: '' },
    ];
    github.comment('alex', 'Looks odd.', '2029-06-03T00:00:00Z');
    const head = github.reviewComment('kim', 'Why a?', '2029-06-02T00:00:00Z', { path: 'a.ts', line: 1 });
    github.reviewComment('robin', 'Because.', '2029-06-04T00:00:00Z', { path: 'a.ts', line: 1, replyTo: head });
    github.resolved.add(head);
    github.reviews.push({
      id: 5,
      author: 'kim',
      body: 'Please look.',
      state: 'CHANGES_REQUESTED',
      commit: github.headSha,
      submittedAt: '2029-06-02T00:00:00Z',
    });
    const text = await world.forge.describe(world.ref);
    expect(text).toMatchObject({
      title: 'Add a thing',
      description: 'It adds a thing.',
      issue: { id: '#3', title: 'It breaks', body: 'Badly.' },
    });
    expect(text.comments.map(({ author, body, path, line, resolved }) => [author, body, path, line, resolved])).toEqual([
      ['kim', 'Please look.', null, null, undefined],
      ['kim', 'Why a?', 'a.ts', 1, true],
      ['robin', 'Because.', 'a.ts', 1, true],
      ['alex', 'Looks odd.', null, null, undefined],
    ]);
    expect(text.gaps).toEqual([expect.stringMatching(/^It closes 1 further issues.*issues\/4$/)]);
  });

  test('are read over every page: 250 comments and 130 threads', async () => {
    for (let at = 0; at < 250; at++) world.github.comment('alex', `c${at}`, '2029-06-03T00:00:00Z');
    for (let at = 0; at < 130; at++)
      world.github.resolved.add(world.github.reviewComment('kim', `t${at}`, '2029-06-02T00:00:00Z', { path: 'a.ts', line: 1 }));
    const { comments, gaps } = await world.forge.describe(world.ref);
    expect(comments).toHaveLength(380);
    expect(comments.filter((comment) => comment.resolved)).toHaveLength(130);
    expect(gaps).toEqual([]);
  });

  test('an issue of another repository is named with it: the same number here is another one', async () => {
    world.github.pull.closes = [{ number: 3, title: 'It breaks', body: '', of: 'octo-org/tickets' }];
    const { issue } = await world.forge.describe(world.ref);
    expect(issue).toMatchObject({ id: 'octo-org/tickets#3', url: `${world.github.urls.web}/octo-org/tickets/issues/3` });
  });

  test('a page that GitHub took hidden accounts off is short, and not the last', async () => {
    for (let at = 0; at < 120; at++) world.github.comment(at === 3 ? 'spammer' : 'kim', `c${at}`, '2029-06-01T00:00:00Z');
    world.github.hidden.add('spammer');
    expect((await world.forge.describe(world.ref)).comments).toHaveLength(119);
  });

  test('C9: what GitHub does not let us read is a gap, and the rest is given; an empty description is empty', async () => {
    world.github.pull.body = null;
    delete world.operator.permissions.issues;
    world.github.comment('alex', 'Hello.', '2029-06-03T00:00:00Z');
    const text = await world.forge.describe(world.ref);
    expect(text).toMatchObject({ description: '', issue: null, comments: [{ body: 'Hello.' }] });
    expect(text.gaps).toEqual([expect.stringMatching(/^The closing issue and which threads are resolved could not be read/)]);
  });

  test('C9: more comments than are read are named', async () => {
    for (let at = 0; at < 1_001; at++) world.github.comment('alex', `c${at}`, '2029-06-03T00:00:00Z');
    const { comments, gaps } = await world.forge.describe(world.ref);
    expect(comments).toHaveLength(1_000);
    expect(gaps).toEqual(['Only the first 1000 comments are shown.']);
  });
});

describe('F3: what a path is', () => {
  test('text, binary, symlink, submodule, folder, missing and too large are as git has them', async () => {
    const { git } = world;
    git
      .write('deep/er/a.txt', 'one\ntwo')
      .write('bin', Buffer.from([65, 0]))
      .symlink('link', 'deep/er/a.txt')
      .write('empty', '');
    git
      .write('big', 'x'.repeat(1_000_001))
      .write('limit', 'x'.repeat(1_000_000))
      .write('latin', Buffer.from([0xfc]))
      .write('grün/日本 &?#.ts', 'ü\n');
    git.submodule('sub', '3'.repeat(40)).commit('Kinds');
    const head = git.head('topic');
    for (const path of [
      'deep/er/a.txt',
      'bin',
      'link',
      'empty',
      'big',
      'limit',
      'latin',
      'grün/日本 &?#.ts',
      'sub',
      'deep',
      'deep/none',
      'link/passwd',
      'none',
      '.git/config',
    ]) {
      expect([path, await world.forge.file(world.ref, head, path)]).toEqual([path, await local().file(localRef(), head, path)]);
    }
    for (const outside of ['../x', 'deep/../bin', '/etc/passwd', ''])
      expect(await world.forge.file(world.ref, head, outside)).toEqual({ kind: 'missing' });
    await expect(world.forge.file(world.ref, 'a'.repeat(40), 'bin')).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('aaaaaaa') as string,
    });
    await expect(world.forge.file(world.ref, 'main', 'bin')).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('folders that were read are not read again', async () => {
    world.git.write('a/b/one', '1').write('a/b/two', '2').commit('Two');
    const head = world.git.head('topic');
    await world.forge.file(world.ref, head, 'a/b/one');
    const before = world.github.count(/\/git\/trees\//);
    await world.forge.file(world.ref, head, 'a/b/two');
    expect(before).toBe(3);
    expect(world.github.count(/\/git\/trees\//)).toBe(before);
  });
});

describe('V5: ci in five states', () => {
  const checks = () => world.github.checks;
  const ci = () => world.forge.ci(world.ref, world.git.head('topic'));
  const check = (name: string, conclusion: (typeof world.github.checks)[number]['conclusion'], appId = 99) => {
    checks().push({ name, sha: world.github.headSha, status: conclusion === null ? 'in_progress' : 'completed', conclusion, appId });
  };

  test('nothing at all is none, though the combined status says pending', async () => {
    expect(await ci()).toEqual({ state: 'none', summary: 'No checks ran.', url: null });
  });

  test.each(['failure', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale'] as const)(
    '%s is a failure, named, whatever else runs',
    async (conclusion) => {
      check('lint', conclusion);
      check('build', null);
      check('test', 'success');
      expect(await ci()).toEqual({
        state: 'failure',
        summary: '1 passed, 1 failed (lint), 1 pending (build) since 2029-06-01T00:00:00Z.',
        url: expect.stringContaining('/runs/lint') as string,
      });
    },
  );

  test('success, neutral and skipped pass; commit statuses count beside check runs', async () => {
    for (const conclusion of ['success', 'neutral', 'skipped'] as const) check(conclusion, conclusion);
    expect(await ci()).toMatchObject({ state: 'success', summary: '3 passed, 0 failed, 0 pending.' });
    world.github.statuses.push({ context: 'deploy', sha: world.github.headSha, state: 'pending' });
    expect(await ci()).toMatchObject({ state: 'pending' });
    world.github.statuses.push({ context: 'legacy', sha: world.github.headSha, state: 'error' });
    expect(await ci()).toMatchObject({ state: 'failure', url: expect.stringContaining('/status/legacy') as string });
  });

  test('the failing check is found behind a hundred passing ones, of both kinds', async () => {
    for (let at = 0; at < 120; at++) check(`c${at}`, 'success');
    for (let at = 0; at < 120; at++) world.github.statuses.push({ context: `s${at}`, sha: world.github.headSha, state: 'success' });
    expect(await ci()).toMatchObject({ state: 'success', summary: '240 passed, 0 failed, 0 pending.' });
    check('late', 'failure');
    expect(await ci()).toMatchObject({ state: 'failure', summary: expect.stringContaining('1 failed (late)') as string });
  });

  test('our own check runs are not waited for', async () => {
    check('barista', null, world.operator.id);
    expect(await ci()).toMatchObject({ state: 'none' });
  });

  test('checks we may not read are refused by the permission GitHub names, with where to accept it', async () => {
    delete world.operator.permissions.checks;
    const settings = `${world.github.urls.web}/organizations/octo-org/settings/installations/110`;
    await expect(ci()).rejects.toMatchObject({
      kind: 'refused',
      message: `The GitHub App barista lacks a permission in octo-org/hello: checks=read. Accept its permissions at ${settings}.`,
      facts: { identity: 'operator', mendAt: settings, partial: true },
    });
  });

  test('those of a suspended App are refused, with where to lift it', async () => {
    world.operator.suspended = true;
    await expect(ci()).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is suspended') as string,
      facts: { mendAt: expect.stringContaining('/settings/installations/110') as string },
    });
  });
});

describe('C4: comparing two commits', () => {
  test('C6: a comparison of 300 files or more is completed with git, or says that it is capped', async () => {
    world.github.limits.compareFiles = 300;
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push(Object.fromEntries(Array.from({ length: 310 }, (_, at) => [`f${at}`, `${at}\n`])));
    const whole = await world.forge.compare(world.ref, one, two);
    expect(whole).toMatchObject({ status: 'ahead', commits: 1, capped: false });
    expect(whole.changedPaths).toHaveLength(310);
    world.github.faults.push({ on: /^GIT /, status: 403, body: {} });
    const capped = await world.forge.compare(world.ref, one, two);
    expect(capped).toMatchObject({ status: 'ahead', commits: 1, capped: true });
    expect(capped.changedPaths).toHaveLength(300);
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Diff } from '../../activities/forge/port.js';
import { everyKindOfChange, GitLabWorld, withoutObjects } from './gitlab-world.js';

let world: GitLabWorld;
beforeEach(() => void (world = new GitLabWorld()));
afterEach(() => world.stop());

const byPath = (diff: Diff) => Object.fromEntries(diff.files.map((file) => [file.path, file]));

describe('C1: changed files, every kind of change named', () => {
  test("from the raw diff: the same as a local repository's, file by file", async () => {
    everyKindOfChange(world.git);
    await world.start();
    const local = await world.localDiff();
    // Git names no object where the content stays the same.
    const files = local.files.map((file) =>
      file.noPatch === 'renamed_only' || file.noPatch === 'mode_only' ? { ...file, blobSha: null } : file,
    );
    expect(await world.diff()).toEqual({ files, gaps: [] });
    expect(world.gitlab.asked(/\/diffs/)).toEqual([]);
  });

  test('objects that GitLab shortens are not named', async () => {
    everyKindOfChange(world.git);
    await world.start({ shortIndex: true });
    const { files } = await world.diff();
    expect(withoutObjects(files)).toEqual(withoutObjects((await world.localDiff()).files));
    expect(files.every((file) => file.blobSha === null)).toBe(true);
  });

  test('before GitLab 17.9: from its listing, page by page, at most 20 a page', async () => {
    everyKindOfChange(world.git);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`many/${at}.ts`, `${at}\n`]));
    // An empty new file cannot be told from one left out: git is asked about it.
    world.git.remove('nothing').push(many);
    await world.start({ noRawDiffs: true, failsAbove30APage: true });
    expect(withoutObjects((await world.diff()).files)).toEqual(withoutObjects((await world.localDiff()).files));
    expect(world.gitlab.asked(/\/diffs\?per_page=20/).length).toBeGreaterThan(3);
    expect(world.gitlab.asked(/git-upload-pack/)).toEqual([]);
    world.gitlab.state.faults.noPagingHeaders = true;
    expect((await world.diff()).files).toHaveLength((await world.localDiff()).files.length);
  });
});

describe('C9: whatever GitLab caps or leaves out is read from the commits, or named', () => {
  test.each(['collapsed', 'too_large', 'unflagged'] as const)('a diff left out (%s) is fetched with git', async (how) => {
    world.git.push({ 'big.ts': 'big\n', 'small.ts': 'small\n' });
    await world.start({ noRawDiffs: true, leftOut: { 'big.ts': how } });
    expect(await world.diff()).toEqual(await world.localDiff());
    expect(world.gitlab.asked(/git-upload-pack/).length).toBeGreaterThan(0);
  });

  test('where git cannot have it either it is a gap with its name, and costs the others nothing', async () => {
    world.git.push({ 'big.ts': 'big\n', 'small.ts': 'small\n' });
    await world.start({ noRawDiffs: true, noGit: true, leftOut: { 'big.ts': 'unflagged' } });
    const diff = await world.diff();
    expect(byPath(diff)['small.ts']).toMatchObject({ patch: '@@ -0,0 +1 @@\n+small' });
    expect(byPath(diff)['big.ts']).toMatchObject({ patch: null, noPatch: 'collapsed', additions: null });
    expect(diff.gaps).toEqual(['GitLab left out the patch of big.ts.', expect.stringMatching(/^Git could not make up for it: /) as string]);
  });

  test('C9: where git only fails for now no diff is answered, for it would be kept with that gap for ever', async () => {
    world.git.push({ 'big.ts': 'big\n' });
    await world.start({ noRawDiffs: true, noGit: true, gitAnswers: 503, leftOut: { 'big.ts': 'collapsed' } });
    await expect(world.diff()).rejects.toMatchObject({ kind: 'unavailable' });
    world.gitlab.state.faults.noGit = false;
    expect((await world.diff()).gaps).toEqual([]);
  });

  test('more files than GitLab lists ("1000+") are listed from the commits', async () => {
    world.git.push(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}.ts`, `${at}\n`])));
    await world.start({ noRawDiffs: true, maxFiles: 10 });
    expect((await world.diff()).files).toHaveLength(12);
    world.gitlab.state.faults.noGit = true;
    const cut = await world.diff();
    expect(cut.files).toHaveLength(10);
    expect(cut.gaps[0]).toBe('GitLab lists only 10 of 10+ changed files.');
  });

  test.each([{}, { noRawDiffs: true }])(
    'a push while the diff is read (%o): what is kept is still of the commits asked for',
    async (faults) => {
      world.git.push({ 'a.ts': 'a\n' });
      await world.start(faults);
      const commits = await world.head();
      const right = await world.localDiff();
      const { prepare } = world.gitlab.state;
      let reads = 0;
      // The push comes after the merge request was read and before its diff is.
      world.gitlab.state.prepare = () => {
        reads += 1;
        if (reads === 2) world.git.push({ 'b.ts': 'b\n' });
        return prepare.call(world.gitlab.state);
      };
      const diff = await world.forge.diff(world.ref, commits);
      expect(withoutObjects(diff.files)).toEqual(withoutObjects(right.files));
      expect(reads).toBeGreaterThan(2);
    },
  );
});

describe('C4, C6: comparing two heads', () => {
  test('straight from one to the other; how they stand is unknown, for GitLab reports no rebase', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    world.git.pushBase({ 'base.ts': 'b\n' });
    world.git.mergeBaseIn();
    const two = world.git.push({ 'b.ts': 'b\n' });
    await world.start();
    expect(await world.forge.compare(world.ref, one, two)).toEqual({
      status: 'unknown',
      commits: 3,
      changedPaths: ['b.ts', 'base.ts'],
      capped: false,
    });
    expect(await world.forge.compare(world.ref, two, two)).toMatchObject({ status: 'identical', commits: 0, changedPaths: [] });
    expect(world.gitlab.asked(/compare/).every((call) => call.includes('straight=true'))).toBe(true);
    expect(await world.forge.compare(world.ref, 'a'.repeat(40), two)).toEqual({
      status: 'unknown',
      commits: null,
      changedPaths: null,
      capped: false,
    });
    const since = await world.forge.diff(world.ref, { baseSha: one, headSha: two });
    expect(since.files.map((file) => file.path)).toEqual(['b.ts', 'base.ts']);
  });

  test('a rename counts with both its names', async () => {
    const one = world.git.push({ 'old.ts': 'some text\n'.repeat(20) });
    const two = world.git.rename('old.ts', 'new.ts').commit('Renamed');
    await world.start();
    expect((await world.forge.compare(world.ref, one, two)).changedPaths).toEqual(['old.ts', 'new.ts']);
  });

  test('compare_timeout is a cap and no timeout: every file counts as changed, and the files come from the commits', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push({ 'b.ts': 'b\n', 'c.ts': 'c\n' });
    await world.start({ compareOverflow: true, maxFiles: 1 });
    expect(await world.forge.compare(world.ref, one, two)).toMatchObject({ status: 'unknown', capped: true });
    expect(world.gitlab.asked(/compare/)).toHaveLength(1);
    expect((await world.forge.diff(world.ref, { baseSha: one, headSha: two })).files.map((file) => file.path)).toEqual(['b.ts', 'c.ts']);
  });

  test('P1: commits on top, and null once history was rewritten', async () => {
    const one = world.git.push({ 'a.ts': 'a\n' });
    const two = world.git.push({ 'b.ts': 'b\n' });
    const three = world.git.push({ 'c.ts': 'c\n' });
    const rewritten = world.git.forcePush({ 'd.ts': 'd\n' });
    await world.start();
    expect(await world.forge.commitsBetween(world.ref, one, three)).toBe(2);
    expect(await world.forge.commitsBetween(world.ref, two, two)).toBe(0);
    expect(await world.forge.commitsBetween(world.ref, three, one)).toBeNull();
    expect(await world.forge.commitsBetween(world.ref, three, rewritten)).toBeNull();
    expect(await world.forge.commitsBetween(world.ref, 'a'.repeat(40), three)).toBeNull();
  });
});

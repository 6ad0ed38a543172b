import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { GitWorld } from '../support/git-world.js';
import { aReview } from '../support/review.js';

let world: GitWorld;
let canary: string;
let trap: string;
beforeEach(() => {
  world = new GitWorld();
  world.write('.gitattributes', '*.ts diff=evil filter=evil\n*.bin diff=evil\n');
  world.push({ 'a.ts': 'one\n', 'b.bin': 'plain\n' });
  canary = join(world.path, '.git', 'canary');
  trap = join(world.path, '.git', 'trap.sh');
  // Answers its input, so that a filter or pager that ran would go unnoticed but for the canary.
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> "${canary}"\ncat 2>/dev/null\nexit 0\n`);
  chmodSync(trap, 0o755);
});
afterEach(() => world.dispose());

/** Every way in which a repository's own files can name a program to run. */
function armTheRepository(): void {
  const names = [
    ...['core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand', 'core.askPass', 'core.alternateRefsCommand', 'core.gitProxy'],
    ...['diff.external', 'diff.evil.command', 'diff.evil.textconv', 'pager.diff', 'pager.log', 'pager.diff-tree', 'pager.rev-list'],
    ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'gpg.program', 'gpg.ssh.program', 'interactive.diffFilter'],
    ...['credential.helper', 'uploadpack.packObjectsHook', 'sequence.editor', 'trace2.normalTarget'],
  ];
  for (const name of names) world.config(name, trap);
  for (const [name, value] of [
    ['log.showSignature', 'true'],
    ['commit.gpgSign', 'true'],
    ['core.attributesFile', join(world.path, '.gitattributes')],
    ['core.worktree', '..'],
    ['protocol.allow', 'always'],
    ['protocol.ext.allow', 'always'],
    ['alias.diff-tree', `!${trap}`],
    ['alias.rev-list', `!${trap}`],
    ['core.hooksPath', 'hooks'],
    ['maintenance.auto', 'true'],
  ] as const) {
    world.config(name, value);
  }
  const included = join(world.path, '.git', 'included');
  writeFileSync(included, `[core]\n\tfsmonitor = ${trap}\n\tpager = ${trap}\n[diff]\n\texternal = ${trap}\n`);
  world.config('includeIf.gitdir:/**.path', included);
  world.config('include.path', included);
  const gitDir = join(world.path, '.git');
  mkdirSync(join(gitDir, 'hooks'), { recursive: true });
  for (const hook of [
    'reference-transaction',
    'post-index-change',
    'fsmonitor-watchman',
    'pre-auto-gc',
    'post-commit',
    'commit-msg',
    'pre-commit',
    'prepare-commit-msg',
    'post-rewrite',
  ]) {
    writeFileSync(join(gitDir, 'hooks', hook), `#!/bin/sh\n${trap} ${hook}\n`);
    chmodSync(join(gitDir, 'hooks', hook), 0o755);
  }
  mkdirSync(join(gitDir, 'info'), { recursive: true });
  writeFileSync(join(gitDir, 'info', 'attributes'), '*.ts diff=evil filter=evil\n');
}

async function readAndPostEverything() {
  const forge = createLocalForge({ allowedRoots: null, now: () => 1_893_500_000_000 });
  const ref = await forge.resolve(parsePullRequest(world.pullRequest));
  const head = (await forge.head(ref)) as KnownHead;
  const review = aReview({ marker: 'draft-1', headSha: head.headSha });
  return {
    fingerprint: await forge.headFingerprint(ref),
    head,
    text: await forge.describe(ref),
    diff: await forge.diff(ref, head),
    compared: await forge.compare(ref, head.baseSha, head.headSha),
    file: await forge.file(ref, head.headSha, 'a.ts'),
    posted: await forge.post(ref, review),
    read: await forge.readBack(ref, review),
  };
}

test("C8: nothing that a repository's configuration names runs, and nothing it says changes an answer", async () => {
  const before = await readAndPostEverything();
  world.git('update-ref', '-d', 'refs/notes/barista');
  armTheRepository();
  expect(await readAndPostEverything()).toEqual(before);
  expect(existsSync(canary)).toBe(false);
  expect(before.diff.files.find((file) => file.path === 'a.ts')?.patch).toBe('@@ -0,0 +1 @@\n+one');
});

test('the traps are real: plain git springs them', () => {
  armTheRepository();
  world.git('diff', 'main', 'topic');
  expect(existsSync(canary)).toBe(true);
});

test('F4: replaced objects, grafts and a promisor that runs a program change nothing', async () => {
  const before = await readAndPostEverything();
  world.write('a.ts', 'forged\n').commit('Forged');
  world.git('replace', 'topic~1', 'topic');
  world.git('reset', '-q', '--hard', 'topic~1');
  mkdirSync(join(world.path, '.git', 'info'), { recursive: true });
  writeFileSync(join(world.path, '.git', 'info', 'grafts'), `${before.head.headSha}\n`);
  world.git('update-ref', '-d', 'refs/notes/barista');
  expect(await readAndPostEverything()).toEqual(before);
});

test('a missing object is not fetched, whatever the promisor says', async () => {
  const forge = createLocalForge({ allowedRoots: null, now: () => 0 });
  const ref = parsePullRequest(world.pullRequest);
  const head = world.head('topic');
  const blob = world.head('topic:a.ts');
  world.git('config', 'extensions.partialClone', 'evil');
  world.config('core.repositoryFormatVersion', '1').config('remote.evil.promisor', 'true').config('remote.evil.url', `ext::${trap} %S`);
  world.config('protocol.ext.allow', 'always').config('remote.evil.partialclonefilter', 'blob:none');
  rmSync(join(world.path, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true });
  await expect(forge.file(ref, head, 'a.ts')).rejects.toMatchObject({ kind: 'not_found' });
  await expect(forge.diff(ref, { baseSha: world.head('main'), headSha: head })).rejects.toMatchObject({ kind: 'not_found' });
  expect(existsSync(canary)).toBe(false);
});

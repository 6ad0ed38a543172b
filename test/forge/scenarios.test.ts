import { afterEach, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { ChangedFile, Forge, KnownHead, PullRequestRef } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { GitHubWorld } from '../support/fake-github/world.js';
import type { GitWorld } from '../support/git-world.js';
import { everyKindOfChange, GitLabWorld } from './gitlab-world.js';

/** A forge with a pull request of topic into main, whatever the repository holds. */
interface World {
  readonly git: GitWorld;
  readonly forge: Forge;
  readonly ref: PullRequestRef;
  stop(): unknown;
}

const WORLDS: readonly (readonly [name: string, start: () => Promise<World>])[] = [
  ['GitHub', () => GitHubWorld.start()],
  ['GitLab', () => new GitLabWorld().start()],
  ['GitLab before 17.9', () => new GitLabWorld().start({ noRawDiffs: true })],
];

const ODD = [
  ' spaced name ',
  'quo"te',
  "apo'strophe",
  'grün/日本.ts',
  '-dash',
  '--output=x',
  'new\nline',
  'tab\there',
  'back\\slash',
  ':(glob)*',
  'diff --git a',
  '$(touch x)',
  '*',
  'a&b=c?d#e%41',
  'a'.repeat(200),
];

const SCENARIOS: Readonly<Record<string, (git: GitWorld) => void>> = {
  'every kind of change': everyKindOfChange,
  'odd names, each as itself': (git) => void git.push(Object.fromEntries(ODD.map((name, at) => [name, `content ${at}\n`]))),
  'odd names removed and renamed': (git) => {
    git.pushBase(Object.fromEntries(ODD.map((name, at) => [name, `content ${at}\n`.repeat(9)])));
    git.mergeBaseIn();
    for (const [at, name] of ODD.entries()) {
      if (at % 2 === 0) git.remove(name);
      else git.rename(name, `moved/${name}`);
    }
    git.commit('Away with them');
  },
  'content that looks like a header': (git) => {
    const trap = 'diff --git a/x b/x\n@@ -1 +1 @@\nBinary files a and b differ\n';
    git.push({ 'a.patch': trap, 'b.ts': 'b\n' });
    git.push({ 'a.patch': `-- a\n++ b\n\\ No newline\n${trap}` });
  },
  'carriage returns, no newline at the end, bytes that are not UTF-8': (git) =>
    void git.push({
      'crlf.txt': 'a\r\nb\r\n',
      'open.txt': 'no end',
      'latin.txt': Buffer.from([0x66, 0xfc, 0x0a]),
      'form\ffeed': 'a\fb\u2028c\n',
    }),
  'one line of 3 MB between two others': (git) => void git.push({ 'a.ts': 'a\n', 'data.jsonl': 'x'.repeat(3_000_000), 'z.ts': 'z\n' }),
  'base merged in, and moved on': (git) => {
    git.push({ 'a.ts': 'a\n' });
    git.pushBase({ 'b.ts': 'b\n' });
    git.mergeBaseIn();
    git.push({ 'a.ts': 'a\nc\n' });
    git.pushBase({ 'd.ts': 'd\n' });
  },
  'nothing changed': (git) => void git.push({}),
};

let world: World | null = null;
afterEach(async () => {
  await world?.stop();
  world = null;
});

describe.each(WORLDS)('%s tells of a repository what git tells', (_, start) => {
  test.each(Object.entries(SCENARIOS))('C1, C9, F3: %s', async (__, make) => {
    world = await start();
    make(world.git);
    const { forge, ref, git } = world;
    const local = createLocalForge({ allowedRoots: null, now: () => 0 });
    const localRef = parsePullRequest(git.pullRequest);
    const right = (await local.head(localRef)) as KnownHead;
    const head = (await forge.head(ref)) as KnownHead;
    expect(head).toMatchObject({ baseSha: right.baseSha, headSha: right.headSha });

    const diff = await forge.diff(ref, head);
    const { files } = await local.diff(localRef, right);
    expect(diff.gaps).toEqual([]);
    expect(diff.files.map(named)).toEqual(files.map((file, at) => named(file, diff.files[at])));

    for (const file of files.filter((one) => one.status !== 'removed')) {
      expect(await forge.file(ref, head.headSha, file.path), file.path).toEqual(await local.file(localRef, right.headSha, file.path));
    }
  });
});

/** A forge need not name every object; where it does it is the right one. */
function named(file: ChangedFile, other: unknown): ChangedFile {
  return typeof other === 'object' && (other as ChangedFile).blobSha === null ? { ...file, blobSha: null } : file;
}

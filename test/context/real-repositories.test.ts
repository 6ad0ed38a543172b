import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalForge } from '../../activities/forge/local/index.js';
import type { KnownHead } from '../../activities/forge/port.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import type { FileEntry } from '../../activities/context/file-entry.js';
import { readContext, type ContextAnswer, type ContextQuery } from '../../activities/context/read-context.js';
import type { ReadFacts } from '../../activities/context/types.js';
import { fastImportHistory, type GitWorld } from '../support/git-world.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

/** Plain git, but for what this machine has configured. */
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const forge = createLocalForge({ allowedRoots: null, now: () => 0 });

async function allPages(facts: ReadFacts, query: ContextQuery = {}, store = new MemoryContextStore()): Promise<ContextAnswer[]> {
  const pages: ContextAnswer[] = [];
  for (let page = 1; ; page++) {
    const { answer } = await readContext({ forge, store }, facts, { ...query, page });
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(query.maxChars ?? 48_000);
    pages.push(answer);
    if (answer.last_page) return pages;
  }
}

/** What plain git says of one file, from its first hunk on. */
function gitPatch(repository: string, { baseSha, headSha }: KnownHead, file: FileEntry): string {
  const paths = [file.previous_path ?? file.path, file.path];
  const args = ['-c', 'diff.renames=true', 'diff', '--no-ext-diff', '--no-textconv', '-M50%', baseSha, headSha, '--', ...paths];
  const text = execFileSync('git', ['--literal-pathspecs', ...args], { cwd: repository, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  const hunks = text.slice(text.indexOf('\n@@ ') + 1).replace(/\n$/, '');
  return text.includes('\n@@ ') ? hunks : '';
}

const names = (repository: string, { baseSha, headSha }: KnownHead) =>
  execFileSync('git', ['diff', '--name-only', '-M50%', '-z', baseSha, headSha], {
    cwd: repository,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
    .split('\0')
    .slice(0, -1);

describe("C2: this project's own repository", () => {
  let place: string;
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'barista-own-'));
    // A clone with two branches of its own: wherever the tests run, its history is what it is.
    execFileSync('git', ['clone', '-q', '--no-checkout', '--no-hardlinks', process.cwd(), place]);
    const [root] = execFileSync('git', ['rev-list', '--max-parents=0', 'HEAD'], { cwd: place, encoding: 'utf8' }).split('\n');
    execFileSync('git', ['branch', '-q', '-f', 'own-base', root as string], { cwd: place });
    execFileSync('git', ['branch', '-q', '-f', 'own-head', 'HEAD'], { cwd: place });
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  test("every page is within its limit, and the joined pages are git's own diff", async () => {
    const ref = parsePullRequest(`local:${place}?base=own-base&head=own-head`);
    const head = (await forge.head(ref)) as KnownHead;
    const facts: ReadFacts = { ref, openRound: null, rounds: [], findings: [], currentHead: head };
    const store = new MemoryContextStore();
    const pages = await allPages(facts, {}, store);
    const files = pages.flatMap((page) => page.files);
    expect(files.map((file) => file.path)).toEqual(names(place, head));
    for (const file of files) {
      const whole = gitPatch(place, head, file);
      if (file.patch_omitted) expect(whole.startsWith(file.patch ?? '')).toBe(true);
      else expect(file.patch ?? '').toBe(whole);
    }
    const small = (await allPages(facts, { maxChars: 6_000 }, store)).flatMap((page) => page.files);
    expect(small.map((file) => file.path)).toEqual(files.map((file) => file.path));
  });
});

describe('C2: a large history', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = fastImportHistory({ files: 3_400, commits: 5_000 });
  });
  afterAll(() => world.dispose());

  test('3 400 files and 5 000 commits are read whole, page by page', async () => {
    const ref = parsePullRequest(world.pullRequest);
    const head = (await forge.head(ref)) as KnownHead;
    const facts: ReadFacts = { ref, openRound: null, rounds: [], findings: [], currentHead: head };
    const pages = await allPages(facts);
    const files = pages.flatMap((page) => page.files);
    expect(files).toHaveLength(3_400);
    expect(files.map((file) => file.path)).toEqual(names(world.path, head));
    expect(files.some((file) => file.patch_omitted)).toBe(false);
    for (const at of [0, 1_699, 3_399]) expect(files[at]?.patch).toBe(gitPatch(world.path, head, files[at] as FileEntry));
    expect(pages[0]?.title).toBe('topic');
    expect(pages[0]?.description).toMatch(/^Change 0\n\nChange 1\n\n/);
    expect(await forge.commitsBetween(ref, head.baseSha, head.headSha)).toBe(5_000);
  });

  test('C5: its manifest goes on over pages and names each of the 3 400 files once', async () => {
    const ref = parsePullRequest(world.pullRequest);
    const head = (await forge.head(ref)) as KnownHead;
    const earlier = world.head('topic~3');
    const rounds = [
      { number: 1, headSha: earlier, baseSha: head.baseSha },
      { number: 2, headSha: head.headSha, baseSha: head.baseSha },
    ];
    const pages = await allPages({ ref, openRound: rounds[1] ?? null, rounds, findings: [], currentHead: head }, { sinceRound: 1 });
    const manifest = pages.flatMap((page) => page.manifest ?? []);
    expect(manifest).toHaveLength(3_400);
    expect(manifest.filter((entry) => entry.changed_since_round)).toHaveLength(3);
    expect(pages.flatMap((page) => page.files)).toHaveLength(3);
    expect(pages.filter((page) => page.manifest_complete)[0]?.page).toBe(pages.length);
  });
});

import { expect, test } from 'vitest';
import { keepDiff } from '../../activities/context/kept-diff.js';
import { placesIn } from '../../activities/context/places.js';
import { createLocalForge } from '../../activities/forge/local/index.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { GitWorld } from '../support/git-world.js';
import { MemoryContextStore } from '../support/memory-context-store.js';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
const text = (changed?: number) => `${LINES.map((line, index) => (index + 1 === changed ? `${line} changed` : line)).join('\n')}\n`;

test('D4: where findings stand in a diff: at lines, at a file as a whole, or nowhere', async () => {
  const git = new GitWorld();
  try {
    git.pushBase({ 'old-name.ts': text(), 'taken.ts': text(3) });
    git.mergeBaseIn();
    git.rename('old-name.ts', 'new-name.ts').write('new-name.ts', text(10));
    git.push({ 'image.bin': Buffer.from([0, 1, 2]), 'taken.ts': text(4) });
    const forge = createLocalForge({ allowedRoots: null, now: () => 0 });
    const ref = await forge.resolve(parsePullRequest(git.pullRequest));
    const head = await forge.head(ref);
    if (head.headSha === null) throw new Error('no head');
    const diff = await keepDiff({ forge, store: new MemoryContextStore() }, ref, head);
    const paths = ['old-name.ts', 'new-name.ts', 'image.bin', 'taken.ts', 'none.ts'];
    const place = await placesIn(diff, new Set(paths));
    const at = (path: string, line?: number, side: 'new' | 'old' = 'new', startLine?: number) => place({ path, line, startLine, side });

    expect(at('new-name.ts', 10)).toEqual({ at: 'lines', path: 'new-name.ts', line: 10, side: 'new' });
    expect(at('new-name.ts', 12, 'new', 9)).toEqual({ at: 'lines', path: 'new-name.ts', startLine: 9, line: 12, side: 'new' });
    expect(at('new-name.ts', 12, 'new', 1)).toEqual({ at: 'lines', path: 'new-name.ts', line: 12, side: 'new' });
    // By its old name where that can only mean this file.
    expect(at('old-name.ts', 10, 'old')).toEqual({ at: 'lines', path: 'new-name.ts', line: 10, side: 'old' });
    expect(at('old-name.ts')).toEqual({ at: 'file', path: 'new-name.ts' });
    expect(at('old-name.ts', 10, 'new')).toEqual({ at: 'body' });
    // No patch, but a file of the diff.
    expect(at('image.bin')).toEqual({ at: 'file', path: 'image.bin' });
    expect(at('image.bin', 1)).toEqual({ at: 'body' });
    expect(at('taken.ts', 20)).toEqual({ at: 'body' });
    expect(at('none.ts')).toEqual({ at: 'body' });
    expect(at('none.ts', 1)).toEqual({ at: 'body' });
  } finally {
    git.dispose();
  }
});

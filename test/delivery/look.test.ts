import { expect, test } from 'vitest';
import { createLook } from '../../activities/deliver/look.js';
import { NextReads } from '../../activities/deliver/next-reads.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { ForgeError, type HeadRead } from '../../activities/forge/port.js';

/** A read that ends when it is told to. */
function held<T>() {
  const ends: ((value: T | Error) => void)[] = [];
  const work = () => new Promise<T>((resolve, reject) => ends.push((value) => (value instanceof Error ? reject(value) : resolve(value))));
  return { ends, work };
}

test('P4: whoever asks while a read runs gets the next one, with all others that wait', async () => {
  const reads = new NextReads<string>();
  const { ends, work } = held<string>();
  const first = reads.read('a', work);
  const crowd = [1, 2, 3].map(() => reads.read('a', work));
  const other = reads.read('b', work);
  expect(ends).toHaveLength(2);
  ends[0]!('old');
  expect(await first).toBe('old');
  await expect.poll(() => ends.length).toBe(3);
  const late = reads.read('a', work);
  ends[2]!(new Error('away'));
  expect((await Promise.allSettled(crowd)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect.poll(() => ends.length).toBe(4);
  ends[3]!('new');
  expect(await late).toBe('new');
  const again = reads.read('a', work);
  expect(ends).toHaveLength(5);
  for (const end of [ends[1]!, ends[4]!]) end('fresh');
  expect(await Promise.all([other, again])).toEqual(['fresh', 'fresh']);
});

const pullRequest = { forge: 'github', key: 'k', repository: 'github:github.com/1', url: 'https://github.com/o/r/pull/1' } as const;

test('P4: a hundred deliveries of one pull request at once cost two reads of it, and each its own answer of a failure', async () => {
  const { ends, work } = held<HeadRead>();
  const owners = [{ owner: { id: 'us_1', name: 'olga' }, rooms: { label: 'review' } }];
  const store = {
    rooms: { ofPullRequest: async () => Promise.resolve([]) },
    repositories: { automatic: async () => Promise.resolve(owners) },
  };
  const look = createLook({ store, forge: { head: work } } as unknown as ActivityDeps);
  const looks = Array.from({ length: 100 }, (_, id) =>
    look({ delivery: { forge: 'github', id: `${id}` }, pullRequest, due: { draft: false, labels: [] } }),
  );
  await expect.poll(() => ends.length).toBe(1);
  const sha = 'a'.repeat(40);
  ends[0]!({ state: 'open', headSha: sha, baseSha: sha, baseRefSha: sha, draft: false, labels: [], readAt: 0 });
  await expect.poll(() => ends.length).toBe(2);
  ends[1]!(new ForgeError('refused', 'The App is suspended.'));
  const kinds = (await Promise.all(looks)).map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(['read', 'unread']));
  expect(ends).toHaveLength(2);
});

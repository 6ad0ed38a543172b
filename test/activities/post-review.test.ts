import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.js';
import { createPostReview } from '../../activities/post-review.js';
import { POSTING_BEAT_MS } from '../../workflows/messages.js';

afterEach(() => vi.useRealTimers());

test('D5: a posting tells that it goes on as long as it does, so that none is begun beside it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let ends = (_: null): void => undefined;
  const snapshot = () => new Promise<null>((resolve) => (ends = resolve));
  const postReview = createPostReview({ store: { rooms: { snapshot } } } as unknown as ActivityDeps);
  const env = new MockActivityEnvironment();
  let beats = 0;
  env.on('heartbeat', () => (beats += 1));
  const posting = env.run(postReview, { slug: 'a-room', pullRequest: {}, version: 1 } as Parameters<typeof postReview>[0]);
  for (let minute = 1; minute <= 20; minute++) {
    vi.advanceTimersByTime(60_000);
    expect(beats).toBe((minute * 60_000) / POSTING_BEAT_MS);
  }
  ends(null);
  await expect(posting).rejects.toMatchObject({ type: 'not_projected' });
  vi.advanceTimersByTime(60_000);
  expect(beats).toBe((20 * 60_000) / POSTING_BEAT_MS);
});

import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, test, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.js';
import { ForgeError, type Forge } from '../../activities/forge/port.js';
import { createPostReview } from '../../activities/post-review.js';
import { POSTING_BEAT_MS, POSTING_FAILED } from '../../workflows/messages.js';
import { silent } from '../support/edge.js';
import { aRoom } from '../support/room.js';

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

/** A forge that takes a review and shows it, or not; what it was asked for, in order. */
function aForge({ shows }: { shows: boolean }) {
  const asked: string[] = [];
  const url = 'https://forge.example/review-1';
  const forge = {
    diff: async () => ({ files: [], gaps: [] }),
    findPosted: async () => (asked.push('find'), shows ? { url } : null),
    post: async (_ref, _review, stop) => (asked.push(stop?.aborted === false ? 'post' : 'post without a stop'), { url }),
    readBack: async () => (asked.push('read'), { found: shows, url: shows ? url : null, inBody: [], differences: [] }),
  } satisfies Partial<Forge>;
  return { asked, url, forge };
}

function posting(forge: Partial<Forge>, heartbeatDetails?: unknown) {
  const room = aRoom().join('ana').open('ana').submit('ana').close('ana').draft('ana', {}).startPosting();
  const { state, records } = room;
  const { texts } = room.snapshot;
  const store = {
    rooms: { snapshot: async () => ({ seq: state.seq, state, records, texts }) },
    repositories: { settings: async () => ({ automatic: null, postAs: null, commentInstead: false }) },
    reads: { get: async () => null, put: async () => undefined },
    shown: { of: async () => [] },
  };
  const env = new MockActivityEnvironment(heartbeatDetails === undefined ? {} : { heartbeatDetails });
  const beats: unknown[] = [];
  env.on('heartbeat', (details) => beats.push(details));
  const input = { slug: state.slug, pullRequest: state.pullRequest, version: state.draft!.version };
  return { beats, run: () => env.run(createPostReview({ store, forge, log: silent } as unknown as ActivityDeps), input) };
}

test('D5: a review that the forge took and does not show yet is looked for again, and never sent a second time', async () => {
  const { asked, url, forge } = aForge({ shows: false });
  const first = posting(forge);
  await expect(first.run()).rejects.toMatchObject({ type: 'forge_unavailable', nextRetryDelay: 10_000 });
  expect(asked).toEqual(['find', 'post', 'read']);
  const left = first.beats.at(-1);
  asked.length = 0;
  const again = posting(forge, left);
  expect(await again.run()).toEqual({ url, unplaced: [] });
  expect(asked).toEqual(['find', 'read']);
});

test('D5: one that somebody removed while it was read back is not sent again', async () => {
  const { asked, url, forge } = aForge({ shows: true });
  const gone = { ...forge, readBack: async () => ({ found: false, url: null, inBody: [], differences: [] }) };
  const first = posting(gone);
  await expect(first.run()).rejects.toMatchObject({ type: 'forge_unavailable' });
  const again = posting({ ...gone, findPosted: async () => null }, first.beats.at(-1));
  expect(await again.run()).toEqual({ url, unplaced: [] });
  expect(asked).toEqual(['find']);
});

/** One attempt after another, each with what the one before left, until one fails for good; what each failed with. */
async function untilGivenUp(forge: Partial<Forge>): Promise<ApplicationFailure[]> {
  const failures: ApplicationFailure[] = [];
  for (let left: unknown; failures.at(-1)?.nonRetryable !== true;) {
    const attempt = posting(forge, left);
    const failure = await attempt.run().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    failures.push(failure as ApplicationFailure);
    left = attempt.beats.at(-1);
  }
  return failures;
}

test('D5: a forge that goes on failing ends a posting at its tenth failure, in its own words', async () => {
  const { forge } = aForge({ shows: false });
  const away = { ...forge, findPosted: () => Promise.reject(new ForgeError('unavailable', 'GitHub answers 502 for o/r.', 7)) };
  const failures = await untilGivenUp(away);
  expect(failures).toHaveLength(10);
  expect(failures[0]).toMatchObject({ type: 'forge_unavailable', nextRetryDelay: 7_000 });
  expect(failures[9]).toMatchObject({
    type: POSTING_FAILED,
    message: 'the forge could not take it, try again later: GitHub answers 502 for o/r.',
  });
});

test("D5: what the forge refuses ends a posting at once; a fault of ours ends it too, and is not called the forge's", async () => {
  const { forge } = aForge({ shows: false });
  const refusing = { ...forge, post: () => Promise.reject(new ForgeError('refused', 'The App is suspended.')) };
  expect(await untilGivenUp(refusing)).toMatchObject([{ type: POSTING_FAILED, message: 'The App is suspended.' }]);
  const faulty = { ...forge, diff: () => Promise.reject(new TypeError('x is not a function')) };
  const failures = await untilGivenUp(faulty);
  expect(failures).toHaveLength(10);
  expect(failures[9]).toMatchObject({ type: POSTING_FAILED, message: 'Barista itself failed at it; its log says why' });
});

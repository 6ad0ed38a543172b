// 25 reviewers that submit at once in one room, while 25 others read it.
import { Client } from '@temporalio/client';
import { expect } from 'vitest';
import { ROOM_QUERY, roomWorkflowId } from '../../workflows/messages.js';
import { connectTo } from '../support/connect.js';
import type { Person } from '../support/edge.js';
import type { World } from '../support/world.js';

const SIZE = 25;

interface Crowd {
  readonly room: string;
  readonly reviewers: readonly Person[];
  readonly readers: readonly Person[];
}

/** A room in an open round: agents that review, and people without a role. */
export async function crowd(world: World, name: string): Promise<Crowd> {
  const numbers = Array.from({ length: SIZE }, (_, at) => at);
  const reviewers = await Promise.all(numbers.map((at) => world.agent(`${name}-agent-${at}`)));
  const readers = await Promise.all(numbers.map((at) => world.person(`${name}-person-${at}`)));
  const room = await world.room({ agents: reviewers.slice(0, 1) });
  await Promise.all(reviewers.slice(1).map((agent) => world.ok(agent, 'join_room', { room })));
  await Promise.all(
    readers.map(async ({ id }) =>
      expect((await world.rest(world.owner, 'POST', `/rooms/${room}/people`, { user_id: id })).status).toBe(200),
    ),
  );
  await world.ok(reviewers[0]!, 'open_review_round', { room });
  return { room, reviewers, readers };
}

const findingsOf = (reviewer: Person) => [
  { path: 'src/a.ts', line: 1, severity: 'minor', body: `First remark of ${reviewer.name}.` },
  { path: 'src/b.ts', severity: 'nit', body: `Second remark of ${reviewer.name}.` },
];

/** Everybody at once, spread over these servers. Each call must answer, and rightly. */
export async function everybodyAtOnce(world: World, { room, reviewers, readers }: Crowd, urls: readonly string[]): Promise<void> {
  const urlOf = (at: number) => urls[at % urls.length]!;
  const before = String(await world.store.messages.lastId(room));
  let submitting = true;

  const submit = (reviewer: Person, at: number) =>
    world.ok(
      reviewer,
      'submit_review',
      { room, verdict: 'comment', summary: `By ${reviewer.name}.`, findings: findingsOf(reviewer) },
      urlOf(at),
    );

  /** Reads the round until all have submitted and once more; what was there once must stay. */
  async function readRounds(reader: Person, at: number): Promise<void> {
    let seen: string[] = [];
    for (let last = false; !last;) {
      last = !submitting;
      const { reviews, hidden_reviews, submitted } = await world.ok(reader, 'get_review_round', { room }, urlOf(at));
      expect(hidden_reviews).toBe(0);
      const ids: string[] = reviews.map(({ id }: { id: string }) => id);
      expect(ids).toEqual(expect.arrayContaining(seen));
      expect(new Set(ids).size).toBe(ids.length);
      expect(submitted).toHaveLength(ids.length);
      seen = ids;
    }
    expect(seen).toHaveLength(SIZE);
  }

  /** Follows the messages from the first to the last note. */
  async function listen(reader: Person, at: number): Promise<void> {
    const notes: string[] = [];
    for (let after = before; notes.length < SIZE;) {
      const answer = await world.ok(reader, 'wait_for_messages', { room, after, timeout_seconds: 45 }, urlOf(at));
      for (const { id, text } of answer.messages as { id: string; text: string }[]) {
        expect(Number(id)).toBe(Number(after) + 1);
        after = id;
        notes.push(text);
      }
    }
    expect(notes.sort()).toEqual(reviewers.map(({ name }) => `@${name} submitted a review`).sort());
  }

  const reading = readers.flatMap((reader, at) => [readRounds(reader, at), listen(reader, at + 1)]);
  const submitted = Promise.all(reviewers.map(submit)).finally(() => (submitting = false));
  const [answers] = await Promise.all([submitted, ...reading]);

  // Nothing was doubled.
  expect(new Set(answers.map(({ review }) => review.id)).size).toBe(SIZE);
  expect(new Set(answers.flatMap(({ review }) => review.finding_ids)).size).toBe(2 * SIZE);
  expect(answers.filter(({ replaced }) => replaced)).toEqual([]);
  // Nothing was lost, and each has what it wrote.
  const { reviews } = await world.ok(readers[0]!, 'get_review_round', { room, max_chars: 48_000 });
  for (const [at, reviewer] of reviewers.entries()) {
    const own = reviews.filter(({ by }: { by: string }) => by === reviewer.id);
    expect(own).toMatchObject([
      {
        id: answers[at].review.id,
        summary: `By ${reviewer.name}.`,
        findings: findingsOf(reviewer).map(({ body }, n) => ({ id: answers[at].review.finding_ids[n], body })),
      },
    ]);
  }
  // S9: who asks again, all at once, is told the same, and nothing happens.
  const { seq } = (await world.store.rooms.state(room))!;
  const again = await Promise.all(reviewers.map((reviewer, at) => submit(reviewer, at + 1)));
  expect(again.map(({ review }) => review)).toEqual(answers.map(({ review }) => review));
  expect((await world.store.rooms.state(room))!.seq).toBe(seq);
  expect(await world.store.rooms.state(room)).toEqual(await stateInWorkflow(room));
}

/** What the room itself says it is. */
async function stateInWorkflow(room: string): Promise<unknown> {
  const connection = await connectTo(process.env.TEMPORAL_ADDRESS!);
  try {
    return await new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! }).workflow
      .getHandle(roomWorkflowId(room))
      .query(ROOM_QUERY);
  } finally {
    await connection.close();
  }
}

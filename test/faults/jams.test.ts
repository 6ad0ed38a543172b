// Three things that jam a workflow for everybody (an unregistered search attribute, too large a payload, a stray
// exception) and that must not jam a room.
import { mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Connection, WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../../stack/programs.js';
import { searchAttributes } from '../../stack/search-attributes.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import { connectTo } from '../support/connect.js';
import type { Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';
import { createDatabase, temporalAddress } from '../support/services.js';

let world: World;
let connection: Connection;
let ann: Person;
let room: string;
beforeAll(async () => {
  world = await startWorld();
  connection = await connectTo(await temporalAddress());
  ann = await world.agent('ann');
  room = await world.room({ agents: [ann] });
  await world.ok(ann, 'open_review_round', { room });
});
afterAll(async () => {
  await connection.close();
  await world.stop();
});

const finding = (at: number, pathLength: number) => ({
  path: `${'p'.repeat(pathLength - 4)}-${String(at).padStart(3, '0')}`,
  line: 1,
  severity: 'nit',
  body: 'b'.repeat(10),
});
const submit = (pathLength: number) => ({
  room,
  verdict: 'comment',
  summary: 'Much.',
  findings: Array.from({ length: 200 }, (_, at) => finding(at, pathLength)),
});

test('a worker registers the search attributes that a namespace lacks before it takes work', async () => {
  const namespace = `bare-${randomUUID()}`;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: 86_400 } as never });
  const dir = mkdtempSync(join(tmpdir(), 'barista-jams-'));
  const worker = await startProgram({
    title: 'The worker',
    entry: 'worker/main.ts',
    logFile: join(dir, 'worker.log'),
    signal: new AbortController().signal,
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: await createDatabase(),
      TEMPORAL_ADDRESS: await temporalAddress(),
      TEMPORAL_NAMESPACE: namespace,
      PORT: '0',
    },
  });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes!)).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));
  } finally {
    await worker.stop();
    rmSync(dir, { recursive: true });
  }
});

test('a payload that a history could not take is refused before it is sent, and the largest that is taken does no harm', async () => {
  expect(await world.refused(ann, 'submit_review', submit(900))).toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('too much for one call'),
  });
  expect((await world.ok(ann, 'submit_review', submit(400))).review.finding_ids).toHaveLength(200);
  expect((await world.ok(ann, 'get_review_round', { room })).submitted).toHaveLength(1);
});

test('an exception in a handler fails its caller, and nobody else', async () => {
  const handle = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! }).workflow.getHandle(roomWorkflowId(room));
  const broken = {
    command: { type: 'submitReview', by: ann.id, verdict: 'comment', summary: 's', findings: 7, references: null },
    projectedSeq: 0,
  };
  const before = await world.store.rooms.state(room);
  await expect(handle.executeUpdate('submitReview', { args: [broken] })).rejects.toThrow(WorkflowUpdateFailedError);
  await expect(handle.executeUpdate('join', { args: [null] })).rejects.toThrow(WorkflowUpdateFailedError);
  expect(await world.store.rooms.state(room)).toEqual(before);
  expect((await world.ok(await world.agent('bob'), 'join_room', { room })).participant.roles).toEqual(['reviewer']);
});

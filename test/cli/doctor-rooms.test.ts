import { expect, test } from 'vitest';
import { noAnswerOf } from '../../cli/doctor/rooms.js';

test('W12: doctor says of a run that this version does not replay what to do, and asks for no worker', () => {
  const why = '[TMPRL1100] Nondeterminism error: No command scheduled for event HistoryEvent(id: 50, TimerCanceled)';
  expect(noAnswerOf('api-1', why)).toBe(
    `api-1: this version cannot go on with its run (${why}): go back to the version it ran on, or terminate the run, then barista room restart api-1`,
  );
  expect(noAnswerOf('api-1', 'Timeout expired')).toBe('api-1: its run does not answer (Timeout expired): is a worker running?');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, startChild, type ChildOptions } from '../../stack/child.js';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'barista-child-'))));
afterEach(() => rmSync(dir, { recursive: true }));
const logFile = () => join(dir, 'program.log');

/** Another process that starts a program; its own process and the program's pid. */
async function startElsewhere(command: string, args: string[], stopSignal: string) {
  const options = JSON.stringify({ command, args, stopSignal, logFile: logFile() });
  const script = `import { startChild } from "./stack/child.ts"; console.log((await startChild(${options})).pid); process.stdin.resume();`;
  const starter = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [pid] = (await once(starter.stdout, 'data')) as [Buffer];
  return { starter, pid: Number(String(pid)) };
}

test.each(['SIGINT', 'SIGTERM'])(
  'a program that does not listen to %s yet when its starter is killed ends all the same',
  async (signal) => {
    const program = `'${process.execPath}' -e 'setInterval(() => {}, 1e6)'`;
    const { starter, pid } = await startElsewhere('/bin/sh', ['-c', `sleep 3; exec ${program}`], signal);
    starter.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test('a program starts once the one that a killed process started has ended, and has a log of its own', async () => {
  const ended = join(dir, 'ended');
  const program = `process.on('SIGTERM', () => setTimeout(() => {
      console.log('late');
      fs.writeFileSync(${JSON.stringify(ended)}, '');
      process.exit();
    }, 2000));
    setInterval(() => {}, 1e6);
    console.log('ready');`;
  const { starter } = await startElsewhere(process.execPath, ['-e', program], 'SIGTERM');
  await expect.poll(() => readFileSync(logFile(), 'utf8')).toBe('ready\n');
  starter.kill('SIGKILL');
  const next = await startChild({ command: '/bin/echo', args: ['next'], stopSignal: 'SIGTERM', logFile: logFile() });
  expect(existsSync(ended)).toBe(true);
  await next.exited;
  expect(readFileSync(logFile(), 'utf8')).toBe('next\n');
});

test('a start that is given up while it waits for an earlier program starts nothing', async () => {
  const program: ChildOptions = {
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1e6)'],
    stopSignal: 'SIGTERM',
    logFile: logFile(),
  };
  const earlier = await startChild(program);
  const stop = new AbortController();
  const later = startChild({ ...program, signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(later).rejects.toThrow('enough');
  await earlier.stop();
});

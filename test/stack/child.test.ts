import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive } from '../../stack/child.js';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'barista-child-'))));
afterEach(() => rmSync(dir, { recursive: true }));

/** Another process that starts a program; its own process and the program's pid. */
async function startElsewhere(command: string, args: string[], stopSignal: string) {
  const options = JSON.stringify({ command, args, stopSignal, logFile: join(dir, 'log') });
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

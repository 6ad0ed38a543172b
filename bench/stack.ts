import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ownerKeyFile } from '../cli/where.js';
import { runningStack, type RunningStack } from '../stack/running.js';

const bootstrap = fileURLToPath(new URL('../stack/bootstrap.mjs', import.meta.url));

export interface MeasuredStack extends RunningStack {
  readonly ownerKey: string;
  /** Seconds from the command to the line that says it is ready: on an empty data folder, and once more on the same. */
  readonly starts: readonly [number, number];
  stop(): Promise<void>;
}

/** `npm start` with these settings on a new data folder, stopped and started again; the second one stays up. */
export async function startTwice(settings: Record<string, string>): Promise<MeasuredStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'barista-bench-data-'));
  const first = await start(dataDir, settings);
  await first.stop();
  const second = await start(dataDir, settings);
  return {
    ...runningStack(dataDir)!,
    ownerKey: readFileSync(ownerKeyFile(dataDir), 'utf8').trim(),
    starts: [first.seconds, second.seconds],
    async stop() {
      await second.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function start(dataDir: string, settings: Record<string, string>): Promise<{ seconds: number; stop(): Promise<void> }> {
  const began = performance.now();
  const child = spawn(process.execPath, [bootstrap, 'up', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings, BARISTA_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: '', TEMPORAL_ADDRESS: '' },
  });
  const exited = once(child, 'exit');
  const ready = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited.then(() => null)]);
  if (ready === null) throw new Error('npm start did not get ready; what it says is above.');
  return {
    seconds: (performance.now() - began) / 1_000,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

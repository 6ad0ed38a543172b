import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../support/command.js';
import { temporalCliPath } from '../support/services.js';

test('Ctrl-C ends npm start, which has said what it starts, with one line that says where everything is kept', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'barista-stopped-'));
  chmodSync(dir, 0o711); // as root, PostgreSQL runs as another user, who passes through
  const dataDir = join(dir, 'data');
  const running = start(['up'], { BARISTA_DATA_DIR: dataDir, PORT: '0', TEMPORAL_CLI_PATH: await temporalCliPath() });
  // From when the folder is held, whatever has started by then is stopped in order.
  await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(true);
  running.child.kill('SIGINT');
  expect(await running.ended).toEqual({
    code: 0,
    out: `Starting PostgreSQL, Temporal, a worker and a server …\nStopped; everything is kept in ${dataDir}.\n`,
    err: '',
  });
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  rmSync(dir, { recursive: true });
});

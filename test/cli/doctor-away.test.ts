import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Finding } from '../../cli/doctor/finding.js';
import { barista, firstJson } from '../support/command.js';
import { createDatabase } from '../support/services.js';

const dataDir = mkdtempSync(join(tmpdir(), 'barista-doctor-away-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
/** A port that nothing listens on. */
const NOWHERE = '127.0.0.1:9';

async function failures(env: Record<string, string>): Promise<Finding[]> {
  const { code, out } = await barista(['doctor', '--json'], { BARISTA_DATA_DIR: dataDir, ...env });
  expect(code).toBe(1);
  const failed = (firstJson(out).checks as Finding[]).filter(({ ok }) => !ok);
  for (const one of failed) expect(one.do, one.what).toBeTruthy();
  return failed;
}

const names = (found: readonly Finding[]) => found.map(({ what }) => what);

test('what is named is looked for, and what rests on it is left out where it is away', async () => {
  expect(names(await failures({}))).toEqual(['Barista']);
  const env = { DATABASE_URL: `postgresql://${NOWHERE}/barista`, TEMPORAL_ADDRESS: NOWHERE, BARISTA_URL: `http://${NOWHERE}` };
  expect(names(await failures(env))).toEqual(['database', 'Temporal', 'server']);
});

test('Temporal that is away: TEMPORAL_ADDRESS is to be checked only where it is set', async () => {
  const temporal = async (env: Record<string, string>) =>
    (await failures({ DATABASE_URL: await createDatabase(), BARISTA_URL: `http://${NOWHERE}`, ...env })).find(
      ({ what }) => what === 'Temporal',
    );
  expect((await temporal({ TEMPORAL_ADDRESS: NOWHERE }))?.says).toBe(
    `Temporal cannot be reached at ${NOWHERE}. Start it, or check TEMPORAL_ADDRESS.`,
  );
  const profile = join(dataDir, 'temporal.toml');
  writeFileSync(profile, `[profile.default]\naddress = "${NOWHERE}"\n`);
  expect((await temporal({ TEMPORAL_ADDRESS: '', TEMPORAL_CONFIG_FILE: profile }))?.says).toBe(
    `Temporal cannot be reached at ${NOWHERE}. npm start starts one; TEMPORAL_ADDRESS names one of your own.`,
  );
});

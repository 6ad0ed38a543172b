import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeApp } from '../../cli/github/setup.js';
import { firstJson, start } from '../support/command.js';
import { FakeGitHub } from '../support/fake-github/index.js';
import { createEmptyDatabase, temporalAddress } from '../support/services.js';

test('a start after the setup uses what it kept, wherever it is started: deliveries signed with its secret are taken', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'barista-github-kept-'));
  const dataDir = join(dir, 'data');
  const github = await FakeGitHub.start();
  const { id, privateKey } = github.addApp(501, 'kept');
  const held = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  await takeApp({
    dataDir,
    role: 'operator',
    webUrl: github.urls.web,
    apiUrl: null,
    operatorNamed: false,
    now: () => Date.now(),
    id,
    privateKeyFile: held('app.pem', privateKey),
    webhookSecretFile: held('hook', 'kept-hook\n'),
  });
  const env = {
    BARISTA_DATA_DIR: dataDir,
    PORT: '0',
    DATABASE_URL: await createEmptyDatabase(),
    TEMPORAL_ADDRESS: await temporalAddress(),
  };
  const running = start(['up', '--json'], env, dir);
  try {
    const { url } = await running.saw(firstJson);
    const body = JSON.stringify({ zen: 'Design for failure.' });
    const send = (secret: string) =>
      fetch(`${url}/webhooks/github`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
      });
    expect((await send('another')).status).toBe(401);
    expect((await send('kept-hook')).status).toBe(202);
  } finally {
    running.child.kill('SIGTERM');
    await running.ended;
    github.stop();
    rmSync(dir, { recursive: true });
  }
});

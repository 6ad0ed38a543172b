import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { config } from 'dotenv';
import { setUpForges } from '../activities/forge/set-up.js';
import { createLog } from '../config/log.js';
import { checkLocalRepositories } from '../config/local-repositories.js';
import { addressOf, readSettings } from '../config/settings.js';
import { SettingsError } from '../config/settings-error.js';
import { createStore } from '../prisma/store.js';
import { ensureSearchAttributes } from '../stack/search-attributes.js';
import { startWorker } from './worker.js';

/** The worker's process. With `--json` it prints `{"ready": true}` on stdout once it takes work. SIGTERM and SIGINT end it in good order. */
async function main(): Promise<void> {
  // Dates in a room are UTC whatever the machine's zone is; a local one would not replay elsewhere.
  process.env.TZ = 'UTC';
  config({ quiet: true });
  const settings = readSettings(process.env);
  checkLocalRepositories(settings.localRepositories);
  const log = createLog(settings.logLevel);
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => log[level === 'ERROR' ? 'error' : 'warn']({ ...meta }, message)),
    shutdownSignals: [],
  });
  const now = (): number => Date.now();
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const connection = await NativeConnection.connect(connectionOptions);
  const clientConnection = Connection.lazy(connectionOptions);
  const client = new Client({ connection: clientConnection, namespace });
  // A Temporal that others run may not know them yet, and a room would be stuck at its first.
  await ensureSearchAttributes(clientConnection, namespace);
  const store = createStore({ url: settings.databaseUrl, now });
  const stopping = new AbortController();
  const forge = setUpForges(settings, now, stopping.signal, { store, log });
  const { notify, publicUrl, host, port } = settings;
  // Whoever lets the system choose the port has no address to send along.
  const address = publicUrl ?? (port === 0 ? null : addressOf(host, port));
  const worker = await startWorker({
    connection,
    client,
    namespace,
    store,
    forge,
    log,
    now,
    ...(notify && { notify: { ...notify, publicUrl: address } }),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stopping.abort();
      // The end itself is awaited below.
      void worker.stop().catch(() => undefined);
    });
  }
  log.info('the worker takes work');
  if (process.argv.includes('--json')) process.stdout.write('{"ready":true}\n');
  await worker.ended;
  await store.close();
  await client.connection.close();
  await connection.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(
      `${error instanceof SettingsError ? error.message : `The worker could not go on: ${error instanceof Error ? error.message : String(error)}`}\n`,
    );
    process.exit(1);
  },
);

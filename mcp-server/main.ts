import { parseArgs } from 'node:util';
import { config } from 'dotenv';
import { createLog } from '../config/log.js';
import { checkLocalRepositories } from '../config/local-repositories.js';
import { startServer } from './server.js';
import { readSettings, type ServerSettings } from '../config/settings.js';
import { SettingsError } from '../config/settings-error.js';

/**
 * The HTTP server's process. With `--json` it prints `{"url": …, "port": …}` on stdout once it listens. SIGTERM and
 * SIGINT end it in good order.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  config({ quiet: true });
  const settings = readSettings(process.env);
  checkLocalRepositories(settings.localRepositories);
  const log = createLog(settings.logLevel);
  const server = await startServer(settings, log).catch((error: unknown) => {
    throw cannotListen(error, settings) ?? error;
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'the server stops');
      server.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the server did not stop in good order');
          process.exit(1);
        },
      );
    });
  }
  // Last: whoever reads it may end this process at once.
  log.info({ url: server.url }, 'the server listens');
  if (values.json) process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`);
}

function cannotListen(error: unknown, { host, port }: ServerSettings): SettingsError | null {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new SettingsError(
        `PORT ${port} on ${host} is in use by another program. Stop that program, or set another, e.g. PORT=${port + 1}`,
      );
    case 'EACCES':
      return new SettingsError(`PORT ${port} on ${host} may not be listened on by this user. Set one above 1023, e.g. PORT=7337`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new SettingsError(`HOST ${host} is no address of this machine. Set one that is, e.g. HOST=127.0.0.1`);
    default:
      return null;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof SettingsError ? error.message : `The server could not start: ${error instanceof Error ? error.message : String(error)}`}\n`,
  );
  process.exitCode = 1;
  process.exit();
});

import { connectLines } from './connect.js';
import { CommandFailed } from './failure.js';
import { interrupted, Interrupted, whenAborted } from './interrupted.js';
import { answer } from './output.js';
import { startBarista, type StartedStack } from './stack.js';
import { dataDirOf, ownerKeyFile } from './where.js';

/** Starts everything and stays until Ctrl-C, or until a part of it dies. @throws CommandFailed */
export async function up(options: { json?: boolean }): Promise<void> {
  const signal = interrupted();
  const began = performance.now();
  const dataDir = dataDirOf(process.env);
  const say = (line: string) => void (options.json || process.stdout.write(`${line}\n`));
  try {
    const stack = await startBarista({ dataDir, env: process.env, signal, starting: () => say(STARTING) });
    tell(stack, dataDir, (performance.now() - began) / 1_000, options);
    const failure = await Promise.race([stack.failed, whenAborted(signal)]);
    await stack.stop();
    if (failure !== undefined) throw new CommandFailed(failure);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
  say(`Stopped; everything is kept in ${dataDir}.`);
}

const STARTING = 'Starting PostgreSQL, Temporal, a worker and a server …';

function tell(stack: StartedStack, dataDir: string, seconds: number, options: { json?: boolean }): void {
  const mcpUrl = `${stack.url}/mcp`;
  const { key, isNew } = stack.ownerKey;
  answer(
    options,
    {
      url: stack.url,
      mcp_url: mcpUrl,
      temporal_ui: stack.temporalUi,
      temporal_address: stack.temporalAddress,
      data_dir: dataDir,
      local_repositories: stack.localRepositories,
      ...(isNew && { owner_key: key }),
    },
    readyLines(stack, dataDir, seconds),
  );
}

type ToTell = Pick<StartedStack, 'url' | 'temporalUi' | 'ownerKey' | 'localRepositories'>;

/** What a person reads once everything runs. */
export function readyLines(
  { url, temporalUi, ownerKey: { key, isNew }, localRepositories }: ToTell,
  dataDir: string,
  seconds: number,
): string[] {
  const mcpUrl = `${url}/mcp`;
  return [
    `Barista is ready (${seconds.toFixed(1)} s).`,
    '',
    `  MCP          ${mcpUrl}`,
    `  REST         ${url}/api/v1 (described at ${url}/openapi.json)`,
    `  Temporal UI  ${temporalUi ?? "your own server's (TEMPORAL_ADDRESS)"}`,
    `  Data, logs   ${dataDir}`,
    ...(isNew
      ? [`  Owner's key  ${key}`, `               shown this once; kept in ${ownerKeyFile(dataDir)} for this machine's command line`]
      : []),
    '',
    'To connect an agent, make its KEY with: npx barista agent add NAME',
    ...connectLines(mcpUrl).map(({ client, line }) => `  ${client.padEnd(11)}  ${line}`),
    '',
    localRepositories
      ? "To open a room: npx barista room open 'local:/path/to/repository?base=main&head=topic'"
      : 'Local repositories cannot be opened, for HOST is not loopback: BARISTA_LOCAL_REPOS names the folders that may be.',
    'Ctrl-C stops everything.',
  ];
}

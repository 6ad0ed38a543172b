import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Command } from 'commander';
import { bareUpdate } from './bare.js';
import { callRows } from './calls.js';
import { BenchClient } from './client.js';
import { deliveryRows } from './deliveries.js';
import { forgeRows, startForges } from './forges.js';
import { historyRows } from './history.js';
import { table, type Row } from './measure.js';
import { roomsRows } from './rooms.js';
import { startTwice } from './stack.js';

interface Options {
  readonly out?: string;
  readonly quick?: boolean;
  readonly full?: boolean;
}

async function main(): Promise<void> {
  const options = new Command('bench')
    .description(
      'Measures Barista on this machine, on a stack of its own: start-up, calls against a bare Update, large pull requests on each forge, history, memory, deadlines.',
    )
    .option('--out <file>', 'write the rows as JSON too')
    .option('--quick', 'a minute, for a first look')
    .option('--full', '10 000 rooms, and more runs of each call')
    .parse()
    .opts<Options>();
  const runs = options.quick ? 30 : options.full ? 1_000 : 200;
  const rooms = options.quick ? 50 : options.full ? 10_000 : 1_000;
  const now = (): number => Date.now();
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const say = (what: string): void => void process.stderr.write(`${what} …\n`);

  say('starting twice');
  const forges = await startForges();
  const stack = await startTwice(forges.env);
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.temporalNamespace });
  const client = new BenchClient(stack.url, stack.ownerKey);
  const rows: Row[] = [
    { what: 'npm start on an empty data folder, until ready', p50: stack.starts[0], unit: 's' },
    { what: 'npm start on the same folder again', p50: stack.starts[1], unit: 's' },
  ];
  try {
    say('a bare Update');
    const bare = await bareUpdate(temporal, stack.temporalAddress, runs);
    rows.push({ what: 'a bare no-op Update on the same Temporal', ...bare, unit: 'ms', ratio: { p50: 1, p95: 1 } });
    say('pull requests past the limits of GitHub and GitLab');
    const wide = await forgeRows(client, stack.url, forges, runs);
    say('calls');
    rows.push(...(await callRows(client, stack.url, bare, runs)), ...wide);
    say('deliveries');
    rows.push(...(await deliveryRows(stack.url, bare, runs)));
    say('history');
    rows.push(...(await historyRows(client, temporal)));
    say(`${rooms} rooms`);
    rows.push(
      ...(await roomsRows({ temporal, temporalAddress: stack.temporalAddress, databaseUrl: stack.databaseUrl, count: rooms, now })),
    );
  } finally {
    await connection.close();
    await stack.stop();
    await forges.stop();
  }
  process.stdout.write(`${table(rows)}\n`);
  if (options.out) {
    const machine = { cpus: cpus().length, node: process.version };
    writeFileSync(options.out, `${JSON.stringify({ at: new Date(now()).toISOString(), runs, machine, rows }, null, 2)}\n`);
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`The benchmark could not go on: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);

import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createStore, isDatabaseAway, type Store } from '../prisma/store.js';
import { runningStack } from '../stack/running.js';
import { CommandFailed } from './failure.js';
import { dataDirOf } from './where.js';

/** Commands of whoever runs Barista: they reach the database and Temporal themselves, without the server. */

/** The data folder; DATABASE_URL and TEMPORAL_ADDRESS as they are set, else those of the stack that runs on it. */
export function operatorEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const running = runningStack(dataDirOf(env));
  return {
    ...env,
    BARISTA_DATA_DIR: dataDirOf(env),
    DATABASE_URL: env.DATABASE_URL || running?.databaseUrl,
    ...(env.TEMPORAL_ADDRESS || !running
      ? {}
      : { TEMPORAL_ADDRESS: running.temporalAddress, TEMPORAL_NAMESPACE: running.temporalNamespace }),
  };
}

export function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  const url = operatorEnv(env).DATABASE_URL;
  if (url) return url;
  throw new CommandFailed(`Barista does not run on ${dataDirOf(env)}: start it with npm start, or set DATABASE_URL.`);
}

/** Opens the store for one piece of work. @throws CommandFailed where the database cannot be reached */
export async function withStore<T>(env: NodeJS.ProcessEnv, work: (store: Store) => Promise<T>): Promise<T> {
  const store = createStore({ url: databaseUrlOf(env), now: () => Date.now(), poolSize: 2 });
  try {
    return await work(store);
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    throw new CommandFailed(
      `The database cannot be reached. ${env.DATABASE_URL ? 'Start it, or check DATABASE_URL.' : 'Stop Barista and start it again with npm start.'}`,
    );
  } finally {
    await store.close();
  }
}

interface TemporalAccess {
  readonly client: Client;
  readonly connection: Connection;
  readonly namespace: string;
  readonly address: string;
}

/** Connects to Temporal for one piece of work. @throws CommandFailed where it cannot be reached */
export async function withTemporal<T>(env: NodeJS.ProcessEnv, work: (temporal: TemporalAccess) => Promise<T>): Promise<T> {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(operatorEnv(env)).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars });
  const address = connectionOptions.address ?? '127.0.0.1:7233';
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
  } catch {
    throw new CommandFailed(
      `Temporal cannot be reached at ${address}. ${env.TEMPORAL_ADDRESS ? 'Start it, or check TEMPORAL_ADDRESS.' : 'npm start starts one; TEMPORAL_ADDRESS names one of your own.'}`,
    );
  }
  try {
    return await work({ client: new Client({ connection, namespace }), connection, namespace, address });
  } finally {
    await connection.close();
  }
}

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from '../../prisma/migrate.js';
import { startPostgres } from '../../stack/postgres.js';

interface Databases {
  /** A copy of a database migrated once; its connection string. */
  create(): Promise<string>;
  createEmpty(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Databases for tests, on the server of `DATABASE_URL` (whose user may create databases), else on an embedded one. On
 * a server that is not ours they are dropped at the end.
 */
export async function databases(dataDir: string): Promise<Databases> {
  const embedded = process.env.DATABASE_URL ? undefined : await startPostgres({ dataDir, durable: false });
  const adminUrl = embedded?.url ?? process.env.DATABASE_URL!;
  const admin = new pg.Client({ connectionString: adminUrl });
  admin.on('error', () => {}); // a test may take the server away; the next statement says so
  await admin.connect();
  const run = `barista_test_${randomBytes(4).toString('hex')}`;
  const names: string[] = [];

  /** One connection does one thing at a time. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (sql: string): Promise<unknown> => (last = last.catch(() => {}).then(() => admin.query(sql)));

  async function createFrom(template: string): Promise<string> {
    const name = `${run}_${names.length}`;
    names.push(name);
    await inTurn(`create database ${name} template ${template}`);
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return url.href;
  }

  let migrated: Promise<string> | undefined;
  return {
    createEmpty: () => createFrom('template0'),
    async create() {
      migrated ??= createFrom('template0').then(async (url) => {
        await migrate(url);
        return new URL(url).pathname.slice(1);
      });
      return createFrom(await migrated);
    },
    async stop() {
      if (!embedded) {
        for (const name of names) await inTurn(`drop database if exists ${name} with (force)`);
      }
      await admin.end();
      await embedded?.stop();
    },
  };
}

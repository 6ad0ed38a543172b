import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaContainer, SchemaEngine } from '@prisma/schema-engine-wasm';

/** Where the schema and its migrations are; the defaults are the project's own. */
export interface PrismaPaths {
  schemaFile: string;
  migrationsDir: string;
}

const here = dirname(fileURLToPath(import.meta.url));
export const projectPaths: PrismaPaths = { schemaFile: join(here, 'schema.prisma'), migrationsDir: join(here, 'migrations') };

export const allTables = { externalTables: [], externalEnums: [] };

/** Node's types declare the interfaces of WebAssembly and not its functions. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { instantiate(code: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, () => void> } }> };
};

type EngineModule = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');
let loaded: Promise<EngineModule> | undefined;

/** Prisma's schema engine as WebAssembly. Its own entry imports the .wasm file as a module, which Node 20 cannot. */
function loadEngine(): Promise<EngineModule> {
  loaded ??= (async () => {
    const dir = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
    const engine = await import('@prisma/schema-engine-wasm/schema_engine_bg');
    const { instance } = await WebAssembly.instantiate(readFileSync(join(dir, 'schema_engine_bg.wasm')), {
      './schema_engine_bg.js': engine,
    });
    // Where the engine puts why it panicked; without it a panic is an error about this missing object.
    Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => console.error(message) } });
    engine.__wbg_set_wasm(instance.exports);
    instance.exports.__wbindgen_start!();
    return engine;
  })();
  return loaded;
}

/** Runs `work` with an engine that speaks to the database at `url`. */
export async function withEngine<T>(url: string, paths: PrismaPaths, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const { SchemaEngine } = await loadEngine();
  // One connection, ours to end: the engine's advisory lock lives with it, and a second one would wait for the first.
  const pool = new EnginePool({ connectionString: url, max: 1 });
  const adapter = bindMigrationAwareSqlAdapterFactory(new EngineAdapterFactory(pool));
  const { files } = readSchema(paths);
  try {
    const engine = await SchemaEngine.new({ datamodels: files.map(({ path, content }) => [path, content]) }, () => {}, adapter);
    return await work(engine);
  } finally {
    await pool.end();
  }
}

const OID_CHAR = 18;
const OID_CHAR_ARRAY = 1002;

/**
 * The engine reads catalog columns of type "char", which the adapter refuses to pass on ("could not be deserialized").
 * So they go through it as arrays of them, which no catalog query of the engine has, and are named rightly after it.
 */
class EnginePool extends pg.Pool {
  override async query(...args: unknown[]): Promise<never> {
    const results = await (super.query as (...args: unknown[]) => Promise<pg.QueryResult | pg.QueryResult[]>)(...args);
    for (const field of [results].flat().flatMap((result) => result.fields)) {
      if (field.dataTypeID === OID_CHAR) field.dataTypeID = OID_CHAR_ARRAY;
    }
    return results as never;
  }
}

class EngineAdapterFactory extends PrismaPg {
  readonly #pool: EnginePool;

  constructor(pool: EnginePool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect() {
    const connection = await super.connect();
    const queryRaw = connection.queryRaw.bind(connection);
    connection.queryRaw = async (query) => {
      const result = await queryRaw(query);
      const columnTypes = result.columnTypes.map((type) => (type === ColumnTypeEnum.CharacterArray ? ColumnTypeEnum.Character : type));
      return { ...result, columnTypes };
    };
    // The adapter cuts a migration at every semicolon, within function bodies and texts too, and a failure leaves the
    // first pieces in the database. Sent whole it is one transaction.
    connection.executeScript = async (script) => void (await this.#pool.query(script));
    return connection;
  }
}

export function readSchema({ schemaFile }: PrismaPaths): { files: SchemaContainer[] } {
  return { files: [{ path: 'schema.prisma', content: readFileSync(schemaFile, 'utf8') }] };
}

/** The migrations on disk, in order, as the engine takes them. */
export function readMigrations({ migrationsDir }: PrismaPaths): MigrationList {
  const lockfile = join(migrationsDir, 'migration_lock.toml');
  const directories = existsSync(migrationsDir)
    ? readdirSync(migrationsDir, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  return {
    baseDir: migrationsDir,
    lockfile: { path: 'migration_lock.toml', content: existsSync(lockfile) ? readFileSync(lockfile, 'utf8') : null },
    shadowDbInitScript: '',
    migrationDirectories: directories
      .map(({ name }) => name)
      .sort()
      .map((name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok', value: readFileSync(join(migrationsDir, name, 'migration.sql'), 'utf8') },
        },
      })),
  };
}

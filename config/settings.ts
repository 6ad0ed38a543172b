import { delimiter, isAbsolute } from 'node:path';
import { z } from 'zod';
import { readForgeSettings, type ForgeSettings } from './forge-settings.js';
import { SettingsError } from './settings-error.js';
import { webAddress } from './web-address.js';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const schema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(7337),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: webAddress.optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  BARISTA_LOCAL_REPOS: z
    .string()
    .default('')
    .transform((value) => value.split(delimiter).filter((folder) => folder !== ''))
    .refine((folders) => folders.every((folder) => isAbsolute(folder))),
  BARISTA_DATA_DIR: z.string().min(1).default('.barista'),
  BARISTA_NOTIFY_URL: webAddress.optional(),
  BARISTA_NOTIFY_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/)
    .optional(),
  LOG_LEVEL: z.enum(LEVELS).default('info'),
});

/** Per setting: what it must be, and one that is right. */
const HELP: Record<keyof z.input<typeof schema>, readonly [string, string]> = {
  PORT: ['must be a whole number from 0 to 65535 (0: any free port)', '7337'],
  HOST: ['must be an address to listen on', '127.0.0.1'],
  PUBLIC_URL: [
    'must be the http or https address, without a user name in it, under which others reach this server',
    'https://barista.example.com',
  ],
  DATABASE_URL: ['must be the address of a PostgreSQL database', 'postgresql://barista:secret@127.0.0.1:5432/barista'],
  BARISTA_LOCAL_REPOS: [`must be absolute folders, separated by "${delimiter}"`, '/home/me/src'],
  BARISTA_DATA_DIR: ['must be a folder', '.barista'],
  BARISTA_NOTIFY_URL: [
    'must be the http or https address, without a user name in it, that alerts are sent to',
    'https://example.com/barista-alerts',
  ],
  BARISTA_NOTIFY_SECRET: ['must be whsec_ and 24 to 64 random bytes in base64', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
  LOG_LEVEL: [`must be one of ${LEVELS.join(', ')}`, 'info'],
};

export interface ServerSettings {
  readonly port: number;
  readonly host: string;
  /** Without a slash at the end; null: the address that is listened on. */
  readonly publicUrl: string | null;
  readonly databaseUrl: string;
  /** Folders under which local repositories may be opened. */
  readonly localRepositories: readonly string[];
  /** Where the Apps that setup made are kept, and clones of what is on a forge stand while they are read. */
  readonly dataDir: string;
  readonly forges: ForgeSettings;
  /** Where alerts are sent (B29); null: nowhere. */
  readonly notify: NotifySettings | null;
  readonly logLevel: (typeof LEVELS)[number];
}

interface NotifySettings {
  readonly url: string;
  /** `whsec_…`; null: the one that the database keeps. */
  readonly secret: string | null;
}

/**
 * The server's settings from the environment; an empty value counts as not set. Temporal's own come from its profile.
 * @throws {SettingsError} one line for each wrong setting. Values are not shown: some hold passwords.
 */
export function readSettings(env: NodeJS.ProcessEnv): ServerSettings {
  const given = Object.fromEntries(Object.keys(HELP).map((name) => [name, env[name]?.trim() || undefined]));
  const result = schema.safeParse(given);
  if (!result.success) {
    const names = [...new Set(result.error.issues.map((issue) => String(issue.path[0])))] as (keyof typeof HELP)[];
    throw new SettingsError(
      names
        .map((name) => `${name} ${given[name] === undefined ? 'is not set; it ' : ''}${HELP[name][0]}, e.g. ${name}=${HELP[name][1]}`)
        .join('\n'),
    );
  }
  const {
    PORT,
    HOST,
    PUBLIC_URL,
    DATABASE_URL,
    BARISTA_LOCAL_REPOS,
    BARISTA_DATA_DIR,
    BARISTA_NOTIFY_URL,
    BARISTA_NOTIFY_SECRET,
    LOG_LEVEL,
  } = result.data;
  return {
    port: PORT,
    host: HOST,
    publicUrl: withoutSlash(PUBLIC_URL),
    databaseUrl: DATABASE_URL,
    localRepositories: BARISTA_LOCAL_REPOS,
    dataDir: BARISTA_DATA_DIR,
    forges: readForgeSettings(env, BARISTA_DATA_DIR),
    notify: BARISTA_NOTIFY_URL === undefined ? null : { url: BARISTA_NOTIFY_URL, secret: BARISTA_NOTIFY_SECRET ?? null },
    logLevel: LOG_LEVEL,
  };
}

/** PUBLIC_URL alone, without a slash at the end; null: not set. @throws {SettingsError} */
export function readPublicUrl(env: NodeJS.ProcessEnv): string | null {
  const read = schema.shape.PUBLIC_URL.safeParse(env.PUBLIC_URL?.trim() || undefined);
  if (!read.success) throw new SettingsError(`PUBLIC_URL ${HELP.PUBLIC_URL[0]}, e.g. PUBLIC_URL=${HELP.PUBLIC_URL[1]}`);
  return withoutSlash(read.data);
}

const withoutSlash = (url: string | undefined): string | null => url?.replace(/\/+$/, '') ?? null;

/** Where what listens on `host` is reached from this machine, without a slash at the end. */
export function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

import { readFileSync } from 'node:fs';

/** The version of this package, as clients and OpenAPI are told it. */
export const VERSION: string = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

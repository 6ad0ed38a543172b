import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isPrivateKey } from './private-key.js';
import { SettingsError } from './settings-error.js';
import { webAddress } from './web-address.js';

/** What an App is for: the operator reads and posts, a reviewer App posts in its place. */
export type AppRole = 'operator' | 'reviewer';

const schema = z.object({
  id: z.int().positive(),
  name: z.string(),
  /** Its page for whoever installs it. */
  html_url: z.string(),
  api_url: webAddress,
  /** PEM. */
  private_key: z.string().refine(isPrivateKey),
  /** null: it sends no deliveries. */
  webhook_secret: z.string().min(1).nullable(),
});

/** A GitHub App as `barista github setup` keeps it. */
export type KeptApp = z.infer<typeof schema>;

export const keptAppsFolder = (dataDir: string): string => join(dataDir, 'github');

/** One file an App, so that it is there whole or not at all. */
export const keptAppFile = (dataDir: string, role: AppRole): string =>
  join(keptAppsFolder(dataDir), role === 'operator' ? 'app.json' : 'reviewer.json');

/** null: none is kept. @throws {SettingsError} where the file cannot be read or is not as it was written */
export function readKeptApp(dataDir: string, role: AppRole): KeptApp | null {
  const file = keptAppFile(dataDir, role);
  const again = 'run barista github setup again';
  const instead = role === 'operator' ? 'GITHUB_APP_ID=123456' : 'REVIEWER_APP_ID=123457';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new SettingsError(`${file} cannot be read by this user: ${again} as the user who runs Barista, or name an App, e.g. ${instead}`);
  }
  const read = schema.safeParse(parsed(text));
  if (read.success) return read.data;
  throw new SettingsError(`${file} is not as barista github setup wrote it: ${again}, or name an App, e.g. ${instead}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

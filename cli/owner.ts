import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Store } from '../prisma/store.js';
import { CommandFailed } from './failure.js';
import { ownerKeyFile } from './where.js';

const KEY = /^bu_[A-Za-z0-9_-]{8,200}$/;

/** BARISTA_OWNER_KEY, where it is set. @throws CommandFailed where it is no key */
export function chosenOwnerKey(env: NodeJS.ProcessEnv): string | null {
  const key = env.BARISTA_OWNER_KEY?.trim();
  if (!key) return null;
  if (KEY.test(key)) return key;
  throw new CommandFailed(
    'BARISTA_OWNER_KEY must be bu_ and 8 to 200 of A-Z, a-z, 0-9, - and _, e.g. BARISTA_OWNER_KEY=bu_a-long-secret-of-mine',
  );
}

/**
 * Makes the first user and its key. The key is in its file before the database knows it, so that a start that is
 * killed in between is made whole by the next one.
 * @returns whether the key is new, and so to be shown
 */
export async function ensureOwner(store: Store, dataDir: string, chosen: string | null): Promise<{ key: string; isNew: boolean }> {
  const file = ownerKeyFile(dataDir);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  const key = chosen ?? kept ?? `bu_${randomBytes(32).toString('base64url')}`;
  if (key !== kept) writeFileSync(file, `${key}\n`, { mode: 0o600 });
  const [first] = await store.accounts.users();
  const owner = first ?? (await store.accounts.addUser('owner'));
  await store.accounts.keepKey({ kind: 'person', id: owner.id }, key);
  return { key, isNew: key !== kept };
}

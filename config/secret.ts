import { readFileSync } from 'node:fs';
import { SettingsError } from './settings-error.js';

/** A secret and where it came from, for messages: they name that and never show the secret. */
export interface Secret {
  /** `GITLAB_TOKEN`, or `GITLAB_TOKEN_FILE (/etc/barista/gitlab-token)`. */
  readonly origin: string;
  readonly text: string;
}

/**
 * A secret given itself (`NAME`) or as the file that holds it (`NAME_FILE`), without the space around it; null: neither
 * is set. `example` is a file that would be right.
 * @throws {SettingsError} where both are set, or the file cannot be read or is empty
 */
export function secretOf(env: NodeJS.ProcessEnv, name: string, example: string): Secret | null {
  const given = env[name]?.trim() || null;
  const setting = `${name}_FILE`;
  const path = env[setting]?.trim() || null;
  if (path === null) return given === null ? null : { origin: name, text: given };
  const right = `e.g. ${setting}=${example}`;
  if (given !== null) throw new SettingsError(`${name} and ${setting} are both set: keep one of them, ${right}`);
  return { origin: `${setting} (${path})`, text: readSecret(path, setting, `: name one with the secret in it, ${right}`) };
}

/**
 * What a file with a secret holds, without the space around it. Messages say that `named` names it, and close with `end`.
 * @throws {SettingsError} where it cannot be read or is empty
 */
export function readSecret(path: string, named: string, end = '.'): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch {
    throw new SettingsError(`${named} names ${path}, which cannot be read${end}`);
  }
  if (text === '') throw new SettingsError(`${named} names ${path}, which is empty${end}`);
  return text;
}

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every file of a repository, its git folder included: path, mode and content. */
export function fingerprint(top: string): string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const info = lstatSync(path);
      const content = info.isFile() ? readFileSync(path) : info.isSymbolicLink() ? readlinkSync(path) : '';
      return `${relative(top, path)} ${info.mode.toString(8)} ${createHash('sha256').update(content).digest('hex')}`;
    });
}

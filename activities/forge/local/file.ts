import { isUtf8 } from 'node:buffer';
import { type FileRead, MAX_FILE_BYTES } from '../port.js';
import { fullSha, type Git } from './git.js';

/** Git's own rule: a NUL among the first bytes. */
const BINARY_PROBE_BYTES = 8000;
export const MAX_LINK_BYTES = 10_000;

/** One path of one commit's tree; links are named, never followed. */
export async function readTreeFile(git: Git, gitDir: string, sha: string, path: string): Promise<FileRead> {
  const { stdout } = await git.run(gitDir, ['ls-tree', '-z', '--full-tree', fullSha(sha), '--', path]);
  const entry = /^(\d+) (\w+) ([0-9a-f]+)\t([^\0]*)\0$/s.exec(stdout.toString('utf8'));
  if (entry === null || entry[4] !== path) return { kind: 'missing' };
  const [, mode, type, object] = entry as unknown as [string, string, string, string];
  if (type === 'tree') return { kind: 'folder' };
  if (type === 'commit') return { kind: 'submodule', sha: object };
  const sized = await git.run(gitDir, ['cat-file', '-s', object]);
  const size = Number(sized.stdout.toString('latin1').trim());
  if (size > MAX_FILE_BYTES) return { kind: 'too_large', sha: object, size };
  const content = (await git.run(gitDir, ['cat-file', 'blob', object])).stdout;
  if (mode === '120000') return { kind: 'symlink', sha: object, target: content.toString('utf8', 0, MAX_LINK_BYTES) };
  return fileOf(object, content);
}

/** What an ordinary file's content, within the limit, is. */
export function fileOf(sha: string, content: Buffer): FileRead {
  const size = content.length;
  if (content.subarray(0, BINARY_PROBE_BYTES).includes(0)) return { kind: 'binary', sha, size };
  const text = content.toString('utf8');
  const newlines = text.split('\n').length - 1;
  const totalLines = text === '' || text.endsWith('\n') ? newlines : newlines + 1;
  return { kind: 'text', sha, size, content: text, totalLines, notUtf8: !isUtf8(content) };
}

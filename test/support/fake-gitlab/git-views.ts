import type { GitWorld } from '../git-world.js';

/** What GitLab tells of commits, made by git itself from the repository: nothing here shares code with what it tests. */

export interface Row {
  diff: string;
  old_path: string;
  new_path: string;
  a_mode: string;
  b_mode: string;
  new_file: boolean;
  renamed_file: boolean;
  deleted_file: boolean;
  generated_file: boolean;
  collapsed: boolean;
  too_large: boolean;
}

export function exists(world: GitWorld, sha: string): boolean {
  try {
    return /^[0-9a-f]{40}$/.test(sha) && world.git('cat-file', '-t', sha) === 'commit';
  } catch {
    return false;
  }
}

export function mergeBase(world: GitWorld, one: string, other: string): string | null {
  try {
    return world.git('merge-base', one, other);
  } catch {
    return null;
  }
}

export function rawDiff(world: GitWorld, base: string, head: string, fullIndex = true): Buffer {
  return world.gitBytes(['diff', ...(fullIndex ? ['--full-index'] : []), base, head, '--']);
}

/** Two commits never change: what was listed once is kept. */
const kept = new Map<string, Row[]>();

export function rows(world: GitWorld, base: string, head: string): Row[] {
  const key = `${world.path} ${base} ${head}`;
  const found = kept.get(key) ?? listRows(world, base, head);
  kept.set(key, found);
  return found;
}

/** One row a file, the patch from its first `@@` on, as GitLab lists them: a changed kind is two rows. */
function listRows(world: GitWorld, base: string, head: string): Row[] {
  const listed = world.gitBytes(['diff', '--raw', '-M', '--no-abbrev', '-z', base, head, '--']).toString('utf8').split('\0');
  const patches = rawDiff(world, base, head)
    .toString('utf8')
    .split(/^(?=diff --git )/m)
    .filter((part) => part !== '');
  const found: Row[] = [];
  for (let at = 0; listed[at]?.startsWith(':');) {
    const [a_mode, b_mode, , , letter] = listed[at++]!.slice(1).split(' ') as [string, string, string, string, string];
    const old_path = listed[at++]!;
    const new_path = /^[RC]/.test(letter) ? listed[at++]! : old_path;
    const changes =
      letter === 'T'
        ? [
            { a: a_mode, b: '0' },
            { a: '0', b: b_mode },
          ]
        : [{ a: a_mode, b: b_mode }];
    for (const { a, b } of changes) {
      const text = patches.shift() ?? '';
      const hunks = text.search(/^(@@ |Binary files )/m);
      found.push({
        diff: hunks < 0 ? '' : text.slice(hunks),
        old_path,
        new_path,
        a_mode: a === '000000' ? '0' : a,
        b_mode: b === '000000' ? '0' : b,
        new_file: letter === 'A' || a === '0',
        renamed_file: letter.startsWith('R'),
        deleted_file: letter === 'D' || b === '0',
        generated_file: false,
        collapsed: false,
        too_large: false,
      });
    }
  }
  return found;
}

export interface TreeEntry extends Record<string, unknown> {
  id: string;
  name: string;
  type: string;
  path: string;
  mode: string;
}

/** null: there is no such folder. */
export function tree(world: GitWorld, sha: string, folder: string): TreeEntry[] | null {
  let listed: string;
  try {
    listed = world.gitBytes(['ls-tree', '-z', '--full-tree', `${sha}:${folder}`]).toString('utf8');
  } catch {
    return null;
  }
  return listed
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [, mode, type, id, name] = /^(\d+) (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) as unknown as [string, string, string, string, string];
      return { id, name, type, path: folder === '' ? name : `${folder}/${name}`, mode };
    });
}

export function blob(world: GitWorld, sha: string, path: string): { id: string; content: Buffer } | null {
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  const entry = tree(world, sha, folder)?.find((one) => one.path === path);
  return entry?.type === 'blob' ? { id: entry.id, content: world.gitBytes(['cat-file', 'blob', entry.id]) } : null;
}

/** Whether the diff has this very line: GitLab finds an unchanged one by both numbers, others by their one. */
export function hasLine(diff: string, oldLine: number | null, newLine: number | null): { oldPos: number; newPos: number } | null {
  let [oldPos, newPos] = [0, 0];
  for (const line of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) [oldPos, newPos] = [Number(hunk[1]), Number(hunk[2])];
    else if (line.startsWith('+')) {
      if (oldLine === null && newLine === newPos) return { oldPos, newPos };
      newPos++;
    } else if (line.startsWith('-')) {
      if (newLine === null && oldLine === oldPos) return { oldPos, newPos };
      oldPos++;
    } else if (line.startsWith(' ')) {
      if (oldLine === oldPos && newLine === newPos) return { oldPos, newPos };
      oldPos++;
      newPos++;
    }
  }
  return null;
}

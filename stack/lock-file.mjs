// Plain JavaScript: stack/setup.mjs takes a lock before anything is installed.
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Takes a lock that is a file naming its holder. One left by a process that is gone (SIGKILL) is taken over.
 * @param {string} file
 * @returns {{ release: () => void } | { holder: number }} the holder's pid when it is taken
 */
export function takeLockFile(file) {
  const mine = JSON.stringify({ pid: process.pid, start: processStart(process.pid), id: randomUUID() });
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(draft, file); // appears whole or not at all
        return { release: () => void (readOrNull(file) === mine && rmSync(file, { force: true })) };
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      const theirs = readOrNull(file);
      if (theirs === null) continue;
      const holder = livingHolder(theirs);
      if (holder !== null) return { holder };
      const faster = takeAway(file, theirs);
      if (faster !== null) return { holder: faster };
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * The process that holds a lock file; null where nobody does, or only one that is gone.
 * @param {string} file
 */
export function lockHolder(file) {
  const text = readOrNull(file);
  return text === null ? null : livingHolder(text);
}

/**
 * Has a lock file name another process, whose end gives it back. Only for files that nobody takes.
 * @param {string} file
 * @param {number} pid
 */
export function nameHolder(file, pid) {
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify({ pid, start: processStart(pid) }), { mode: 0o600 });
  renameSync(draft, file);
}

/** @param {string} text @returns {number | null} */
function livingHolder(text) {
  try {
    const { pid, start } = JSON.parse(text);
    return start !== '' && processStart(pid) === start ? pid : null;
  } catch {
    return null; // no lock of ours: nobody can be holding it
  }
}

/**
 * Removes a stale lock, whose text no other one has. Only who holds a lock on that text may: a process that had read it,
 * and stood still, would take the next holder's lock away.
 * @param {string} file
 * @param {string} stale
 * @returns {number | null} the process that is doing so instead
 */
function takeAway(file, stale) {
  const right = takeLockFile(`${file}.${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`);
  if ('holder' in right) return right.holder;
  try {
    if (readOrNull(file) === stale) rmSync(file, { force: true });
    return null;
  } finally {
    right.release();
  }
}

/**
 * When a process began, as the system counts it, or "" when there is none: a pid alone may since belong to another program.
 * @param {number} pid
 */
function processStart(pid) {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold spaces
      return fields[0] === 'Z' ? '' : (fields[19] ?? '');
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** @param {string} file @returns {string | null} */
function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}

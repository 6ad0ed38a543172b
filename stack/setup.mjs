// Plain JavaScript without dependencies: it runs on a fresh clone, before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { takeLockFile } from './lock-file.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (/** @type {string[]} */ ...path) => join(root, ...path);
const OLDEST_NODE = [20, 19];

/** Whoever starts Barista must put this right; the message is the one line to print. */
class SetupError extends Error {}

/**
 * Installs what is missing, then runs a program in this very process, so that signals and the exit code are its own.
 * @param {string} entry the program's file, from the project's root
 * @param {string[]} args
 * @param {{ dev?: boolean }} [needs] dev: development dependencies too
 */
export async function run(entry, args, { dev = false } = {}) {
  try {
    await ensureReady(dev);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  process.argv = [process.argv[0] ?? 'node', at(entry), ...args];
  await import(pathToFileURL(at('node_modules/tsx/dist/loader.mjs')).href);
  await import(pathToFileURL(at(entry)).href);
}

/** @param {boolean} dev */
async function ensureReady(dev) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldest = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major < oldest || (major === oldest && minor < oldestMinor)) {
    throw new SetupError(
      `Barista needs Node ${OLDEST_NODE.join('.')} or later; this is ${process.versions.node}. Install a newer Node, then try again.`,
    );
  }
  if (isInstalled(dev) && isGenerated()) return;
  const release = await takeSetupLock();
  try {
    if (!isInstalled(dev)) {
      step('Installing packages', process.platform === 'win32' ? 'npm.cmd' : 'npm', [
        'ci',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        ...(dev ? ['--include=dev'] : []),
      ]);
    }
    if (!isGenerated()) {
      // Naming any file as the engine keeps Prisma from downloading one, which generating does not use.
      step('Generating the database client', process.execPath, [at('node_modules/prisma/build/index.js'), 'generate'], {
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      });
      writeFileSync(generatedMark, schemaHash());
    }
  } finally {
    release();
  }
}

/**
 * Whether node_modules is what package-lock.json says. npm writes its own list last, so an interrupted install has none.
 * @param {boolean} dev
 */
function isInstalled(dev) {
  const wanted = packagesOf('package-lock.json');
  const found = installedPackages();
  if (!wanted) throw new SetupError(`There is no package-lock.json in ${root}: clone the repository again.`);
  if (!found) return false;
  return Object.entries(wanted).every(([path, { version, optional, dev: isDev }]) => {
    if (path === '') return true;
    const here = found[path];
    return here ? here.version === version : optional || (isDev && !dev);
  });
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean, dev?: boolean }> | undefined}
 */
function packagesOf(file) {
  const text = readOrNull(at(file));
  return text === null ? undefined : JSON.parse(text).packages;
}

function installedPackages() {
  try {
    return packagesOf('node_modules/.package-lock.json');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // npm is just writing it
    throw error;
  }
}

const generatedMark = at('prisma/generated/.made-from');
const isGenerated = () => readOrNull(generatedMark) === schemaHash();

/** What the generated client depends on: the schema and Prisma's version. */
function schemaHash() {
  const prisma = packagesOf('package-lock.json')?.['node_modules/prisma']?.version;
  return createHash('sha256')
    .update(readFileSync(at('prisma/schema.prisma')))
    .update(String(prisma))
    .digest('hex');
}

/** Waits while another process installs: two at once would break each other's node_modules. */
async function takeSetupLock() {
  mkdirSync(at('.barista'), { recursive: true });
  for (let told = false; ; told = true) {
    const lock = takeLockFile(at('.barista', 'setup.lock'));
    if ('release' in lock) return lock.release;
    if (!told) console.error(`Waiting for process ${lock.holder}, which is installing …`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Runs one step of the set-up; what it prints is shown only when it fails.
 * @param {string} title
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function step(title, command, args, env = {}) {
  console.error(`${title} …`); // stdout belongs to the program that follows
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (signal) process.kill(process.pid, signal);
  if (status === 0) return;
  if (stdout || stderr) console.error((stdout + stderr).trim());
  throw new SetupError(`${title} failed${error ? ` (${error.message})` : ''}: put right what is said above, then try again.`);
}

/** @param {string} file */
function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));
const workflows = join(root, 'workflows');
const cacheDir = join(root, 'node_modules', '.cache', 'barista');

/**
 * The workflows' code in one file, kept between starts: making it takes seconds, and its sources change with a release
 * only. Where it cannot be kept (a folder that may not be written) it is made each time.
 */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const codePath = join(cacheDir, `workflows-${sourceHash()}.cjs`);
  if (existsSync(codePath)) return { codePath };
  const made = await bundleWorkflowCode({ workflowsPath: join(workflows, 'index.ts'), logger: silent });
  return keep(made.code, codePath) ? { codePath } : made;
}

/** Of everything that the bundle is made from: the workflows' own files, and the versions of all packages. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(workflows, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...sources, join(root, 'package-lock.json'), join(root, 'tsconfig.json')]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 32);
}

/** More than one: another worker may be about to read the one before. */
const KEPT = 4;

/** Appears whole or not at all, for another worker may start at this moment; old ones go. @returns whether it was kept */
function keep(code: string, codePath: string): boolean {
  const draft = `${codePath}.${randomUUID()}`;
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(draft, code);
    renameSync(draft, codePath);
    for (const old of newestFirst(cacheDir).slice(KEPT)) rmSync(old, { force: true });
    return true;
  } catch {
    return false; // a read-only installation is no fault
  }
}

function newestFirst(dir: string): string[] {
  const files = readdirSync(dir).map((name) => join(dir, name));
  return files
    .map((file) => ({ file, at: statSync(file).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .map(({ file }) => file);
}

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandFailed } from '../failure.js';

/**
 * Has a person edit a text, and hands it on. What was written is only removed once `send` is done with it; else the
 * failure says where it is kept.
 * @throws CommandFailed
 */
export async function edited<T>(env: NodeJS.ProcessEnv, name: string, text: string, send: (text: string) => Promise<T>): Promise<T> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim();
  if (!editor)
    throw new CommandFailed('No editor is set: set VISUAL or EDITOR, e.g. EDITOR=nano, or give the edited draft by --file FILE.');
  const file = join(mkdtempSync(join(tmpdir(), 'barista-draft-')), name);
  writeFileSync(file, text, { mode: 0o600 });
  const remove = () => rmSync(dirname(file), { recursive: true });
  const code = await run(editor, file);
  const written = readFileSync(file, 'utf8');
  try {
    if (code !== 0) throw new CommandFailed(`The editor (${editor}) ended with ${code}, so nothing was sent.`);
    const done = await send(written);
    remove();
    return done;
  } catch (error) {
    if (written !== text)
      throw new CommandFailed(`${error instanceof Error ? error.message : String(error)} Your text is kept in ${file}.`);
    remove();
    throw error;
  }
}

/** An editor may come with options of its own (`code --wait`): the shell takes it apart, as git has it. */
async function run(editor: string, file: string): Promise<number | null> {
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

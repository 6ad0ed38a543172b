import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connectLines } from '../../cli/connect.js';
import { cleanEnv } from '../support/command.js';
import { TESTED } from './tested.js';

const root = resolve(import.meta.dirname, '../..');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
].filter((path) => path.endsWith('.md'));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What a reader would type: the lines of sh blocks, and code in a line that begins with a program we know. */
function commandsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block]) => block!.split('\n').filter(Boolean));
  const inline = [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  return [
    ...blocks,
    ...inline.filter(
      (code) =>
        /^(export |[A-Z_]+=\S+ )?(npm ?|npx ?|node |git notes ?|claude ?|codex ?|gemini ?)\S/.test(code) || code.startsWith('export '),
    ),
  ];
}

const commands = documents.flatMap((path) => commandsOf(textOf(path)).map((command) => [path, command] as const));

test('every command in the documents is one that a test or CI runs', () => {
  expect(commands.length).toBeGreaterThan(20);
  // `npm ci --ignore-scripts` is what the set-up runs, told and not to be typed.
  const told = new Set(['npm ci --ignore-scripts']);
  const untested = commands.filter(([, command]) => !told.has(command) && !TESTED.some((known) => known.command.test(command)));
  expect(untested).toEqual([]);
  for (const { command, by } of TESTED) {
    expect(existsSync(join(root, by)), by).toBe(true);
    expect(
      commands.some(([, shown]) => command.test(shown)),
      `${command} is shown nowhere`,
    ).toBe(true);
  }
});

test('the lines that connect a client are those that npm start prints', () => {
  const readme = textOf('README.md').replace(/ +\|/g, ' |');
  for (const { client, line } of connectLines('http://127.0.0.1:7337/mcp', '/path/to/barista/stack/bin.mjs'))
    expect(readme).toContain(`| ${client} | \`${line}\` |`);
});

test.each(['npm run demo', 'npm start', 'npm run bench', 'npm test'])('%s is a script of this project', (command) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  expect(scripts[command.split(' ').at(-1)!]).toMatch(/^node stack\/bootstrap\.mjs /);
});

test('the cheap commands run as they are shown', () => {
  const run = (...args: string[]) => execFileSync('npm', args, { cwd: root, env: cleanEnv(), encoding: 'utf8' });
  expect(run('run', '--silent', 'demo', '--', '--help')).toContain('--repo <path>');
  expect(run('start', '--silent', '--', '--help')).toContain('Usage: barista up');
  expect(run('exec', '--offline', '--', 'barista', '--help')).toContain('Usage: barista ');
  expect(existsSync(join(root, 'test/room/reviews.test.ts'))).toBe(true);
  expect(existsSync(join(root, 'prisma/new-migration.ts'))).toBe(true);
});

test('links and files that the documents name are there', () => {
  for (const path of documents) {
    const text = textOf(path);
    for (const [, target] of text.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(join(root, dirname(path), target!)), `${path}: ${target}`).toBe(true);
    for (const [, file] of text.matchAll(/`((?:workflows|activities|prisma|mcp-server|worker|stack|cli|test|docs|bench)\/[\w./-]*)`/g))
      expect(existsSync(join(root, file!)), `${path}: ${file}`).toBe(true);
  }
});

test('decisions are numbered without a gap, and each says what, why and at which cost', () => {
  const pages = readdirSync(join(root, 'docs/decisions')).sort();
  expect(pages.map((name) => Number(name.slice(0, 4)))).toEqual(pages.map((_, index) => index + 1));
  for (const name of pages) {
    const text = textOf(join('docs/decisions', name));
    expect(text, name).toMatch(
      new RegExp(
        `^# ${Number(name.slice(0, 4))}\\. .*\\n\\n\\*\\*Decided\\.\\*\\* .*(?:\\n\\n(?:- .*\\n)+|\\n)\\n\\*\\*Why\\.\\*\\* .*\\n\\n\\*\\*What it costs\\.\\*\\* .*\\n$`,
      ),
    );
  }
});

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { start, type Running } from '../support/command.js';
import { GitWorld } from '../support/git-world.js';
import { temporalCliPath } from '../support/services.js';
import { fingerprint } from './fingerprint.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'barista-demo-'));
  chmodSync(dir, 0o711); // as root, PostgreSQL runs as another user, who passes through
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A branch whose diff has lines to remark on in two files. */
function someRepository(): GitWorld {
  const git = new GitWorld();
  git.push(
    {
      'src/price.ts': 'export function price(net: number): number {\n  console.log(net); // TODO take it out\n  return net * 1.19;\n}\n',
      'src/order.ts':
        'import { price } from "./price";\nexport const total = (nets: number[]) => nets.map(price).reduce((a, b) => a + b, 0);\n',
    },
    'Work out prices',
  );
  return git;
}

const lines = (out: string) =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function demo(git: GitWorld, ...args: string[]): Promise<Running> {
  return start(['demo', '--json', ...args], { BARISTA_DATA_DIR: dir, TEMPORAL_CLI_PATH: await temporalCliPath() }, git.path);
}

test('a whole review on a clone: two rounds, a head that moves, answers, a draft, a post; the repository shown is untouched', async () => {
  using git = someRepository();
  const before = fingerprint(git.path);
  const running = await demo(git);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what was really printed is what is tested
  const end: any = await running.saw((out) => lines(out).find(({ kind }) => kind === 'end'));
  const notes = lines(running.out()).filter(({ kind }) => kind === 'note');
  const texts = notes.map(({ text }) => text).join('\n');

  // The story, in the room's own words.
  expect(notes.some(({ text }) => text.startsWith('barista: round 1 opened'))).toBe(true);
  expect(texts).toContain('barista: head moved to');
  expect(texts).toContain('barista: round 2 opened');
  expect(texts).toMatch(/@critic marked finding f1 fixed at/);
  expect(texts).toMatch(/barista: @chair: draft the review of round \d with draft_review/);
  expect(texts).toMatch(/the review of round \d is posted/);
  expect(texts).not.toMatch(/assembled/);

  // The room's final state, by REST with the owner's key.
  const key = readFileSync(join(end.data_dir, 'owner.key'), 'utf8').trim();
  const get = async (path: string) =>
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    (await (await fetch(`${end.url}/api/v1/rooms/${end.room}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()) as any;
  const room = await get('');
  expect(room).toMatchObject({ phase: 'posted', recipe: 'build_duel', chips: [], waiting_on: [] });
  expect(room.round).toBeGreaterThanOrEqual(2);
  const roles = Object.fromEntries(room.members.map(({ name, roles: held }: { name: string; roles: string[] }) => [name, held]));
  expect(roles).toEqual({ owner: [], builder: ['author'], critic: ['reviewer'], chair: ['lead'], scout: ['reviewer'] });
  const rounds = await Promise.all([1, 2].map((n) => get(`/review/rounds/${n}`)));
  const first = rounds[0].reviews.flatMap(({ findings }: { findings: object[] }) => findings);
  const kinds = (id: string) =>
    rounds[1].carried.find((finding: { id: string }) => finding.id === id).answers.map(({ kind }: { kind: string }) => kind);
  expect(first.map(({ id }: { id: string }) => id)).toEqual(['f1', 'f2', 'f3', 'f4']);
  expect(kinds('f1')).toEqual(['reject', 'upheld', 'accept', 'fixed']);
  expect(kinds('f2')).toEqual(['reject']);
  expect(kinds('f3').slice(0, 1)).toEqual(['accept']);
  const draft = await get('/review/draft');
  expect(draft).toMatchObject({ status: 'posted', drafted_by_name: 'chair', assembled: false });
  expect(draft.standing.map(({ finding_id: id, standing }: { finding_id: string; standing: string }) => [id, standing])).toContainEqual([
    'f2',
    'rejected',
  ]);

  // Every remark is about a line that the pull request really adds.
  const added = git
    .git('diff', 'main...topic')
    .split('\n')
    .filter((line) => line.startsWith('+'))
    .map((line) => line.slice(1).trim());
  for (const { line, body } of first) {
    if (line !== undefined) expect(added).toContain(/^`(.*?)` — /.exec(body)![1]);
  }

  // What was posted is a git note, in the clone alone.
  const note = execFileSync('git', ['-c', 'safe.directory=*', '-C', end.repository, 'notes', '--ref=barista', 'show', end.commit], {
    encoding: 'utf8',
  });
  expect(note).toBe(end.note);
  expect(note).toContain('Verdict: comment');
  const page = await fetch(end.temporal_ui);
  expect(page.status).toBe(200);

  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 0, err: '' });
  await expect(fetch(`${end.url}/healthz`)).rejects.toThrow();
  expect(fingerprint(git.path)).toEqual(before);
});

test('with --exit it ends by itself, also on a pull request of one line and beside a demo before it', async () => {
  using git = new GitWorld();
  git.push({ 'note.md': 'One line, and that is all.\n' });
  const running = await demo(git, '--exit');
  const { code, err } = await running.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(lines(running.out()).at(-1)).toMatchObject({ kind: 'end', stays: false });
});

test('what no line can be taken out of is answered in the commit, and a file that is as in the base again counts as fixed', async () => {
  using git = new GitWorld();
  git.pushBase({ 'c.md': 'As it was\n' });
  git.mergeBaseIn();
  git
    .symlink('a-link', 'README.md')
    .push({ 'b.bin': Buffer.from('caf\u00e9 in Latin-1\n', 'latin1'), 'c.md': 'As it was\nand no longer is\n' });
  const running = await demo(git, '--exit');
  const { code, err } = await running.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const end = lines(running.out()).at(-1);
  const messages = git.git('--git-dir', end.repository, 'log', '--format=%B', 'main..topic');
  expect(messages).toContain('Say what a-link is changed for');
  expect(messages).toContain('Take out what f3 is about');
});

import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { barista, firstJson } from '../support/command.js';
import type { Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let dir: string;
let ana: Person;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startWorld();
  dir = mkdtempSync(join(tmpdir(), 'barista-edit-'));
  ana = await world.agent('ana');
  env = { BARISTA_URL: world.server.url, BARISTA_KEY: world.owner.key, TMPDIR: dir, VISUAL: '', EDITOR: '' };
});
afterAll(async () => {
  await world.stop();
  rmSync(dir, { recursive: true });
});

const finding = { path: 'src/a.ts', line: 1, severity: 'major', body: 'One is not enough.' };

async function save(room: string, body: string): Promise<void> {
  await world.ok(ana, 'draft_review', { room, verdict: 'comment', body, findings: [{ ...finding, finding_ids: ['f1'] }] });
}

/** A closed round of one review, drafted. */
async function drafted(): Promise<string> {
  const room = await world.room({ agents: [ana] });
  await world.ok(ana, 'open_review_round', { room });
  await world.ok(ana, 'submit_review', { room, verdict: 'comment', summary: 'One thing.', findings: [finding] });
  await world.ok(ana, 'close_review_round', { room });
  await save(room, 'Please look.');
  return room;
}

/** An editor of a test's own: a program in Node that is handed `text` and says what is written back. */
function editor(changes: string, name = 'editor'): Record<string, string> {
  const file = join(dir, `${name}.mjs`);
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
const file = process.argv.at(-1);
const text = readFileSync(file, 'utf8');
writeFileSync(file, await (async () => { ${changes} })());`,
  );
  return { ...env, EDITOR: `"${process.execPath}" "${file}" --wait` };
}

const kept = (err: string): string => /Your text is kept in (\S+)\.\n$/.exec(err)?.[1] ?? '';

test('D3, D4, D5: an owner reads the draft, edits it and posts it, from the command line alone', async () => {
  const room = await drafted();
  const { out: shown } = await barista(['draft', 'show', room], env);
  expect(shown).toMatch(new RegExp(`^${room}: draft of round 1 at [0-9a-f]{7}, version 1, by ana\\n`));
  expect(shown).toContain('\nVerdict: comment\n\nPlease look.\n\nsrc/a.ts:1  major  (f1)\n  One is not enough.\n');
  expect(shown).toMatch(/\nStanding:\n {2}f1 {2}.* {2}src\/a\.ts:1 {2}major, by ana: One is not enough\.\n/);
  expect(shown).toMatch(/\nCoverage:\n {2}@ana did not read /);

  const saved = await barista(
    ['draft', 'edit', room],
    editor(`return text.replace('verdict: comment', 'verdict: request_changes').replace('Please look.', 'Please do look.');`),
  );
  expect(saved).toEqual({ code: 0, out: `Saved as version 2. barista draft post ${room} posts it.\n`, err: '' });
  const draft = firstJson((await barista(['draft', 'show', room, '--json'], env)).out);
  expect(draft).toMatchObject({
    verdict: 'request_changes',
    body: 'Please do look.',
    edited: true,
    findings: [{ ...finding, raised_by: [ana.id], finding_ids: ['f1'] }],
  });

  const posted = await barista(['draft', 'post', room], env);
  expect(posted).toMatchObject({ code: 0, err: '' });
  expect(posted.out).toMatch(/^Posted the review of round 1/);
  const note = `git -C ${world.git.path} notes --ref=barista show ${world.git.head('topic')}`;
  expect(posted.out).toContain(`\nit is a git note: ${note}\n`);
  expect((await barista(['draft', 'show', room], env)).out).toContain(`\n  it is a git note: ${note}\n`);
  expect(world.git.git('notes', '--ref=barista', 'show', 'topic')).toContain('Please do look.');
  expect((await barista(['draft', 'show', room], env)).out).toMatch(/version 2, by ana, edited by you\n {2}posted at /);
  for (const args of [
    ['draft', 'edit', room],
    ['draft', 'post', room],
  ]) {
    expect(await barista(args, editor('return text;'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^The review of round 1 is posted.*\n$/),
    });
  }
});

test('D4: what was not changed is not sent, by the editor or by a file, and leaves no file behind', async () => {
  const room = await drafted();
  const unchanged = { code: 0, out: 'Nothing was changed, so nothing was sent.\n', err: '' };
  expect(await barista(['draft', 'edit', room], editor(`writeFileSync(${JSON.stringify(join(dir, 'seen'))}, file); return text;`))).toEqual(
    unchanged,
  );
  expect(existsSync(readFileSync(join(dir, 'seen'), 'utf8'))).toBe(false);
  const file = join(dir, 'draft.json');
  writeFileSync(file, (await barista(['draft', 'show', room, '--json'], env)).out);
  expect(await barista(['draft', 'edit', room, '--file', file], env)).toEqual(unchanged);
  expect(firstJson((await barista(['draft', 'edit', room, '--file', file, '--json'], env)).out)).toMatchObject({ version: 1, sent: false });
});

test('D4: a script edits the JSON that draft show printed, and hands it back', async () => {
  const room = await drafted();
  const file = join(dir, 'script.json');
  const draft = firstJson((await barista(['draft', 'show', room, '--json'], env)).out);
  writeFileSync(file, JSON.stringify({ ...draft, findings: [] }, null, 2));
  const { code, out } = await barista(['draft', 'edit', room, '--file', 'script.json', '--json'], env, dir);
  expect(code).toBe(0);
  expect(firstJson(out)).toMatchObject({ version: 2, findings: [], edited: true, sent: true });
  // The version that it names is old now.
  writeFileSync(file, JSON.stringify({ ...draft, body: 'Again.' }));
  expect(await barista(['draft', 'edit', room, '--file', file], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('The draft has changed: it is version 2, not 1.'),
  });
  writeFileSync(file, '{ no');
  expect((await barista(['draft', 'edit', room, '--file', file], env)).err).toMatch(/^The draft begins like JSON and is none: .*\n$/);
  expect((await barista(['draft', 'edit', room, '--file', join(dir, 'none')], env)).err).toMatch(/none cannot be read \(ENOENT\)\.\n$/);
});

test('D4: an edit that the server refuses is kept where the refusal says, and can be sent from there', async () => {
  const room = await drafted();
  const path = `/rooms/${room}/review/draft`;
  // While the editor is open, another tab saves an edit.
  const meanwhile = `await fetch(${JSON.stringify(`${world.server.url}/api/v1${path}`)}, {
    method: 'PUT',
    headers: { authorization: 'Bearer ${world.owner.key}', 'content-type': 'application/json' },
    body: JSON.stringify({ verdict: 'comment', body: 'Of the other tab.', findings: [], version: 1 }),
  });`;
  const conflict = await barista(['draft', 'edit', room], editor(`${meanwhile} return text.replace('Please look.', 'Of mine.');`));
  expect(conflict).toMatchObject({ code: 1, out: '', err: expect.stringContaining('The draft has changed: it is version 2, not 1.') });
  expect(readFileSync(kept(conflict.err), 'utf8')).toContain('Of mine.');
  expect((await world.rest(world.owner, 'GET', path)).json.body).toBe('Of the other tab.');

  const invalid = await barista(['draft', 'edit', room], editor(`return text + '\\n%% finding new: minor ../a.ts\\nNo.\\n';`));
  expect(invalid).toMatchObject({ code: 1, err: expect.stringContaining('findings[0].path: must be a path inside the repository') });
  const file = kept(invalid.err);
  writeFileSync(file, readFileSync(file, 'utf8').replace('../a.ts', 'src/a.ts'));
  expect((await barista(['draft', 'edit', room, '--file', file], env)).out).toContain('Saved as version 3.');
  expect((await world.rest(world.owner, 'GET', path)).json.findings).toMatchObject([{ path: 'src/a.ts', severity: 'minor', body: 'No.' }]);

  const failed = await barista(['draft', 'edit', room], editor(`process.exitCode = 3; return text + 'more';`));
  expect(failed).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^The editor .* ended with 3, so nothing was sent\. Your text is kept in /),
  });
  expect((await barista(['draft', 'edit', room], env)).err).toBe(
    'No editor is set: set VISUAL or EDITOR, e.g. EDITOR=nano, or give the edited draft by --file FILE.\n',
  );
});

test('D5: a posting that fails says why; --no-wait leaves it to itself; two at once are one', async () => {
  const room = await drafted();
  renameSync(world.git.path, `${world.git.path}-away`);
  const failed = await barista(['draft', 'post', room], env);
  renameSync(`${world.git.path}-away`, world.git.path);
  expect(failed).toMatchObject({ code: 1, out: '' });
  expect(failed.err).toMatch(new RegExp(`^The review of round 1 was not posted: .* Post it again with barista draft post ${room}\\.\n$`));
  expect((await barista(['draft', 'show', room], env)).out).toContain('! the last posting failed: ');
  const begun = firstJson((await barista(['draft', 'post', room, '--no-wait', '--json'], env)).out);
  expect(['posting', 'posted']).toContain(begun.status);
  await expect.poll(async () => (await world.rest(world.owner, 'GET', `/rooms/${room}/review/draft`)).json.status).toBe('posted');

  const other = await drafted();
  const both = await Promise.all([1, 2].map(() => barista(['draft', 'post', other, '--json'], env)));
  for (const { code, out, err } of both) {
    if (code === 0) expect(firstJson(out)).toMatchObject({ status: 'posted', round: 1 });
    else expect(err).toMatch(/^The review of round 1 is posted/);
  }
  expect(both.some(({ code }) => code === 0)).toBe(true);
});

test('D5: a posting that ends between its refusal and the look at it is told as it ended', async () => {
  const draft = { round: 1, version: 1, url: 'git-note', unplaced: [] };
  const posted = { ...draft, status: 'posted', failure: null };
  const failed = { ...draft, status: 'draft', failure: 'The forge refused it.' };
  let end: object;
  const server = createServer((request, response) => {
    const refused = { code: 'conflict', detail: 'The draft of round 1 is being posted.' };
    response.writeHead(request.method === 'POST' ? 409 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.method === 'POST' ? refused : end));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const posting = { ...env, BARISTA_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  try {
    for (const options of [[], ['--no-wait']]) {
      const post = () => barista(['draft', 'post', 'elsewhere', ...options], posting);
      end = posted;
      expect(await post()).toMatchObject({ code: 0, out: expect.stringMatching(/^Posted the review/) });
      end = failed;
      expect(await post()).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^The review of round 1 was not posted: The forge refused it\./),
      });
    }
  } finally {
    server.close();
  }
});

test('a room without a draft says so, and so does one that is not there', async () => {
  const room = await world.room();
  for (const command of ['show', 'edit', 'post']) {
    expect(await barista(['draft', command, room], env)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^There is no draft yet\..*\n$/),
    });
    expect((await barista(['draft', command, 'nowhere'], env)).err).toBe('There is no room nowhere. barista room list names yours.\n');
  }
});

test('B23, R12: room final-draft is refused while it is not offered; room archive ends the room', async () => {
  const room = await world.room();
  expect((await barista(['room', 'final-draft', room], env)).err).toMatch(/^The final draft is not on offer now\. .*\n$/);
  expect(await barista(['room', 'archive', room], env)).toEqual({ code: 0, out: `${room} has ended.\n`, err: '' });
  expect(firstJson((await barista(['room', 'archive', room, '--json'], env)).out)).toEqual({ slug: room, state: 'ended' });
  expect((await world.rest(world.owner, 'GET', `/rooms/${room}`)).json.state).toBe('ended');
});
